"""Functions that an application takes out of its tools in unusual ways. No replay runs them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool, Tool
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Verdict, contains
from tests.integrations.langchain.models import Telling

pytestmark = pytest.mark.filterwarnings("ignore")
TURNS = [("user", "Who has it?"), ("assistant", "Ann of Bonn."), ("user", "What is new?")]


def copy_of(tool: Any) -> Any:
    return StructuredTool.model_construct(**dict(tool))


WAYS: dict[str, Callable[[Any], Any]] = {
    "by the class": lambda tool: type(tool)._run(tool, "x", config={}),
    "by the class, awaited": lambda tool: asyncio.run(type(tool)._arun(tool, "x", config={})),
    "vars": lambda tool: vars(tool)["func"]("x"),
    "__dict__": lambda tool: tool.__dict__["func"]("x"),
    "model_dump": lambda tool: tool.model_dump()["func"]("x"),
    "dict": lambda tool: dict(tool)["func"]("x"),
    "a copy": lambda tool: copy_of(tool).func("x"),
}


def ran_in(way: Callable[[Any], Any], make: Any, *, always: bool) -> tuple[int, int]:
    """How often the tool ran, and how many replays have no verdict."""
    ran = list[str]()

    def send(what: str) -> str:
        ran.append(what)
        return "sent"

    async def asend(what: str) -> str:
        return send(what)

    tool = make(name="send", description="Sends.", func=send, coroutine=asend)
    model = Telling(says=lambda messages: "Bonn" if "Bonn" in str(messages) else "none")

    def run(messages: Any) -> str:
        if always or "Bonn" not in str(messages):
            way(tool)
        return str(model.invoke(messages).text)

    explainer = RuleExplainer(RunnableLambda(run), contains("Bonn"), source_kinds=["turns"])
    verdicts = [
        each.verdict for probe in explainer.explain(TURNS).probes for each in probe.verdicts.values()
    ]
    return len(ran), verdicts.count(Verdict.UNKNOWN)


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("make", [StructuredTool.from_function, Tool])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_function_taken_out_of_its_tool_runs_in_no_replay(way: Any, make: Any) -> None:
    assert ran_in(way, make, always=True) == (1, 0)
    ran, unknown = ran_in(way, make, always=False)
    assert ran == 0
    assert unknown > 0


def test_what_is_set_there_is_set_on_the_tool() -> None:
    """Beside this, the application gets the attributes as they are."""

    def send() -> str:
        return "sent"

    tool, seen = StructuredTool.from_function(send, description="Sends."), list[Any]()

    def run(messages: Any) -> str:
        shown = vars(tool)
        before = shown["description"]
        shown["description"] = "Sends it."
        shown.update(verbose=True)
        shown["tags"] = ["a"]
        seen.append((before, tool.description, tool.verbose, tool.tags, tool.model_dump()["name"]))
        del shown["tags"]
        shown.update(description="Sends.", verbose=False, tags=None)
        return str(Telling(says=lambda _: "none").invoke(messages).text)

    RuleExplainer(RunnableLambda(run), contains("Bonn"), source_kinds=["turns"]).explain(TURNS)
    assert set(map(str, seen)) == {str(("Sends.", "Sends it.", True, ["a"], "send"))}
    assert vars(tool)["func"] is send
