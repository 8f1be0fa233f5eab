"""What an application remembers is replayed on copies: afterwards, nobody can tell that it was."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_classic.chains import RetrievalQA
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from rag_rule_explainer import Explanation, SourceLeak
from tests.integrations.known import BAD, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts, sent_in
from tests.representing import SELDOM

THREAD: Any = {"configurable": {"thread_id": "t"}}


class AsyncOnly(BaseCheckpointSaver[str]):
    """A checkpointer that, like those over a network, has no sync entry."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = InMemorySaver()

    async def aget_tuple(self, config: Any) -> Any:
        await asyncio.sleep(0)
        return self.inner.get_tuple(config)

    # It takes all that LangGraph passes.
    async def aput(self, *args: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        await asyncio.sleep(0)
        return self.inner.put(*args)

    # It takes all that LangGraph passes.
    async def aput_writes(self, *args: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.inner.put_writes(*args)

    async def alist(self, config: Any, **kwargs: Any) -> AsyncIterator[Any]:
        for each in self.inner.list(config, **kwargs):
            yield each


class Talk(TypedDict):
    messages: Annotated[list[Any], add_messages]


class Chat:
    """A graph with a thread, and how long the conversations were that its model was shown."""

    def __init__(self, checkpointer: Any, *, keeps_context: bool = False) -> None:
        self.retriever = Counting(documents=facts("abcd"))
        self.lengths: list[int] = []
        self._keeps_context = keeps_context
        self._model = Telling(says=self._says)
        graph: Any = StateGraph(Talk)
        graph.add_node("reply", self._reply)
        graph.add_edge(START, "reply")
        graph.add_edge("reply", END)
        self.app = graph.compile(checkpointer=checkpointer)

    def _says(self, messages: list[Any]) -> str:
        self.lengths.append(len(messages))
        return "bad" if {"b", "d"} <= set(sent_in(messages)) else "good"

    def _reply(self, state: Talk) -> dict[str, Any]:
        found = self.retriever.invoke(state["messages"][-1].text)
        context = HumanMessage("\n".join(each.page_content for each in found))
        reply = self._model.invoke([*state["messages"], context])
        return {"messages": [context, reply] if self._keeps_context else [reply]}


def is_the_truth(explanation: Explanation) -> bool:
    return (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))


@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_thread_is_as_it_was_and_every_replay_saw_it_so(awaiting: bool) -> None:
    saver = InMemorySaver()
    chat = Chat(saver)
    chat.app.invoke({"messages": [HumanMessage("hello")]}, THREAD)
    before = list(saver.list(THREAD))
    chat.lengths.clear()
    explainer, again = RuleExplainer(chat.app, predicate=BAD), {"messages": [HumanMessage("again")]}
    if awaiting:
        explanation = asyncio.run(explainer.aexplain(again, THREAD))
    else:
        explanation = explainer.explain(again, THREAD)
    assert is_the_truth(explanation)
    assert set(chat.lengths) == {4}  # hello, its answer, again, the context
    assert list(saver.list(THREAD)) == before
    assert set(saver.storage) == {"t"}


@pytest.mark.parametrize("awaiting", SELDOM)
def test_invoke_leaves_a_thread_as_one_ordinary_run_does(awaiting: bool) -> None:
    chat, other = Chat(InMemorySaver()), Chat(InMemorySaver())
    explainer = RuleExplainer(chat.app, predicate=BAD)
    for text in ("hello", "again"):
        given = {"messages": [HumanMessage(text)]}
        explained: Any = (
            asyncio.run(explainer.ainvoke(given, THREAD)) if awaiting else explainer.invoke(given, THREAD)
        )
        assert is_the_truth(explained.explanation)
        other.app.invoke(given, THREAD)
    assert set(chat.lengths) == {2, 4}
    contents = [message.content for message in chat.app.get_state(THREAD).values["messages"]]
    assert contents == [m.content for m in other.app.get_state(THREAD).values["messages"]]
    counts = [len(list(each.app.checkpointer.list(THREAD))) for each in (chat, other)]
    assert counts[0] == counts[1]


def test_a_checkpointer_that_is_async_only() -> None:
    saver = AsyncOnly()
    chat = Chat(saver)

    async def main() -> Explanation:
        await chat.app.ainvoke({"messages": [HumanMessage("hello")]}, THREAD)
        chat.lengths.clear()
        explainer = RuleExplainer(chat.app, predicate=BAD)
        return await explainer.aexplain({"messages": [HumanMessage("again")]}, THREAD)

    assert is_the_truth(asyncio.run(main()))
    assert set(chat.lengths) == {4}
    assert len(list(saver.inner.list(THREAD))) == 3


def test_documents_that_a_thread_remembers_are_a_leak() -> None:
    chat = Chat(InMemorySaver(), keeps_context=True)
    chat.app.invoke({"messages": [HumanMessage("hello")]}, THREAD)
    with pytest.raises(SourceLeak, match="a memory"):
        RuleExplainer(chat.app, predicate=BAD).explain({"messages": [HumanMessage("again")]}, THREAD)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_classic_memory_is_read_as_it_was_and_written_by_no_replay(awaiting: bool) -> None:
    saved: list[str] = []

    class Memory(ConversationBufferMemory):
        def load_memory_variables(self, inputs: Any) -> Any:
            return {"said": len(saved)}

        async def aload_memory_variables(self, inputs: Any) -> Any:
            return self.load_memory_variables(inputs)

        def save_context(self, inputs: Any, outputs: Any) -> None:
            saved.append(outputs["result"])

        async def asave_context(self, inputs: Any, outputs: Any) -> None:
            self.save_context(inputs, outputs)

        @property
        def memory_variables(self) -> list[str]:
            return ["said"]

    retriever = Counting(documents=facts("abcd"))
    chain: Any = RetrievalQA.from_chain_type(Telling(), retriever=retriever)
    chain.memory = Memory()
    explainer = RuleExplainer(chain, predicate=BAD)
    if awaiting:
        explanation = asyncio.run(explainer.aexplain({"query": "?"}))
    else:
        explanation = explainer.explain({"query": "?"})
    assert is_the_truth(explanation)
    assert saved == []
    asyncio.run(explainer.ainvoke({"query": "?"})) if awaiting else explainer.invoke({"query": "?"})
    assert saved == ["bad news"]
    assert retriever.live == ["?", "?"]


def texts(found: Any) -> list[str]:
    return [message.text for message in found.values["messages"]]


def conversation(saver: Any, chat: Chat) -> str:
    return repr([(each.config, each.checkpoint, each.pending_writes) for each in saver.list(None)])


@pytest.mark.parametrize("awaiting", SELDOM)
def test_what_an_application_looks_up_of_its_own_thread_is_what_was_there(awaiting: bool) -> None:
    saver = InMemorySaver()
    chat = Chat(saver)
    chat.app.invoke({"messages": [HumanMessage("hello")]}, THREAD)
    seen: list[tuple[int, list[str]]] = []

    def answer(question: str) -> str:
        past = list(chat.app.get_state_history(THREAD))
        seen.append((len(past), texts(past[0])))
        return chat.app.invoke({"messages": [HumanMessage(question)]}, THREAD)["messages"][-1].text

    async def aanswer(question: str) -> str:
        past = [each async for each in chat.app.aget_state_history(THREAD)]
        seen.append((len(past), texts(past[0])))
        reply = await chat.app.ainvoke({"messages": [HumanMessage(question)]}, THREAD)
        return reply["messages"][-1].text

    explainer: Any = RuleExplainer(RunnableLambda(answer, aanswer), predicate=BAD)
    before = conversation(saver, chat)
    found = asyncio.run(explainer.aexplain("again")) if awaiting else explainer.explain("again")
    assert is_the_truth(found)
    assert conversation(saver, chat) == before
    assert all(each == (3, ["hello", "bad"]) for each in seen)
    seen.clear()
    invoked = asyncio.run(explainer.ainvoke("again")) if awaiting else explainer.invoke("again")
    assert is_the_truth(invoked.explanation)
    assert all(each == (3, ["hello", "bad"]) for each in seen)
    assert texts(chat.app.get_state(THREAD)) == ["hello", "bad", "again", "bad"]


def test_what_the_users_own_run_put_into_a_thread_is_listed_by_no_replay() -> None:
    chat = Chat(InMemorySaver())
    chat.app.invoke({"messages": [HumanMessage("hello")]}, THREAD)
    listed: list[int] = []

    def answer(question: str) -> str:
        reply = chat.app.invoke({"messages": [HumanMessage(question)]}, THREAD)
        listed.append(len(list(chat.app.get_state_history(THREAD))))
        return reply["messages"][-1].text

    explainer: Any = RuleExplainer(RunnableLambda(answer), predicate=BAD)
    assert is_the_truth(explainer.invoke("again").explanation)
    assert set(listed) == {6}


@pytest.mark.slow
@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_thread_that_is_deleted_is_deleted_in_that_run_only(awaiting: bool) -> None:
    saver = InMemorySaver()
    chat = Chat(saver)
    chat.app.invoke({"messages": [HumanMessage("hello")]}, THREAD)

    def answer(question: str) -> str:
        saver.delete_thread("t")
        assert saver.get(THREAD) is None
        assert list(saver.list(THREAD)) == []
        return chat.app.invoke({"messages": [HumanMessage(question)]}, THREAD)["messages"][-1].text

    async def aanswer(question: str) -> str:
        await saver.adelete_thread("t")
        assert await saver.aget(THREAD) is None
        reply = await chat.app.ainvoke({"messages": [HumanMessage(question)]}, THREAD)
        return reply["messages"][-1].text

    explainer: Any = RuleExplainer(RunnableLambda(answer, aanswer), predicate=BAD)
    before = conversation(saver, chat)
    chat.lengths.clear()
    assert is_the_truth(asyncio.run(explainer.aexplain("?")) if awaiting else explainer.explain("?"))
    assert conversation(saver, chat) == before
    invoked = asyncio.run(explainer.ainvoke("?")) if awaiting else explainer.invoke("?")
    assert is_the_truth(invoked.explanation)
    assert set(chat.lengths) == {2}
    assert texts(chat.app.get_state(THREAD)) == ["?", "bad"]


@pytest.mark.slow
def test_a_run_from_an_earlier_checkpoint() -> None:
    saver = InMemorySaver()
    chat = Chat(saver)
    for text in ("one", "two"):
        chat.app.invoke({"messages": [HumanMessage(text)]}, THREAD)
    after_one = next(
        each.config for each in chat.app.get_state_history(THREAD) if texts(each) == ["one", "bad"]
    )
    before = conversation(saver, chat)
    chat.lengths.clear()
    explainer: Any = RuleExplainer(chat.app, predicate=BAD)
    assert is_the_truth(explainer.explain({"messages": [HumanMessage("other")]}, after_one))
    assert conversation(saver, chat) == before
    assert set(chat.lengths) == {4}
    invoked = explainer.invoke({"messages": [HumanMessage("other")]}, after_one)
    assert is_the_truth(invoked.explanation)
    assert set(chat.lengths) == {4}
    assert texts(chat.app.get_state(THREAD)) == ["one", "bad", "other", "bad"]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("explaining", ["explain", "invoke"])
def test_a_subgraph_and_a_function_that_remember(explaining: str) -> None:
    saver, inner = InMemorySaver(), Chat(True)
    outer: Any = StateGraph(Talk)
    outer.add_node("inner", inner.app)
    outer.add_edge(START, "inner")
    outer.add_edge("inner", END)
    graph = outer.compile(checkpointer=saver)
    graph.invoke({"messages": [HumanMessage("hello")]}, THREAD)
    before = conversation(saver, inner)
    inner.lengths.clear()
    explainer: Any = RuleExplainer(graph, predicate=BAD)
    found = getattr(explainer, explaining)({"messages": [HumanMessage("again")]}, THREAD)
    assert is_the_truth(getattr(found, "explanation", found))
    assert len(set(inner.lengths)) == 1
    assert (conversation(saver, inner) == before) == (explaining == "explain")

    previous_seen: list[Any] = []
    other = InMemorySaver()

    @entrypoint(checkpointer=other)
    def application(question: str, *, previous: Any = None) -> Any:
        previous_seen.append(previous)
        context = "\n".join(each.page_content for each in inner.retriever.invoke(question))
        heard = HumanMessage(f"{context} {previous}")
        return Telling().invoke([heard]).text

    application.invoke("hello", THREAD)
    before = conversation(other, inner)
    previous_seen.clear()
    explainer = RuleExplainer(application, predicate=BAD)
    found = getattr(explainer, explaining)("again", THREAD)
    assert is_the_truth(getattr(found, "explanation", found))
    assert set(previous_seen) == {"bad news"}
    assert (conversation(other, inner) == before) == (explaining == "explain")
