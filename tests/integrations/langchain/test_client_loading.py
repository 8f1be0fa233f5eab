"""OpenAI's package is imported for an application whose code imports it, and not for any other one."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.waits

READING = """
import sys
from langchain_rag_rule_explainer.clients import ClientLoader

class Application:
    pass

def asks():
    import openai
    return openai

application, loader = Application(), ClientLoader()
is_known = lambda: loader.load(application) or "openai" in sys.modules
"""
LATE = (
    READING
    + """
known = [is_known() for _ in range({readings})]
application.ask = asks
known.append(is_known())
import {module}
known.append(is_known())
print(*known)
"""
)


def run(code: str) -> list[str]:
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_it_is_imported_for_code_that_imports_it() -> None:
    assert run(f"{READING}\nprint(is_known())\napplication.ask = asks\nprint(is_known())") == [
        "False",
        "True",
    ]


def test_what_the_first_run_builds_is_read() -> None:
    assert run(LATE.format(readings=3, module="sys")) == ["False"] * 3 + ["True"] * 2


def test_an_application_is_read_again_only_after_an_import() -> None:
    assert run(LATE.format(readings=9, module="sys")) == ["False"] * 11
    assert run(LATE.format(readings=9, module="wave")) == ["False"] * 10 + ["True"]
