"""OpenAI's package is imported for an application whose code imports it, and not for any other one."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.waits

READING = """
import sys
from langchain_rag_rule_explainer.clients import ClientLoader

def plain():
    return None

def asks():
    import openai
    return openai

functions, loader = [plain], ClientLoader()

def is_known(for_replay=True):
    loader.load(lambda: functions, for_replay=for_replay)
    return "openai" in sys.modules
"""
LATE = (
    READING
    + """
known = [is_known(for_replay=False), *(is_known() for _ in range({replays}))]
functions.append(asks)
known.append(is_known(for_replay={for_replay}))
import {module}
known.append(is_known())
print(*known)
"""
)

EXPLAINED = """
import sys
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer, gate
from rag_rule_explainer import contains

known, built, asks = [], [], "def asks():\\n    import openai"

def build():
    scope = {{}}
    exec(asks, scope)
    built.append(scope["asks"])

{before}

@gate
def search(query):
    return [{{"id": "a", "text": "Amber is fossil tree resin."}}]

def answer(question):
    known.append("openai" in sys.modules)
    if not built:
        build()
    found = "".join(each["text"] for each in search(question))
    return FakeListChatModel(responses=["yes"]).invoke(f"{{found}} {{question}}").text

RuleExplainer(RunnableLambda(answer), predicate=contains("yes")).explain("why?")
print(known[0], all(known[1:]), len(known) > 1)
"""
"""``known`` says of each run whether OpenAI's package was imported when the run began."""


def run(code: str) -> list[str]:
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_it_is_imported_for_code_that_imports_it() -> None:
    late = "print(is_known(False))\nfunctions.append(asks)\nprint(is_known(False))"
    assert run(f"{READING}\n{late}") == ["False", "True"]


def test_what_the_first_run_builds_is_read() -> None:
    late = LATE.format(replays=0, for_replay=True, module="sys")
    assert run(late) == ["False"] + ["True"] * 2


def test_what_was_built_since_is_read_before_another_baseline() -> None:
    late = LATE.format(replays=2, for_replay=False, module="sys")
    assert run(late) == ["False"] * 3 + ["True"] * 2


def test_an_application_is_read_again_only_after_an_import() -> None:
    assert run(LATE.format(replays=9, for_replay=True, module="sys")) == ["False"] * 12
    late = LATE.format(replays=9, for_replay=True, module="wave")
    assert run(late) == ["False"] * 11 + ["True"]


def test_it_is_there_when_the_first_run_begins_whose_code_imports_it() -> None:
    assert run(EXPLAINED.format(before="build()")) == ["True", "True", "True"]
    assert run(EXPLAINED.format(before="")) == ["False", "True", "True"]
