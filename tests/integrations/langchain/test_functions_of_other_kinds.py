"""Tools whose function is no plain function, or is made in the run. No replay runs it, whichever way the
application takes to it."""

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langchain_rag_rule_explainer import RuleExplainer
from plain_rag_rule_explainer import tool as plain_tool

from rag_rule_explainer import Explanation, Verdict, contains
from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.test_tools_of_other_kinds import Payer

pytestmark = pytest.mark.filterwarnings("ignore")
TURNS = [("user", "Who has it?"), ("assistant", "Ann of Bonn."), ("user", "What is new?")]
SCHEMA = {"type": "object", "properties": {"what": {"type": "string"}}}


class Sender:
    """Sends when it is called. ``ran``: what it has sent."""

    def __init__(self, ran: list[str]) -> None:
        self.ran = ran

    def __call__(self, what: str) -> str:
        self.ran.append(what)
        return "sent"

    def send(self, what: str) -> str:
        return Sender.__call__(self, what)


class Heir(Sender):
    pass


def function(ran: list[str]) -> Any:
    def send(what: str) -> str:
        ran.append(what)
        return "sent"

    return send


KINDS: dict[str, tuple[Callable[[list[str]], Any], Callable[[Any], Any]]] = {
    "object": (Sender, lambda given: given("x")),
    "inherited __call__": (Heir, lambda given: given("x")),
    "by the class above": (Heir, lambda given: Sender.__call__(given, "x")),
    "copied object": (Heir, lambda given: copy.copy(given)("x")),
    "copied owner of a method": (
        lambda ran: Sender(ran).send,
        lambda given: copy.copy(given.__self__).send("x"),
    ),
    "partial": (lambda ran: functools.partial(function(ran)), lambda given: given.func("x")),
    "partial of an object": (lambda ran: functools.partial(Heir(ran)), lambda given: given.func("x")),
    "lru_cache": (lambda ran: functools.lru_cache(function(ran)), inspect.unwrap),
    "partial of lru_cache": (
        lambda ran: functools.partial(functools.lru_cache(function(ran))),
        lambda given: inspect.unwrap(given.func),
    ),
}


def made(given: Any) -> StructuredTool:
    return StructuredTool(name="send", description="Sends.", func=given, args_schema=SCHEMA)


class Asking(Payer):
    """Asks for ``send``, and says then what it has read."""

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(messages[-1], ToolMessage):
            return self._saying(AIMessage("Bonn" if "Bonn" in str(messages) else "none"))
        return self._saying(
            AIMessage("", tool_calls=[{"name": "send", "args": {"what": "x"}, "id": "1"}])
        )


def explained(run: Callable[[Any], str], **options: Any) -> Explanation:
    return RuleExplainer(
        RunnableLambda(run), contains("Bonn"), source_kinds=["turns"], **options
    ).explain(TURNS)


def unknown(explanation: Explanation) -> int:
    verdicts = [each.verdict for probe in explanation.probes for each in probe.verdicts.values()]
    return verdicts.count(Verdict.UNKNOWN)


def called(way: Callable[[Any], Any], given: Any) -> Any:
    result = way(given)
    return result("x") if callable(result) else result


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("in_run", [False, True], ids=["before", "in the run"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_function_of_any_kind_runs_in_no_replay(kind: str, in_run: bool) -> None:
    make, way = KINDS[kind]
    ran = list[str]()
    given = make(ran)
    kept = made(given)

    def run(messages: Any, *, always: bool) -> str:
        own = make(ran) if in_run else given
        its = made(own) if in_run else kept
        if always or "Bonn" not in str(messages):
            called(way, own)
        model = Telling(says=lambda told: "Bonn" if "Bonn" in str(told) else "none")
        return str(model.invoke(messages).text) + its.name[:0]

    explained(lambda messages: run(messages, always=True))
    assert ran == ["x"]
    assert unknown(explained(lambda messages: run(messages, always=False))) > 0
    assert ran == ["x"]


OTHERS: dict[str, tuple[Callable[[list[str]], Any], Callable[[list[str], Any], Any]]] = {
    "another object": (lambda ran: Sender(ran).send, lambda ran, _: Heir([]).send("x")),
    "another object that sends": (lambda ran: Sender(ran).send, lambda ran, _: Heir(ran).send("x")),
    "deep copy": (Heir, lambda _, given: copy.deepcopy(given)("x")),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_another_object_does_not_run_what_a_model_has_asked_for(kind: str) -> None:
    make, way = OTHERS[kind]
    ran, acted = list[str](), list[str]()
    given = make(ran)
    its = made(given)

    def run(messages: Any) -> str:
        reply = Asking().invoke(messages)
        has = "Bonn" in str(messages)
        result = its.invoke({"what": "x"}) if has else way(ran, given)
        acted.extend([] if has else ["by another way"])
        return str(Asking().invoke([*messages, reply, ToolMessage(str(result), tool_call_id="1")]).text)

    explanation = explained(run)
    assert (ran, acted) == (["x"], [])
    assert unknown(explanation) > 0


@pytest.mark.parametrize("way", ["function", "unwrap", "method"])
def test_a_marked_function_that_is_made_in_the_run_runs_in_no_replay(way: str) -> None:
    ran = list[str]()

    def run(messages: Any) -> str:
        own = Sender(ran).send if way == "method" else function(ran)
        marked = plain_tool(own)
        if "Bonn" not in str(messages):
            (inspect.unwrap(marked) if way == "unwrap" else own)("x")
        model = Telling(says=lambda told: "Bonn" if "Bonn" in str(told) else "none")
        return str(model.invoke(messages).text) + marked.__name__[:0]

    explanation = explained(run)
    assert not ran
    assert unknown(explanation) > 0


class Listing(BaseRetriever):
    """Finds three documents."""

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return [Document(each, id=each[-1]) for each in ("Ann zz1", "Bob zz2", "Pay zz3")]


def reading_and_acting(ran: list[str]) -> Callable[[Any, bool], str]:
    """Returns a function that runs two tools of one name: the first retrieves, and the second acts if a
    retrieved text has "zz3", or if it has not."""
    retriever = Listing()

    def named(work: Callable[[str], str]) -> Any:
        return StructuredTool.from_function(work, name="look", description="Looks.")

    def act(what: str) -> str:
        ran.append(what)
        return "Paid."

    reads = named(lambda what: "\n".join(each.page_content for each in retriever.invoke(what)))
    acts = named(act)

    def run(way: Any, where: bool) -> str:
        text = str(reads.invoke({"what": "x"}))
        if ("zz3" in text) is not where:
            return Telling(says=lambda _: "none").invoke([("user", text)]).text
        result = {
            "invoke": lambda: acts.invoke({"what": "y"}),
            "func": lambda: acts.func("y"),
            "own": lambda: act("y"),
        }
        return Telling(says=lambda _: "It is paid in Bonn.").invoke([("user", text + result[way]())]).text

    return run


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("anew", [False, True], ids=["before", "in the run"])
@pytest.mark.parametrize("way", ["invoke", "func", "own"])
def test_a_tool_that_acts_does_not_run_because_one_of_its_name_retrieves(way: str, anew: bool) -> None:
    ran = list[str]()
    kept = reading_and_acting(ran)

    def explaining(where: bool) -> Explanation:
        ran.clear()
        application = RunnableLambda(lambda _: (reading_and_acting(ran) if anew else kept)(way, where))
        return RuleExplainer(application, contains("Bonn"), on_new_tool_call="unknown").explain("What?")

    explanation = explaining(True)
    assert ran == ["y"]
    assert [each.sources for each in explanation.rules] == [("3",)] * 2
    explanation = explaining(False)
    assert not ran
    assert unknown(explanation) > 0
