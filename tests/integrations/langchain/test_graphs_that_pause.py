"""Graphs of which a node's result comes out of a cache, and graphs that stop to ask a human."""

import asyncio
import sys
from inspect import signature
from operator import add
from typing import Annotated, Any, TypedDict
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer, RuleExplanationHandler, explained
from langgraph.cache.base import BaseCache
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.pregel import Pregel
from langgraph.types import CachePolicy, Command, interrupt
from typing_extensions import override

from rag_rule_explainer import BaselineFailed, InvalidInput
from tests.integrations.known import BAD, blames_b_and_d, check_unexplained
from tests.integrations.langchain.models import Telling, sent_in
from tests.integrations.langchain.zoo.shapes import joined, retriever_of
from tests.representing import SELDOM

pytestmark = pytest.mark.filterwarnings("ignore")
CONFIG: Any = {"configurable": {"thread_id": "t"}}
AWAITING = pytest.mark.parametrize("awaiting", SELDOM)
# LangGraph hands its context on to what is awaited from Python 3.11 on; without it, nobody can be asked.
ASKING = pytest.mark.parametrize(
    "awaiting",
    [
        False,
        pytest.param(
            True,
            marks=[
                pytest.mark.slow,
                pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.11"),
            ],
        ),
    ],
)


class Talk(TypedDict, total=False):
    question: str
    context: str
    answer: str


def graph_of(
    asks: str = "",
    model: Telling | None = None,
    policy: CachePolicy[Any] | None = None,
    **compiled: Any,
) -> Any:
    """Retrieves, then answers. ``asks``: before which of both it stops to ask a human."""
    retriever, llm = retriever_of(), model or Telling()

    def retrieve(state: Talk) -> Talk:
        if asks == "retrieve":
            interrupt("may I search?")
        return {"context": joined(retriever.invoke(state.get("question", "")))}

    def answer(state: Talk) -> Talk:
        if asks == "answer":
            interrupt("may I answer?")
        return {"answer": llm.invoke(state.get("context") or "nothing").text}

    graph: Any = StateGraph(Talk)
    graph.add_node("retrieve", retrieve, cache_policy=policy)
    graph.add_node("reply", answer, cache_policy=policy)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "reply")
    graph.add_edge("reply", END)
    return graph.compile(**compiled)


def called(application: Any, name: str, given: Any, awaiting: bool, config: Any = None) -> Any:
    explainer: Any = RuleExplainer(application, predicate=BAD)
    if awaiting:
        return asyncio.run(getattr(explainer, f"a{name}")(given, config))
    return getattr(explainer, name)(given, config)


def entries(cache: InMemoryCache[Any]) -> int:
    return sum(map(len, vars(cache)["_cache"].values()))


@AWAITING
@pytest.mark.parametrize("filled", [False, True])
def test_no_node_of_a_replay_is_answered_out_of_a_cache(filled: bool, awaiting: bool) -> None:
    cache: InMemoryCache[Any] = InMemoryCache()
    graph = graph_of(policy=CachePolicy(), cache=cache)
    if filled:
        graph.invoke({"question": "why?"})
    before = entries(cache)
    assert blames_b_and_d(called(graph, "explain", {"question": "why?"}, awaiting))
    assert entries(cache) == before


@AWAITING
def test_the_users_own_run_fills_the_cache(awaiting: bool) -> None:
    cache: InMemoryCache[Any] = InMemoryCache()
    graph = graph_of(policy=CachePolicy(), cache=cache)
    assert blames_b_and_d(called(graph, "invoke", {"question": "why?"}, awaiting).explanation)
    assert entries(cache) == 2


class Branches(TypedDict, total=False):
    question: str
    found: Annotated[list[str], add]
    answer: str


def side_by_side(cache: InMemoryCache[Any], saver: InMemorySaver) -> Any:
    """Two nodes that search at the same time: each is saved by the thread that it ran in."""
    model, graph = Telling(), StateGraph[Any](Branches)

    def searching(retriever: Any) -> Any:
        def search(state: Branches) -> Branches:
            return {"found": [joined(retriever.invoke(state.get("question", "")))]}

        return search

    for name, found in (("left", "ab"), ("right", "cd")):
        graph.add_node(name, searching(retriever_of(found)), cache_policy=CachePolicy())
        graph.add_edge(START, name)
        graph.add_edge(name, "reply")

    def reply(state: Branches) -> Branches:
        return {"answer": model.invoke("\n".join(state.get("found", [])) or "nothing").text}

    graph.add_node("reply", reply)
    return graph.compile(cache=cache, checkpointer=saver)


@AWAITING
def test_nodes_that_run_side_by_side_write_to_nothing_real(awaiting: bool) -> None:
    cache, saver = InMemoryCache[Any](), InMemorySaver()
    graph = side_by_side(cache, saver)
    assert blames_b_and_d(called(graph, "explain", {"question": "why?"}, awaiting, CONFIG))
    assert (entries(cache), len(saver.writes), list(saver.list(None))) == (0, 0, [])


@AWAITING
def test_what_the_users_own_run_writes_there_is_what_any_run_would(awaiting: bool) -> None:
    made = [(InMemoryCache[Any](), InMemorySaver()) for _ in range(2)]
    graphs = [side_by_side(*each) for each in made]
    assert blames_b_and_d(called(graphs[0], "invoke", {"question": "why?"}, awaiting, CONFIG).explanation)
    graphs[1].invoke({"question": "why?"}, CONFIG)
    # How many writes there are beside a checkpoint depends on which node ends first, in older releases.
    kept = [(entries(cache), bool(saver.writes), len(list(saver.list(None)))) for cache, saver in made]
    assert kept[0] == kept[1]


@AWAITING
def test_a_run_finds_in_a_cache_what_it_has_put_there_and_cleared_nothing_else(awaiting: bool) -> None:
    cache: BaseCache[Any] = InMemoryCache()
    cache.set({(("one",), "before"): ("real", None)})
    keys = [(("one",), "before"), (("one",), "mine"), (("two",), "mine")]
    retriever, model, seen = retriever_of(), Telling(), list[tuple[int, int, int]]()

    def answer(question: str) -> str:
        cache.set({keys[1]: ("it", None), keys[2]: ("it", None)})
        first = len(cache.get(keys))
        cache.clear([("one",)])
        second = len(cache.get(keys))
        cache.clear()
        seen.append((first, second, len(cache.get(keys))))
        return model.invoke(joined(retriever.invoke(question)) or "nothing").text

    assert blames_b_and_d(called(RunnableLambda(answer), "explain", "why?", awaiting))
    assert set(seen) == {(2, 1, 0)}
    assert cache.get(keys) == {keys[0]: "real"}


@ASKING
@pytest.mark.parametrize("saver", [False, True])
@pytest.mark.parametrize(("asks", "said"), [("retrieve", "may I search"), ("answer", "may I answer")])
def test_a_graph_that_asks_a_human_says_so(asks: str, said: str, saver: bool, awaiting: bool) -> None:
    graph = graph_of(asks, checkpointer=InMemorySaver() if saver else None)
    with pytest.raises(BaselineFailed, match=f"(?s)ask a human.*{said}.*Command.resume"):
        called(graph, "explain", {"question": "why?"}, awaiting, CONFIG)


@pytest.mark.skipif("version" not in signature(Pregel.invoke).parameters, reason="a newer LangGraph")
@pytest.mark.parametrize("saver", [None, InMemorySaver()])
def test_a_graph_whose_output_is_an_object_is_read_and_says_what_it_asks(saver: Any) -> None:
    asks = RuleExplainer(graph_of("answer", checkpointer=saver), predicate=BAD)
    with pytest.raises(BaselineFailed, match=r"(?s)ask a human.*may I answer.*Command.resume"):
        asks.explain({"question": "why?"}, CONFIG, version="v2")
    answers = RuleExplainer(graph_of(), predicate=BAD)
    assert blames_b_and_d(answers.explain({"question": "why?"}, CONFIG, version="v2"))


@AWAITING
@pytest.mark.parametrize("before", ["reply"])
def test_a_graph_that_stops_at_a_breakpoint_says_so(before: str, awaiting: bool) -> None:
    graph = graph_of(checkpointer=InMemorySaver(), interrupt_before=[before])
    with pytest.raises(BaselineFailed, match=r"(?s)breakpoint.*reply.*invoke\(None, config"):
        called(graph, "explain", {"question": "why?"}, awaiting, CONFIG)


def agent(**compiled: Any) -> Any:
    retriever = retriever_of()

    @tool
    def search(words: str) -> str:
        """Searches."""
        return joined(retriever.invoke(words)) or "nothing"

    return create_agent(Calling(), [search], **compiled)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("stops", [{"interrupt_before": ["tools"]}, {"interrupt_after": ["tools"]}])
@pytest.mark.parametrize("by_name", [False, True])
def test_an_agent_that_stops_at_a_breakpoint_says_so_before_anything_else(
    stops: dict[str, Any], by_name: bool
) -> None:
    made = agent(checkpointer=InMemorySaver(), **({} if by_name else stops))
    given: Any = {"messages": [("user", "why?")]}
    named: Any = stops if by_name else {}
    bound = made.bind(tags=[]).with_config(CONFIG)
    for application, config in ((made, CONFIG), (bound, None)):
        explainer: Any = RuleExplainer(application, predicate=BAD)
        with pytest.raises(
            BaselineFailed, match=r"(?s)breakpoint \((before|set by interrupt_after).*invoke\(None"
        ):
            explainer.explain(given, config, **named)
    *_, last = explained(made, predicate=BAD).stream(given, {"configurable": {"thread_id": "s"}}, **named)
    check_unexplained(last["rag_rules"], BaselineFailed, "breakpoint")


@pytest.mark.spread(fast=2)
@AWAITING
@pytest.mark.parametrize("asks", ["retrieve", "answer", ""])
def test_a_function_that_answers_the_graph_is_explained(asks: str, awaiting: bool) -> None:
    stops: dict[str, Any] = {} if asks else {"interrupt_before": ["reply"]}
    graph = graph_of(asks, checkpointer=InMemorySaver(), **stops)

    def ask(question: str) -> str:
        graph.invoke({"question": question}, CONFIG)
        return graph.invoke(Command(resume="yes") if asks else None, CONFIG)["answer"]

    assert blames_b_and_d(called(RunnableLambda(ask), "explain", "why?", awaiting))


def test_an_estimate_of_a_graph_that_asks_a_human_says_so() -> None:
    graph = graph_of("retrieve", checkpointer=InMemorySaver())
    with pytest.raises(BaselineFailed, match="ask a human"):
        called(graph, "estimate", {"question": "why?"}, False, CONFIG)


@ASKING
def test_a_replay_that_asks_a_human_is_undecided(awaiting: bool) -> None:
    retriever, model = retriever_of(), Telling()

    def answer(state: Talk) -> Talk:
        context = joined(retriever.invoke(state.get("question", "")))
        told = model.invoke(context or "nothing")
        if "a" not in sent_in([told]) and "Amber" not in context:
            interrupt("may I answer without amber?")
        return {"answer": told.text}

    graph: Any = StateGraph(Talk)
    graph.add_node("reply", answer)
    graph.add_edge(START, "reply")
    graph.add_edge("reply", END)
    compiled = graph.compile(checkpointer=InMemorySaver())
    found = called(compiled, "explain", {"question": "why?"}, awaiting, CONFIG)
    failed = [probe for probe in found.probes if probe.error]
    assert failed
    assert all("ask a human" in probe.error and "a" not in probe.kept for probe in failed)
    assert all(probe.error or "a" in probe.kept for probe in found.probes)
    (warning,) = found.warnings
    assert warning.startswith(
        "some replays have no verdict, so rules may be missing: the application stopped to ask a human "
        "('may I answer without amber?'), so there is no answer yet. Explain a function that gives the "
    )

    def ask(question: str) -> str:
        config: Any = {"configurable": {"thread_id": uuid4().hex}}
        said = compiled.invoke({"question": question}, config)
        return (compiled.invoke(Command(resume="yes"), config) if "answer" not in said else said)[
            "answer"
        ]

    whole = called(RunnableLambda(ask), "explain", "why?", awaiting)
    assert (whole.complete, whole.warnings) == (True, ())


class Calling(Telling):
    """Calls a tool first, and then answers."""

    @override
    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        if any(message.type == "tool" for message in messages):
            return super()._generate(messages, stop, run_manager, **kwargs)
        call: Any = {"name": "search", "args": {"words": "why"}, "id": "1"}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


def supervised() -> Any:
    middleware: Any = HumanInTheLoopMiddleware(interrupt_on={"search": True})
    return agent(middleware=[middleware], checkpointer=InMemorySaver())


@ASKING
def test_an_agent_whose_calls_are_approved_by_a_human(awaiting: bool) -> None:
    agent = supervised()
    with pytest.raises(BaselineFailed, match=r"(?s)ask a human.*search.*Command.resume"):
        called(agent, "explain", {"messages": [("user", "why?")]}, awaiting, CONFIG)

    def ask(question: str) -> Any:
        agent.invoke({"messages": [("user", question)]}, CONFIG)
        return agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG)

    assert blames_b_and_d(called(RunnableLambda(ask), "explain", "why?", awaiting))


@AWAITING
def test_a_recorded_run_that_stopped_says_so_whatever_its_thread_had_answered_before(
    awaiting: bool,
) -> None:
    graph = graph_of(checkpointer=InMemorySaver())
    handler = RuleExplanationHandler(RuleExplainer(graph, predicate=BAD))
    graph.invoke({"question": "why?"}, CONFIG)
    config: Any = {**CONFIG, "callbacks": [handler]}
    stop: Any = {"interrupt_before": ["reply"]}

    async def asked() -> Any:
        await graph.ainvoke({"question": "and why?"}, config, **stop)
        return await handler.aexplain()

    def ask() -> Any:
        # What comes of it has the answer to the question before.
        assert graph.invoke({"question": "and why?"}, config, **stop)["answer"]
        return handler.explain()

    with pytest.raises(BaselineFailed, match="stopped at a breakpoint \\(before reply"):
        asyncio.run(asked()) if awaiting else ask()


def test_a_recorded_run_that_goes_on_where_another_stopped_says_so() -> None:
    graph = graph_of(asks="answer", checkpointer=InMemorySaver())
    handler = RuleExplanationHandler(RuleExplainer(graph, predicate=BAD), auto=True)
    config: Any = {**CONFIG, "callbacks": [handler]}
    graph.invoke({"question": "why?"}, config)
    assert graph.invoke(Command(resume="yes"), config)["answer"]
    stopped, resumed = handler.errors.values()
    assert isinstance(stopped, BaselineFailed)
    assert "stopped to ask a human ('may I answer?')" in str(stopped)
    assert isinstance(resumed, InvalidInput)
    assert "return graph.invoke(Command(resume=...), config)" in str(resumed)


def test_a_graph_that_stops_before_it_retrieves_says_so_where_it_keeps_no_threads() -> None:
    graph = graph_of(interrupt_before=["retrieve"])
    with pytest.raises(
        BaselineFailed, match=r"stopped at a breakpoint \(set by interrupt_before=.*needs a checkpointer"
    ):
        RuleExplainer(graph, predicate=BAD).invoke({"question": "why?"})


@pytest.mark.parametrize("name", ["interrupt_before", "interrupt_after"])
def test_a_breakpoint_given_as_a_keyword_of_the_call(name: str) -> None:
    stops: Any = {name: ["retrieve"]}
    with pytest.raises(BaselineFailed, match=f"set by {name}=.*Leave out {name} for an answer"):
        RuleExplainer(graph_of(), predicate=BAD).explain({"question": "why?"}, **stops)


@ASKING
def test_an_explained_graph_that_asks_a_human_goes_on_as_the_graph_does(
    awaiting: bool, caplog: pytest.LogCaptureFixture
) -> None:
    bare, graph = (graph_of("answer", checkpointer=InMemorySaver()) for _ in range(2))
    chain: Any = explained(graph, predicate=BAD)

    async def one(application: Any, given: Any) -> Any:
        return await application.ainvoke(given, CONFIG) if awaiting else application.invoke(given, CONFIG)

    async def asked(application: Any) -> Any:
        first = await one(application, {"question": "why?"})
        return first, await one(application, Command(resume="yes"))

    expected, (stopped, answered) = asyncio.run(asked(bare)), asyncio.run(asked(chain))
    assert (stopped.pop("rag_rules"), answered.pop("rag_rules")) == tuple(
        {"error": record.args[0], "message": record.args[1]}
        for record in caplog.records
        if isinstance(record.args, tuple) and record.message.startswith("the answer comes without rules")
    )
    assert stopped.pop("__interrupt__")[0].value == expected[0].pop("__interrupt__")[0].value
    assert (stopped, answered) == expected
    told = [record.message for record in caplog.records]
    assert "stopped to ask a human ('may I answer?')" in told[0]
    assert "return graph.invoke(Command(resume=...), config)" in told[1]
    assert len(told) == 2
