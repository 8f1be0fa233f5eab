"""Streamed replies whose end LlamaIndex does not tell: Bedrock's say why they ended in an event that is
dropped, and OpenAI's refuse in a chunk before the last one.

The stream is read as botocore, and aiobotocore, read it, which are not installed here.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from types import ModuleType
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import Explanation, Retries
from rag_rule_explainer.probing.wholeness import HALF
from tests.integrations.endings import (
    BEDROCK,
    COUNTS,
    PREDICATE,
    Cutting,
    explained_all,
    half,
    unknown_of,
)
from tests.integrations.known import shown_in
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling

Event = dict[str, Any]
Chunks = Iterator[ChatResponse]


class EventStream:
    """Reads each event by one method, as botocore's does."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events

    def _parse_event(self, event: Event) -> Event:
        return dict(event)

    def __iter__(self) -> Iterator[Event]:
        for event in self.events:
            yield self._parse_event(event)


class AsyncEventStream(EventStream):
    """Awaits that method, as aiobotocore's does."""

    @override
    async def _parse_event(self, event: Event) -> Event:  # pyright: ignore[reportIncompatibleMethodOverride] -- as it is there
        return dict(event)

    async def __aiter__(self) -> AsyncIterator[Event]:
        for event in self.events:
            yield await self._parse_event(event)


@pytest.fixture(autouse=True)
def botocore(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("botocore.eventstream")
    module.EventStream = EventStream  # type: ignore[attr-defined] -- a module that is not installed
    monkeypatch.setitem(sys.modules, module.__name__, module)


class Streaming(Telling):
    """Streams what is true of the nodes that it is shown, or half of that, in the chunks of a client."""

    cutting: Any
    counts_tokens: bool = True

    def said(self, messages: Sequence[ChatMessage]) -> tuple[str, str | None]:
        shown = shown_in("\n".join(str(each.content) for each in messages))
        text, end = self.cutting.case.answer(shown), self.cutting.end(shown)
        return (text if end is None else half(text)), end

    def chunk(self, text: str, delta: str, raw: Event) -> ChatResponse:
        message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
        return ChatResponse(message=message, delta=delta, raw=raw)


class Bedrock(Streaming):
    """As ``BedrockConverse``: the event that says why the model stopped makes no chunk."""

    def events(self, messages: Sequence[ChatMessage]) -> list[Event]:
        text, end = self.said(messages)
        at = len(text) // 2
        events: list[Event] = [
            {"contentBlockDelta": {"delta": {"text": piece}}} for piece in (text[:at], text[at:])
        ]
        if end != "half":
            events.append({"messageStop": {"stopReason": end or "end_turn"}})
            events += [{"metadata": {"usage": {"inputTokens": 1}}}] if self.counts_tokens else []
        return events

    def chunks(self) -> Callable[[Event], Iterator[ChatResponse]]:
        text = ""

        def chunk_of(event: Event) -> Iterator[ChatResponse]:
            nonlocal text
            delta = event.get("contentBlockDelta", {}).get("delta", {}).get("text", "")
            text += delta
            if "messageStop" not in event:
                yield self.chunk(text, delta, event)

        return chunk_of

    @llm_chat_callback()
    @override
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        def chunks() -> Generator[ChatResponse, None, None]:
            chunk_of = self.chunks()
            for event in EventStream(self.events(messages)):
                yield from chunk_of(event)

        return chunks()

    @llm_chat_callback()
    @override
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        async def chunks() -> AsyncGenerator[ChatResponse, None]:
            chunk_of = self.chunks()
            async for event in AsyncEventStream(self.events(messages)):
                for chunk in chunk_of(event):
                    yield chunk

        return chunks()


class Refusing(Streaming):
    """As ``OpenAI``: a refusal is in the raw data of its chunk alone, and the stream ends as usual."""

    @llm_chat_callback()
    @override
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        text, end = self.said(messages)

        def chunks() -> Chunks:
            deltas: list[Event] = [{"content": text}, *([{"refusal": "I cannot."}] if end else [])]
            for delta in deltas:
                said = delta.get("content", "")
                yield self.chunk(text, said, {"choices": [{"delta": delta, "finish_reason": None}]})
            yield self.chunk(text, "", {"choices": [{"delta": {}, "finish_reason": "stop"}]})

        return chunks()


def explained(llm: Callable[..., Streaming], way: str) -> Callable[[Cutting, Retries], Explanation]:
    def explain(cutting: Cutting, retries: Retries) -> Explanation:
        engine = engine_of(retriever_of(cutting.case.names), llm(cutting=cutting), streaming=True)
        explainer = RuleExplainer(
            engine,
            predicate=PREDICATE,
            retries=retries,
            ignore=COUNTS,
            # Without nodes, LlamaIndex asks no model.
            answer_without_sources=cutting.case.answer(""),
        )
        return asyncio.run(explainer.aexplain("?")) if way == "async" else explainer.explain("?")

    return explain


def uncounted(cutting: Cutting) -> Streaming:
    return Bedrock(cutting=cutting, counts_tokens=False)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("way", ["sync", "async"])
def test_why_bedrock_stopped_is_read_from_its_stream(way: str) -> None:
    told = {"guardrail_intervened": "content filter", "max_tokens": "length limit", "half": HALF}
    for end, why in told.items():
        assert why in unknown_of(explained(Bedrock, way), end)
    assert "length limit" in unknown_of(explained(uncounted, way), "max_tokens")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("way", ["sync", "async"])
def test_no_reply_that_bedrock_cut_off_becomes_a_verdict(way: str) -> None:
    cut = explained_all(explained(Bedrock, way), (*BEDROCK, "half"), 4, start=40)
    assert cut.total() > 3


def test_a_refusal_beside_a_text_is_a_refusal() -> None:
    assert "refused" in unknown_of(explained(Refusing, "sync"), "refusal")
