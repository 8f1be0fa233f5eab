"""RuleExplanationHandler: ordinary runs, explained afterwards."""

import asyncio
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_rule_explainer import RuleExplainer, RuleExplanationHandler, gate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from rag_rule_explainer import Explanation, InvalidInput, NoSourcesCaptured
from tests.integrations.known import BAD, omission, retention, sets
from tests.integrations.langchain.chains import Counting, step
from tests.integrations.langchain.models import Telling, facts, sent_in
from tests.integrations.langchain.test_state import THREAD, AsyncOnly, Chat
from tests.representing import SELDOM

ORIGINAL = vars(BaseRetriever)["invoke"]


@pytest.fixture(autouse=True)
def _classes_are_as_before_afterwards() -> Iterator[None]:
    yield
    assert vars(BaseRetriever)["invoke"] is ORIGINAL


def pieces() -> tuple[Counting, Telling, Runnable[Any, Any]]:
    retriever, model = Counting(documents=facts("abcd")), Telling()
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    context = retriever | (lambda found: "\n".join(each.page_content for each in found))
    chain: Runnable[Any, Any] = (
        {"context": context, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()
    )
    return retriever, model, chain


def is_the_truth(explanation: Explanation) -> bool:
    return (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))


def test_a_run_is_explained_without_retrieving_or_asking_the_baseline_again() -> None:
    retriever, model, chain = pieces()
    handler = RuleExplanationHandler(RuleExplainer(chain, predicate=BAD))
    assert chain.invoke("why?", {"callbacks": [handler]}) == "bad news"
    assert (retriever.live, model.asked) == (["why?"], ["abcd"])
    explanation = handler.explain()
    assert is_the_truth(explanation)
    assert (explanation.question, explanation.baseline.text, explanation.scope) == (
        "why?",
        "bad news",
        "seen",
    )
    assert explanation.counts.baseline == 0
    # The repeat check is the only other run on everything.
    assert model.asked.count("abcd") == 2
    assert retriever.live == ["why?"]
    assert handler.explanations == {handler.runs[0]: explanation}


def test_an_async_run_is_explained_on_its_loop() -> None:
    retriever, _, chain = pieces()
    handler = RuleExplanationHandler(RuleExplainer(chain, predicate=BAD))

    async def main() -> Explanation:
        await chain.ainvoke("why?", {"callbacks": [handler]})
        return await handler.aexplain()

    assert is_the_truth(asyncio.run(main()))
    assert retriever.live == ["why?"]
    assert is_the_truth(handler.explain())


def test_a_streamed_run_is_recorded_with_its_input() -> None:
    retriever, _, chain = pieces()
    handler = RuleExplanationHandler(RuleExplainer(chain, predicate=BAD))
    assert "".join(chain.stream("why?", {"callbacks": [handler]})) == "bad news"
    explanation = handler.explain()
    assert (explanation.question, is_the_truth(explanation)) == ("why?", True)
    assert retriever.live == ["why?"]


def test_auto_explains_when_the_run_has_ended() -> None:
    retriever, _, chain = pieces()
    handler = RuleExplanationHandler(RuleExplainer(chain, predicate=BAD), auto=True)
    chain.invoke("one", {"callbacks": [handler]})
    (explanation,) = handler.explanations.values()
    assert is_the_truth(explanation)

    async def main() -> None:
        assert await chain.ainvoke("two", {"callbacks": [handler]}) == "bad news"
        await handler.finished()

    asyncio.run(main())
    assert [is_the_truth(each) for each in handler.explanations.values()] == [True, True]
    assert (handler.errors, retriever.live) == ({}, ["one", "two"])


def test_a_loop_that_ends_before_auto_has_explained_is_an_error() -> None:
    _, _, chain = pieces()
    handler = RuleExplanationHandler(RuleExplainer(chain, predicate=BAD), auto=True)
    assert asyncio.run(chain.ainvoke("one", {"callbacks": [handler]})) == "bad news"
    (error,) = handler.errors.values()
    assert "await handler.finished()" in str(error)
    assert handler.explanations == {}


def test_what_auto_cannot_explain_does_not_harm_the_run(caplog: pytest.LogCaptureFixture) -> None:
    chain = step(lambda _: "no retrieval at all")
    handler = RuleExplanationHandler(RuleExplainer(chain), auto=True)
    assert chain.invoke("?", {"callbacks": [handler]}) == "no retrieval at all"
    (error,) = handler.errors.values()
    assert isinstance(error, NoSourcesCaptured)
    assert caplog.text.count("the answer comes without rules: NoSourcesCaptured") == 1


def test_a_gate_that_cannot_be_read_does_not_harm_the_run() -> None:
    search = gate(lambda question: [object()])
    chain = step(lambda question: f"{len(search(question))} found")
    handler = RuleExplanationHandler(RuleExplainer(chain), auto=True)
    assert chain.invoke("?", {"callbacks": [handler]}) == "1 found"
    (error,) = handler.errors.values()
    assert "pass gate(search, text_of=...)" in str(error)


def test_it_is_inert_inside_replays_and_their_baseline() -> None:
    retriever, model, chain = pieces()
    handler = RuleExplanationHandler(RuleExplainer(chain, predicate=BAD), auto=True)
    bound = chain.with_config(callbacks=[handler])
    explanation = RuleExplainer(bound, predicate=BAD).explain("?")
    assert is_the_truth(explanation)
    assert handler.runs == ()
    assert handler.explanations == {}
    assert len(model.asked) == explanation.counts.replays
    assert retriever.live == ["?"]


@pytest.mark.waits
def test_one_handler_sees_many_runs_at_once() -> None:
    _, _, chain = pieces()
    handler = RuleExplanationHandler(RuleExplainer(chain, predicate=BAD))
    ids = [uuid.uuid4() for _ in range(6)]

    def run(place: int) -> Explanation:
        chain.invoke(f"question {place}", {"callbacks": [handler], "run_id": ids[place]})
        return handler.explain(ids[place])

    with ThreadPoolExecutor(6) as threads:
        explanations = list(threads.map(run, range(6)))
    assert [each.question for each in explanations] == [f"question {n}" for n in range(6)]
    assert all(map(is_the_truth, explanations))
    assert set(handler.runs) == set(ids)


def test_it_remembers_the_latest_runs_only() -> None:
    _, _, chain = pieces()
    handler = RuleExplanationHandler(RuleExplainer(chain, predicate=BAD), keep=2)
    chain.batch(["1", "2", "3", "4"], {"callbacks": [handler], "max_concurrency": 1})
    assert len(handler.runs) == 2
    assert handler.explain().question == "4"
    with pytest.raises(InvalidInput, match="no run with the id"):
        handler.explain(uuid.uuid4())


def test_without_a_run_it_says_what_to_do() -> None:
    with pytest.raises(InvalidInput, match=r'"callbacks": \[handler\]'):
        RuleExplanationHandler(RuleExplainer(pieces()[2])).explain()


def test_a_run_that_failed_is_forgotten() -> None:
    def failing(_: Any) -> str:
        raise ConnectionError("no route")

    chain = pieces()[2] | failing
    handler = RuleExplanationHandler(RuleExplainer(chain))
    with pytest.raises(ConnectionError):
        chain.invoke("?", {"callbacks": [handler]})
    assert handler.runs == ()


@pytest.mark.waits
def test_other_traffic_is_not_recorded() -> None:
    retriever, _, chain = pieces()
    stray = Counting(documents=facts("a"))

    def beside(text: str) -> str:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(stray.invoke, "elsewhere").result()
        return text

    handler = RuleExplanationHandler(RuleExplainer(chain | beside, predicate=BAD))
    (chain | beside).invoke("?", {"callbacks": [handler]})
    assert is_the_truth(handler.explain())
    assert retriever.live == ["?"]


def test_a_run_whose_past_cannot_be_read_is_refused() -> None:
    chat = Chat(AsyncOnly())
    handler = RuleExplanationHandler(RuleExplainer(chat.app, predicate=BAD))

    async def main() -> None:
        config = {**THREAD, "callbacks": [handler]}
        await chat.app.ainvoke({"messages": [HumanMessage("hello")]}, config)
        await handler.aexplain()

    with pytest.raises(InvalidInput, match="remembered before this run"):
        asyncio.run(main())


class Talk(TypedDict):
    messages: Annotated[list[Any], add_messages]


def graph_over(store: InMemoryVectorStore, model: Telling) -> Any:
    def reply(state: Talk) -> dict[str, Any]:
        found = store.similarity_search(state["messages"][-1].text, k=4)
        context = "\n".join(each.page_content for each in found)
        return {"messages": [model.invoke([*state["messages"], HumanMessage(context)])]}

    graph: Any = StateGraph(Talk)
    graph.add_node("reply", reply)
    graph.add_edge(START, "reply")
    graph.add_edge("reply", END)
    return graph.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_direct_search_in_a_graph_is_recorded_and_its_thread_left_alone(awaiting: bool) -> None:
    if awaiting and sys.version_info < (3, 11):
        pytest.skip("LangChain passes no config on to coroutines before Python 3.11")
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents(facts("abcd"))
    lengths: list[int] = []

    def says(messages: list[Any]) -> str:
        lengths.append(len(messages))
        return "bad" if {"b", "d"} <= set(sent_in(messages)) else "good"

    app = graph_over(store, Telling(says=says))
    thread: Any = {"configurable": {"thread_id": "t"}}
    app.invoke({"messages": [HumanMessage("hello")]}, thread)
    handler = RuleExplanationHandler(RuleExplainer(app, predicate=BAD))
    given, config = {"messages": [HumanMessage("again")]}, {**thread, "callbacks": [handler]}
    asyncio.run(app.ainvoke(given, config)) if awaiting else app.invoke(given, config)
    before = len(list(app.checkpointer.list(thread)))
    lengths.clear()
    explanation = asyncio.run(handler.aexplain()) if awaiting else handler.explain()
    assert is_the_truth(explanation)
    # Every replay saw the conversation as it was before the run: hello, its answer, again, the context.
    assert set(lengths) == {4}
    assert len(list(app.checkpointer.list(thread))) == before


@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")
def test_replays_of_a_chat_see_its_history_as_it_was_before_the_run() -> None:
    history = InMemoryChatMessageHistory()
    retriever = Counting(documents=facts("abcd"))
    lengths: list[int] = []

    def says(messages: list[Any]) -> str:
        lengths.append(len(messages))
        return "bad" if {"b", "d"} <= set(sent_in(messages)) else "good"

    prompt = ChatPromptTemplate.from_messages(
        [("placeholder", "{history}"), ("human", "{context}\n\n{question}")]
    )

    def context(given: dict[str, Any]) -> str:
        return "\n".join(each.page_content for each in retriever.invoke(given["question"]))

    inner: Any = RunnablePassthrough.assign(context=context) | prompt | Telling(says=says)

    def session_history(session_id: str) -> InMemoryChatMessageHistory:
        return history

    chat = RunnableWithMessageHistory(
        inner, session_history, input_messages_key="question", history_messages_key="history"
    )
    session: Any = {"configurable": {"session_id": "s"}}
    chat.invoke({"question": "hello"}, session)
    handler = RuleExplanationHandler(RuleExplainer(chat, predicate=BAD))
    config: Any = {**session, "callbacks": [handler]}
    chat.invoke({"question": "again"}, config)
    assert len(history.messages) == 4
    lengths.clear()
    explanation = handler.explain()
    assert is_the_truth(explanation)
    assert set(lengths) == {3}
    assert len(history.messages) == 4
