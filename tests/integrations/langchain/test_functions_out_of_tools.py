"""Functions that an application takes out of its tools in unusual ways. No replay runs them."""

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, Tool
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import BaselineFailed, Verdict, contains
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
    "unwrap": lambda tool: inspect.unwrap(tool.func)("x"),
    "unwrap, awaited": lambda tool: asyncio.run(inspect.unwrap(tool.coroutine)("x")),
    "__getstate__": lambda tool: tool.__getstate__()["__dict__"]["func"]("x"),
    "object": lambda tool: object.__getattribute__(tool, "func")("x"),
    "in a thread": lambda tool: in_a_thread(object.__getattribute__(tool, "func")),
}


def in_a_thread(function: Callable[[str], Any]) -> None:
    thread = threading.Thread(target=function, args=("x",))
    thread.start()
    thread.join()


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


RAN = list[str]()


class Sending(BaseTool):
    """A tool of the user's own class."""

    name: str = "send"
    description: str = "Sends."

    @override
    def _run(self, what: str) -> str:
        RAN.append(what)
        return "sent"

    @override
    async def _arun(self, what: str) -> str:
        return Sending._run(self, what)


class SendingTwice(Sending):
    def quick(self, what: str) -> str:
        return super()._run(what)


OWN_CLASS: Any = Sending
SAVED = OWN_CLASS._run
OWN: dict[str, Callable[[Any], Any]] = {
    "by the class": lambda tool: OWN_CLASS._run(tool, "x"),
    "by the class, awaited": lambda tool: asyncio.run(OWN_CLASS._arun(tool, "x")),
    "super": lambda tool: tool.quick("x"),
    "unwrap": lambda tool: inspect.unwrap(OWN_CLASS._run)(tool, "x"),
    "kept before the run": lambda tool: SAVED(tool, "x"),
    "vars of the class": lambda tool: vars(Sending)["_run"](tool, "x"),
}


@pytest.mark.parametrize("way", OWN.values(), ids=OWN)
def test_a_method_of_a_class_of_ones_own_runs_in_no_replay(way: Any) -> None:
    def make(**_: Any) -> BaseTool:
        RAN.clear()
        return SendingTwice()

    ran_in(way, make, always=True)
    assert RAN == ["x"]
    _, unknown = ran_in(way, make, always=False)
    assert not RAN
    assert unknown > 0


class Bank:
    def __init__(self) -> None:
        self.paid = 0

    def pay(self, what: str) -> str:
        """Pays."""
        self.paid += len(what)
        return "paid"


def test_the_same_method_of_another_object_is_no_tool() -> None:
    """It is the application's own, and runs in every replay. So does a function below a tool that runs
    because it is named safe."""
    own, of_a_tool = Bank(), Bank()
    tool = StructuredTool.from_function(of_a_tool.pay)
    model = Telling(says=lambda messages: "Bonn" if "Bonn" in str(messages) else "none")

    def run(messages: Any) -> str:
        for each in (own, of_a_tool):
            each.pay(tool.name[:1])
        return str(model.invoke(messages).text)

    explainer = RuleExplainer(RunnableLambda(run), contains("Bonn"), source_kinds=["turns"])
    explanation = explainer.explain(TURNS)
    assert (own.paid > 1, of_a_tool.paid) == (True, 1)
    assert not any(each.error for each in explanation.probes)


@pytest.mark.waits
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_functions_are_as_before_after_an_explanation(error: type[BaseException]) -> None:
    """In the meantime, a thread of the process that belongs to no run calls them as ever."""
    RAN.clear()
    tool, code, called = SendingTwice(), SAVED.__code__, list[str]()
    asked, answered = threading.Event(), threading.Event()

    def beside() -> None:
        asked.wait(10)
        called.append(tool.quick("beside"))
        answered.set()

    def run(messages: Any) -> str:
        asked.set()
        answered.wait(10)
        assert SAVED.__code__ is not code
        raise error(f"{tool.name} {messages}")

    thread = threading.Thread(target=beside)
    thread.start()
    explainer = RuleExplainer(RunnableLambda(run), contains("Bonn"), source_kinds=["turns"])
    with pytest.raises((error, BaselineFailed)):
        explainer.explain(TURNS)
    thread.join(10)
    assert called == ["sent"]
    assert SAVED.__code__ is code


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
