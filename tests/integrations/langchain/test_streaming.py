"""The answer's chunks first, then the explanation; and events on the way."""

import asyncio
import pickle
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextvars import ContextVar
from copy import deepcopy
from typing import Any

import pytest
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.tracers.log_stream import RunLogPatch
from langchain_rag_rule_explainer import AnswerChunk, Explained, RuleExplainer, explained

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.recording.current import going_on
from tests.integrations.known import BAD, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.representing import SELDOM

Chain = Runnable[Any, Any]


def chain_over(retriever: Counting, *after: Chain) -> Chain:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    context = retriever | (lambda found: "\n".join(each.page_content for each in found))
    chain: Chain = {"context": context, "question": RunnablePassthrough()} | prompt | Telling()
    for each in after:
        chain = chain | each
    return chain


@pytest.fixture
def retriever() -> Counting:
    return Counting(documents=facts("abcd"))


def streamed(runnable: Chain, given: Any, awaiting: bool) -> list[Any]:
    async def collected() -> list[Any]:
        return [chunk async for chunk in runnable.astream(given)]

    return asyncio.run(collected()) if awaiting else list(runnable.stream(given))


@pytest.mark.parametrize("awaiting", [False, True])
def test_chunks_come_as_the_chain_streams_them_and_the_explanation_last(
    retriever: Counting, awaiting: bool
) -> None:
    explainer = RuleExplainer(chain_over(retriever, StrOutputParser()), predicate=BAD)
    *chunks, last = streamed(explainer, "?", awaiting)
    assert all(isinstance(chunk, AnswerChunk) for chunk in chunks)
    assert [chunk.output for chunk in chunks if chunk.output] == ["bad ", "news"]
    assert type(last) is Explained
    assert last.output == "bad news"
    assert retention(last.explanation) == sets("bd")
    assert retriever.live == ["?"]
    with pytest.raises(InvalidInput, match="last chunk"):
        _ = chunks[0].explanation
    total = chunks[0]
    for chunk in (*chunks[1:], last):
        total = total + chunk
    assert total == last


def test_a_chunk_is_copied_compared_and_asked_for_an_explanation_that_it_has_not(
    retriever: Counting,
) -> None:
    explainer = RuleExplainer(chain_over(retriever, StrOutputParser()), predicate=BAD)
    first, second, *_, last = explainer.stream("?")
    assert not hasattr(first, "explanation")
    assert hasattr(last, "explanation")
    for same in (deepcopy(first), pickle.loads(pickle.dumps(first))):  # noqa: S301 -- its own
        assert same == first
        assert hash(same) == hash(first)
    assert first != second
    assert first != first.output


@pytest.mark.filterwarnings("ignore:astream:langchain_core._api.deprecation.LangChainDeprecationWarning")
def test_the_log_of_a_stream_ends_with_the_explanation(retriever: Counting) -> None:
    explainer = RuleExplainer(chain_over(retriever, StrOutputParser()), predicate=BAD)

    async def logged() -> Any:
        # Put together at once: each sum of two copies all that was logged before.
        first, *more = [op async for patch in explainer.astream_log("?") for op in patch.ops]
        return RunLogPatch(first) + RunLogPatch(*more)

    state = asyncio.run(logged()).state
    assert retention(state["final_output"].explanation) == sets("bd")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("awaiting", [False, True])
def test_between_chunks_the_consumer_takes_part_in_nothing(retriever: Counting, awaiting: bool) -> None:
    explainer = RuleExplainer(chain_over(retriever, StrOutputParser()), predicate=BAD)
    found: list[int] = []

    def look() -> None:
        assert going_on() is None
        found.append(len(retriever.invoke("traffic")))

    if awaiting:

        async def consume() -> None:
            async for _ in explainer.astream("?"):
                look()

        asyncio.run(consume())
    else:
        for _ in explainer.stream("?"):
            look()
    assert len(found) >= 3
    assert set(found) == {4}
    assert retriever.live.count("?") == 1


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("awaiting", [False, True])
def test_a_stream_that_is_given_up_leaves_nothing_behind(retriever: Counting, awaiting: bool) -> None:
    explainer = RuleExplainer(chain_over(retriever, StrOutputParser()), predicate=BAD, concurrency=1)
    if awaiting:

        async def first() -> Any:
            stream = explainer.astream("?")
            chunk = await anext(stream)
            await stream.aclose()  # type: ignore[attr-defined] -- the stream is a generator
            return chunk

        asyncio.run(first())
    else:
        stream = explainer.stream("?")
        next(stream)
        stream.close()  # type: ignore[attr-defined] -- the stream is a generator
    # The one slot is free again.
    assert retention(explainer.explain("?")) == sets("bd")


def test_events_tell_of_progress_and_of_chunks_first(retriever: Counting) -> None:
    explainer = RuleExplainer(chain_over(retriever, StrOutputParser()), predicate=BAD)

    async def events() -> list[Any]:
        return [event async for event in explainer.astream_events("?", version="v2")]

    told = asyncio.run(events())
    progress = [place for place, each in enumerate(told) if each["name"] == "rag_rule_progress"]
    own = [
        place
        for place, each in enumerate(told)
        if each["event"] == "on_chain_stream" and each["name"] == "rag_rule_explanation"
    ]
    assert len(progress) >= 16  # one for each verdict: some subsets are asked for by both kinds
    assert told[progress[-1]]["data"]["probes"] == 16
    assert told[progress[-1]]["event"] == "on_custom_event"
    assert own[0] < progress[0] < own[-1]
    assert retention(told[own[-1]]["data"]["chunk"].explanation) == sets("bd")


_mine: ContextVar[str] = ContextVar("mine", default="unset")


def test_a_streamed_application_sees_its_callers_context(retriever: Counting) -> None:
    seen: set[str] = set()

    def note(text: str) -> str:
        seen.add(_mine.get())
        return text

    _mine.set("set")
    list(RuleExplainer(chain_over(retriever, StrOutputParser()) | note, predicate=BAD).stream("?"))
    assert seen == {"set"}


@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_chain_that_fails_while_streaming_is_a_failed_baseline(
    retriever: Counting, awaiting: bool
) -> None:
    from rag_rule_explainer import BaselineFailed

    def failing(_: Any) -> str:
        raise ConnectionError("no route")

    with pytest.raises(BaselineFailed, match="no route"):
        streamed(RuleExplainer(chain_over(retriever) | failing, predicate=BAD), "?", awaiting)


@pytest.mark.parametrize("awaiting", SELDOM)
def test_attached_rules_come_with_the_last_chunk(retriever: Counting, awaiting: bool) -> None:
    *chunks, last = streamed(
        explained(chain_over(retriever, StrOutputParser()), predicate=BAD), "?", awaiting
    )
    assert "".join(chunks) == "bad news"
    assert last == ""
    whole: Any = chunks[0]
    for chunk in (*chunks[1:], last):
        whole = whole + chunk
    assert whole == "bad news"
    rules: Any = getattr(whole, "rag_rules")  # noqa: B009 -- a comparison made it a plain str for Pyright
    assert rules["retention_rules"][0]["sources"] == ["b", "d"]
    messages = streamed(explained(chain_over(retriever), predicate=BAD), "?", awaiting)
    message = messages[0]
    for chunk in messages[1:]:
        message = message + chunk
    assert message.content == "bad news"
    assert {
        tuple(rule["sources"]) for rule in message.response_metadata["rag_rules"]["omission_rules"]
    } == {
        ("b",),
        ("d",),
    }
    assert omission(RuleExplainer(chain_over(retriever), predicate=BAD).explain("?")) == sets("b", "d")


@pytest.mark.waits
def test_a_baseline_that_is_streamed_takes_a_slot_like_any_other(retriever: Counting) -> None:
    explainer = RuleExplainer(chain_over(retriever, StrOutputParser()), predicate=BAD, concurrency=1)
    stream = explainer.stream("streamed")
    next(stream)
    with ThreadPoolExecutor(1) as thread:
        beside = thread.submit(explainer.explain, "beside")
        with pytest.raises(NotYet):
            beside.result(0.3)
        assert "beside" not in retriever.live
        *_, last = stream
        assert retention(beside.result(30)) == retention(last.explanation) == sets("bd")
