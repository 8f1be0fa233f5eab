"""``--app`` finds the integration that explains an application, by what is registered alone."""

import json
import os
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.cli.runs import (
    QUESTION,
    RagRules,
    assert_refused,
    explanation_of,
    finished,
    folder,
    rules_of,
    subprocess_of,
)
from tests.support.messages import Body
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.waits

RULES = ["whenever plaque is retained, the answer contains '1889'"]
PLAIN = """
import os
from openai import OpenAI
from plain_rag_rule_explainer import gate

FOUND = {"plaque": "The iron tower was built in 1889.", "menu": "Soup is served at noon, every day."}

@gate
def search(query):
    return [{"id": name, "text": text} for name, text in FOUND.items()]

def ask(question):
    texts = "\\n".join(each["text"] for each in search(question))
    with OpenAI(base_url=os.environ["TOWER_URL"], api_key="none", max_retries=0) as client:
        said = client.chat.completions.create(model="m", messages=[{"role": "user", "content": texts}])
    return said.choices[0].message.content

def make():
    return ask

async def ask_async(question):
    return ask(question)
"""
BOTH = """
import langchain_core.documents as documents
from llama_index.core import schema
from tower_plain import ask as _ask

def ask(question):
    return _ask(question)
"""


def says(body: Body) -> str:
    return "It was in 1889." if "1889" in str(body["messages"]) else "Nobody knows when."


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_loop: None) -> Iterator[Path]:
    """A folder with applications in it, as the current one, and a model that they ask."""
    folder(tmp_path, {"tower_plain.py": PLAIN, "tower_both.py": BOTH})
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    with OpenAIServer(says) as server:
        monkeypatch.setenv("TOWER_URL", server.base_url)
        yield tmp_path
    sys.path[:] = before
    for name in ("tower_plain", "tower_both"):
        sys.modules.pop(name, None)


def asked(app: str, *more: object, form: tuple[str, ...] = ("--json",)) -> list[object]:
    condition = ("--predicate", "contains:1889")
    return [
        *("explain", "--app", app, "--question", QUESTION, "--rules", "retention"),
        *(*condition, *form, *more),
    ]


@pytest.mark.parametrize(
    ("app", "more"),
    [
        ("tower_plain:ask", []),
        ("tower_plain:make", []),
        pytest.param("tower_plain:ask_async", ["--framework", "plain"], marks=pytest.mark.slow),
        pytest.param("tower_both:ask", ["--framework", "plain"], marks=pytest.mark.slow),
    ],
)
def test_a_function_of_no_framework_is_explained_as_it_is(
    rag_rules: RagRules, app: str, more: list[str]
) -> None:
    explanation = explanation_of(rag_rules(*asked(app, *more)))
    assert rules_of(explanation) == RULES
    assert (explanation.scope, [each.proved for each in explanation.rules]) == ("seen", [True])
    assert "openai" in explanation.versions


def test_documents_are_brought_to_it_and_it_is_estimated(rag_rules: RagRules, here: Path) -> None:
    logged = {"id": "mine", "text": "The iron tower was built in 1889."}
    (here / "mine.jsonl").write_text(json.dumps(logged))
    brought = explanation_of(rag_rules(*asked("tower_plain:ask", "--documents", "mine.jsonl")))
    assert rules_of(brought) == ["whenever mine is retained, the answer contains '1889'"]
    estimated = rag_rules("estimate", "--app", "tower_plain:ask", "--question", QUESTION, "--json")
    assert json.loads(estimated.out)["sources"] == 2


def test_what_no_integration_is_named_for_is_told(rag_rules: RagRules) -> None:
    assert_refused(
        rag_rules(*asked("tower_plain:ask", "--framework", "plane")),
        "--framework 'plane' is no integration that is installed; did you mean 'plain'?",
    )
    assert_refused(rag_rules(*asked("tower_plain:FOUND")), "this is a dict")


def test_a_module_of_several_frameworks_has_to_say_which(rag_rules: RagRules) -> None:
    said = "of a module that uses langchain and llama-index, so nothing says which of them explains it"
    assert_refused(rag_rules(*asked("tower_both:ask")), said)


def test_what_is_registered_is_there() -> None:
    """Where this fails, the package is to be installed again: its entry points are read from there."""
    names = {each.name: each.load() for each in entry_points(group="rag_rule_explainer.integrations")}
    assert {"langchain", "llama-index", "plain"} <= set(names)
    assert all(hasattr(each, "RuleExplainer") for each in names.values())
    judges = entry_points(group="rag_rule_explainer.judges")
    assert all(callable(each.load()) for each in judges)


FOURTH = """
from rag_rule_explainer import Explainer, Settings
from rag_rule_explainer.instrumentation.call import Call
from rag_rule_explainer.instrumentation.copies.patching import Interception, Patches
from rag_rule_explainer.instrumentation.function_application import FunctionApplication
from rag_rule_explainer.instrumentation.options import Manner
from rag_rule_explainer.instrumentation.requests.client_watch import (
    ModelReply,
    ModelRequest,
    current_watch,
)
from rag_rule_explainer.instrumentation.rule_explainer import ApplicationExplainer
from rag_rule_explainer.instrumentation.engine import Said
from rag_rule_explainer.instrumentation.runs import ApplicationRun
from rag_rule_explainer.instrumentation.searches.of_functions import FunctionShape
from rag_rule_explainer.instrumentation.searches.gates import gated_function
from rag_rule_explainer.instrumentation.searches.intercepted_call import asked_part
from .reading import answer_in, question_in
import functools, re

def _looking_up(_, look_up):
    return gated_function(look_up, FunctionShape(), asked_part)

def _telling(_, tell):
    @functools.wraps(tell)
    def told(self, prompt):
        watch = current_watch()
        if watch is None:
            return tell(self, prompt)
        key = watch.asked(ModelRequest(prompt, prompt))
        with watch.failing():
            text = tell(self, prompt)
        watch.replied(key, ModelReply(Said(text, "stop", reports=True), text, (), "oracle", {}))
        return text
    return told

PATCHES = Patches([
    Interception("towers", "Shelf", re.compile("look_up"), _looking_up),
    Interception("towers", "Oracle", re.compile("tell"), _telling),
])

class Tower(FunctionApplication):
    interception = property(lambda self: PATCHES)

class Nobody:
    sync = None

class RuleExplainer(ApplicationExplainer):
    def __init__(self, tower, predicate=None, *, omission_predicate=None, settings=None, progress=None,
                 scope="seen", on_new_query=None, on_no_retrieval="error", ignore=(), **more):
        manner = Manner(answer_in, (), scope, on_new_query, on_no_retrieval, ignore=ignore, **more)
        explainer = Explainer(predicate=predicate, omission_predicate=omission_predicate,
                              settings=settings, progress=progress)
        super().__init__(tower, question_in, manner, explainer)

    def _call(self, case):
        run = ApplicationRun(Tower(self.application.ask), case, self._manner)
        return Call(run, self._explainer, Nobody())
"""
READING = """
def question_in(given):
    return str(given)

def answer_in(output):
    return output["says"]
"""
TOWERS = """
class Shelf:
    FOUND = {"plaque": "The iron tower was built in 1889.", "menu": "Soup is served at noon, every day."}
    def look_up(self, query):
        return [{"id": name, "text": text} for name, text in self.FOUND.items()]

class Oracle:
    def tell(self, prompt):
        return "It was in 1889." if "1889" in prompt else "Nobody knows when."

class Tower:
    def ask(self, question):
        found = Shelf().look_up(question)
        return {"says": Oracle().tell("; ".join(each["text"] for each in found))}
"""
REGISTERED = """
[rag_rule_explainer.integrations]
towers = towers_rag_rule_explainer

[rag_rule_explainer.frameworks]
towers = towers_rag_rule_explainer
"""


@pytest.mark.slow
def test_a_framework_that_nobody_here_knows_is_explained_once_it_is_installed(here: Path) -> None:
    """The files of its own folder are all that it takes: this project has none that names it."""
    installed = folder(
        here / "installed",
        {
            "towers.py": TOWERS,
            "towers_rag_rule_explainer/__init__.py": FOURTH,
            "towers_rag_rule_explainer/reading.py": READING,
            "towers-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: towers\nVersion: 1.0\n",
            "towers-1.0.dist-info/entry_points.txt": REGISTERED,
        },
    )
    (here / "mine.py").write_text("from towers import Tower\ntower = Tower()\n")
    path = os.pathsep.join(filter(None, (str(installed), os.environ.get("PYTHONPATH"))))
    run = finished(subprocess_of(*asked("mine:tower"), env={"PYTHONPATH": path}))
    explanation = explanation_of(run)
    assert rules_of(explanation) == RULES
    assert (explanation.warnings, explanation.scope) == ((), "seen")
    assert [each.proved for each in explanation.rules] == [True]
