"""What an application remembers is replayed on copies: afterwards, nobody can tell that it was."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_classic.chains import RetrievalQA
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.messages import HumanMessage
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from rag_rule_explainer import Explanation, SourceLeak
from tests.integrations.known import BAD, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts, sent_in

THREAD: Any = {"configurable": {"thread_id": "t"}}


class AsyncOnly(BaseCheckpointSaver[str]):
    """A checkpointer that, like those over a network, has no sync entry."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = InMemorySaver()

    async def aget_tuple(self, config: Any) -> Any:
        await asyncio.sleep(0)
        return self.inner.get_tuple(config)

    async def aput(self, *args: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        await asyncio.sleep(0)
        return self.inner.put(*args)

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


@pytest.mark.parametrize("awaiting", [False, True])
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


@pytest.mark.parametrize("awaiting", [False, True])
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
@pytest.mark.parametrize("awaiting", [False, True])
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
