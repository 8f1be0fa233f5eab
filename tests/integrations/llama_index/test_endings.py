"""Replies that are cut off, blocked or refused, as the integrations of many providers report them.

The shapes are those of llama-index-llms-anthropic, -bedrock-converse, -google-genai, -vertex and others,
which are not installed here. Bedrock's says nothing of the end of what it streams, and is left out there.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.instrumentation import get_dispatcher
from llama_index_rag_rule_explainer import RuleExplainer, RuleExplanationHandler, judge_of
from pydantic import PrivateAttr
from typing_extensions import override

from rag_rule_explainer import BaselineFailed, Explainer, Explanation, Retries, Source, judged
from rag_rule_explainer.probing.wholeness import CALLS, EMPTY_REPLY, HALF
from tests.integrations.endings import (
    ANTHROPIC,
    BEDROCK,
    COUNTS,
    GEMINI,
    OPENAI,
    OTHERS,
    PREDICATE,
    QUICK,
    Cutting,
    explained_all,
    half,
    unknown_of,
)
from tests.integrations.known import BAD, retention, sets, shown_in
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling
from tests.integrations.spoilt import Spoilt


@dataclass
class Shape:
    """What beside the text comes with a reply: what its client returned, and its message has."""

    raw: dict[str, Any] = field(default_factory=dict[str, Any])
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    blocks: list[Any] | None = None
    error: Exception | None = None


class FinishReason(str, Enum):
    """As Vertex's client has it, in part."""

    MAX_TOKENS = "MAX_TOKENS"
    SAFETY = "SAFETY"
    STOP = "STOP"


def anthropic(reason: str | None, *, streamed: bool) -> Shape:
    if streamed:
        delta = SimpleNamespace(stop_reason=reason, stop_sequence=None)
        raw = {"type": "message_delta", "delta": delta}
        return Shape(raw, {"usage": None, "stop_reason": reason})
    return Shape({"type": "message", "role": "assistant", "stop_reason": reason, "stop_sequence": None})


def half_anthropic(_: str, *, streamed: bool) -> Shape:
    if not streamed:
        return anthropic(None, streamed=False)
    raw = {"type": "content_block_delta", "index": 0, "delta": SimpleNamespace(text="bad")}
    return Shape(raw, {"usage": None, "stop_reason": None})


def converse(reason: str, *, streamed: bool) -> Shape:
    return Shape({"ResponseMetadata": {"HTTPStatusCode": 200}, "stopReason": reason, "usage": {}})


def gemini(reason: str, *, streamed: bool) -> Shape:
    if reason == "STOP":
        return Shape({"finish_reason": FinishReason.STOP, "safety_ratings": None})
    return Shape(error=RuntimeError(f"Response was terminated early: {reason}"))


def vertex(reason: str, *, streamed: bool) -> Shape:
    return Shape({"candidates": [{"finish_reason": FinishReason(reason), "safety_ratings": []}]})


def numbered(reason: str, *, streamed: bool) -> Shape:
    return Shape({"finish_reason": int(reason), "safety_ratings": []})


def openai(reason: str | None, *, streamed: bool) -> Shape:
    return Shape({"choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant"}}]})


def half_openai(_: str, *, streamed: bool) -> Shape:
    return openai(None, streamed=streamed)


def refusing(_: str, *, streamed: bool) -> Shape:
    message = {"role": "assistant", "content": None, "refusal": "I cannot."}
    return Shape({"choices": [{"finish_reason": "stop", "message": message}]}, blocks=[])


def other(reason: str, *, streamed: bool) -> Shape:
    return Shape({"finish_reason": reason})


def calling(reason: str, *, streamed: bool) -> Shape:
    call = ToolCallBlock(tool_call_id="1", tool_name="look", tool_kwargs={})
    return Shape({"finish_reason": reason}, blocks=[TextBlock(text="bad news"), call])


def silent(reason: str, *, streamed: bool) -> Shape:
    blocks = [ThinkingBlock(content="bad news")] if reason == "thinking" else []
    return Shape({"finish_reason": "stop"}, blocks=blocks)


PROVIDERS: dict[str, tuple[Callable[..., Shape], tuple[str, ...], str]] = {
    "anthropic": (anthropic, ANTHROPIC, "end_turn"),
    "half_anthropic": (half_anthropic, ("half",), "stop"),
    "converse": (converse, BEDROCK, "end_turn"),
    "gemini": (gemini, GEMINI, "STOP"),
    "vertex": (vertex, ("SAFETY", "MAX_TOKENS"), "STOP"),
    "numbered": (numbered, ("2", "3", "4", "5", "8"), "1"),
    "openai": (openai, OPENAI, "stop"),
    "half_openai": (half_openai, ("half",), "stop"),
    "refusing": (refusing, ("field",), "stop"),
    "other": (other, OTHERS, "COMPLETE"),
    "calling": (calling, ("tool_calls", "stop"), "stop"),
    "silent": (silent, ("empty", "thinking"), "stop"),
}
SPOILING = ("half_anthropic", "half_openai", "refusing", "calling", "silent")
"""Whoever does this ends whole replies as ``other`` does."""


def ends(way: str) -> tuple[str, ...]:
    said = {name: reasons for name, (_, reasons, _) in PROVIDERS.items()}
    if "streamed" in way:
        del said["converse"]
    return tuple(f"{name} {reason}" for name, reasons in said.items() for reason in reasons)


class Cut(Telling):
    """Answers what is true of the nodes it is shown, or half of that."""

    _cutting: Cutting = PrivateAttr()

    def __init__(self, cutting: Cutting) -> None:
        super().__init__()
        self._cutting = cutting

    def _reply_to(self, messages: Sequence[ChatMessage], *, streamed: bool) -> ChatResponse:
        shown = shown_in("\n".join(str(each.content) for each in messages))
        text, end = self._cutting.case.answer(shown), self._cutting.end(shown)
        if end is None:
            name = list(PROVIDERS)[self._cutting.case.seed % len(PROVIDERS)]
            write, _, reason = PROVIDERS[name]
            shape = (other if name in SPOILING else write)(reason, streamed=streamed)
        else:
            name, _, reason = end.partition(" ")
            text, shape = half(text), PROVIDERS[name][0](reason, streamed=streamed)
        if shape.error is not None:
            raise shape.error
        blocks = [TextBlock(text=text)] if shape.blocks is None else shape.blocks
        message = ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks, additional_kwargs=shape.extra)
        return ChatResponse(message=message, raw=shape.raw)

    @override
    def _chat(self, messages: Sequence[ChatMessage], tools: Sequence[Any] = ()) -> ChatResponse:
        if tools is STREAMED:
            return ChatResponse(message=ChatMessage(blocks=[TextBlock(text="")]), raw=list(messages))
        return self._reply_to(messages, streamed=False)

    @override
    def _chunks(self, response: ChatResponse) -> Generator[ChatResponse, None, None]:
        whole = self._reply_to(response.raw or [], streamed=True)
        text = whole.message.content or ""
        early = dict.fromkeys(whole.message.additional_kwargs)
        for cut, delta in ((len(text) // 2, text[: len(text) // 2]), (len(text), text[len(text) // 2 :])):
            message = ChatMessage(role=MessageRole.ASSISTANT, content=text[:cut], additional_kwargs=early)
            yield ChatResponse(message=message, delta=delta, raw={"type": "content_block_delta"})
        yield whole.model_copy(update={"delta": ""})

    @override
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return super().stream_chat(messages, tools=STREAMED)

    @override
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return await super().astream_chat(messages, tools=STREAMED)


STREAMED = ("streamed",)
WAYS = ["sync", "async", "streamed", "async streamed"]
FAST = ("async streamed",)
"""LangChain's fast tests ask in the way that differs most; the slow tests ask in all of them."""


def explained(way: str) -> Callable[[Cutting, Retries], Explanation]:
    def explain(cutting: Cutting, retries: Retries) -> Explanation:
        engine = engine_of(retriever_of(cutting.case.names), Cut(cutting), streaming="streamed" in way)
        explainer = RuleExplainer(
            engine,
            predicate=PREDICATE,
            retries=retries,
            ignore=COUNTS,
            # Without nodes, LlamaIndex asks no model.
            answer_without_sources=cutting.case.answer(""),
        )
        return asyncio.run(explainer.aexplain("?")) if "async" in way else explainer.explain("?")

    return explain


NAMED = {
    *(f"{name} {reasons[0]}" for name, (_, reasons, _) in PROVIDERS.items()),
    *("anthropic refusal", "gemini SAFETY", "numbered 3", "numbered 8"),
    *("other wobbly", "calling stop", "silent thinking"),
}
"""Of each provider the first, and those that are told of below."""


@pytest.mark.spread(slow=3)
@pytest.mark.parametrize(
    ("way", "some"),
    [
        # LangChain's fast tests ask the same of as many.
        pytest.param("sync", NAMED, marks=pytest.mark.slow),
        pytest.param("sync", set[str](), marks=pytest.mark.slow),
        pytest.param("streamed", set[str](), marks=pytest.mark.slow),
    ],
    ids=["some", "sync", "streamed"],
)
def test_each_way_to_cut_a_reply_off_makes_its_probe_unknown_and_is_named(
    way: str, some: set[str]
) -> None:
    assert some <= set(ends(way))
    reasons = {end: unknown_of(explained(way), end) for end in some or ends(way)}
    assert "content filter (finish reason 'SAFETY')" in reasons["vertex SAFETY"]
    assert "content filter (finish reason '3')" in reasons["numbered 3"]
    assert "accept_finish_reasons=('8',)" in reasons["numbered 8"]
    assert "terminated early: SAFETY" in reasons["gemini SAFETY"]
    assert "refused" in reasons["anthropic refusal"]
    assert "refused" in reasons["refusing field"]
    assert "accept_finish_reasons=('wobbly',)" in reasons["other wobbly"]
    assert reasons["half_openai half"] == reasons["half_anthropic half"] == HALF
    assert all(reasons[f"calling {each}"] == CALLS for each in ("tool_calls", "stop"))
    assert all(reasons[f"silent {each}"] == EMPTY_REPLY for each in ("empty", "thinking"))


@pytest.mark.spread(slow=2)
@pytest.mark.parametrize(
    "way", [each if each in FAST else pytest.param(each, marks=pytest.mark.slow) for each in WAYS]
)
def test_no_reply_that_is_cut_off_becomes_a_verdict(way: str) -> None:
    cut = explained_all(explained(way), ends(way), 4, start=50 * WAYS.index(way))
    assert cut.total() > 3


@pytest.mark.nightly
@pytest.mark.timeout(1500)  # a busy machine takes more than five minutes
def test_over_two_hundred_explanations_no_reply_that_is_cut_off_becomes_a_verdict() -> None:
    cut = Counter[str]()
    for way in WAYS:
        cut += explained_all(explained(way), ends(way), 60, start=1000 * (1 + WAYS.index(way)))
    print(f"{cut.total()} replies were cut off in {len(cut)} ways")
    assert set(cut) == set(ends("sync"))


@pytest.mark.slow  # LangChain's fast tests ask the same of the same providers.
@pytest.mark.parametrize("all_ways", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_answers_say_why_their_replies_ended(all_ways: bool) -> None:
    for seed, (name, (_, _, reason)) in enumerate(PROVIDERS.items()):
        for way in WAYS if all_ways else [WAYS[(seed + seed // 4) % 4]]:
            cutting = Cutting(Spoilt("ab", "pair", seed=seed, share=0), ())
            explanation = explained(way)(cutting, QUICK)
            answers = [answer for probe in explanation.probes if probe.kept for answer in probe.answers]
            said = {answer.finish_reason for answer in answers}
            assert said == {reason} == {explanation.baseline.finish_reason}, (name, way)


def test_an_unknown_reason_is_accepted_by_name() -> None:
    engine = engine_of(retriever_of(), Telling(told={"finish_reason": "wobbly"}))
    with pytest.raises(BaselineFailed, match=r"accept_finish_reasons=\('wobbly',\)"):
        RuleExplainer(engine, predicate=BAD, retries=0).explain("?")
    explainer = RuleExplainer(engine, predicate=BAD, accept_finish_reasons=("wobbly",))
    assert explainer.explain("?").complete


@pytest.mark.parametrize("reason", ["content_filter", "length"])
def test_a_judge_whose_reply_is_cut_off_has_no_opinion(reason: str) -> None:
    judge = Telling(says=lambda _: "{}", told={"finish_reason": reason})
    explainer = Explainer(
        lambda question, sources: "an answer",
        predicate=judged("is bad", judge_of(judge)),
        retries=QUICK,
    )
    with pytest.raises(BaselineFailed, match="the judge's reply cannot count"):
        explainer.explain("?", [Source("a", "a")], "an answer")


@pytest.fixture
def attached() -> Iterator[Callable[[RuleExplainer], RuleExplanationHandler]]:
    added: list[RuleExplanationHandler] = []

    def attach(explainer: RuleExplainer) -> RuleExplanationHandler:
        handler = RuleExplanationHandler(explainer)
        get_dispatcher().add_span_handler(handler)
        added.append(handler)
        return handler

    yield attach
    for each in added:
        get_dispatcher().span_handlers.remove(each)


def test_an_ordinary_run_whose_reply_was_cut_off_is_not_explained(
    attached: Callable[[RuleExplainer], RuleExplanationHandler],
) -> None:
    for reason, told in (("content_filter", "content filter"), ("length", "length limit")):
        engine = engine_of(retriever_of(), Telling(told={"finish_reason": reason}))
        handler = attached(RuleExplainer(engine, predicate=BAD))
        engine.query("?")
        with pytest.raises(BaselineFailed, match=told):
            handler.explain()
    another = engine_of(retriever_of(), Telling(told={"finish_reason": "length"}))
    handler = attached(RuleExplainer(another, predicate=BAD, allow_length=True))
    another.query("?")
    assert retention(handler.explain()) == sets("bd")
