"""Replies that are cut off, blocked or refused, as the integrations of many providers report them.

The shapes are those of langchain-anthropic, langchain-google-genai, langchain-aws (Converse and
InvokeModel) and others, which are not installed here.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.language_models.llms import BaseLLM
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolCallChunk
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
    Generation,
    LLMResult,
)
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer, RuleExplanationHandler, chat_replay, judge_of
from pydantic import PrivateAttr
from typing_extensions import override

from rag_rule_explainer import (
    BaselineFailed,
    Explainer,
    Explanation,
    InvalidInput,
    Retries,
    Source,
    contains,
    judged,
)
from rag_rule_explainer.probing.wholeness import CALLS, EMPTY_REPLY, HALF
from tests.integrations.endings import (
    ANTHROPIC,
    BEDROCK,
    BLOCKED,
    COUNTS,
    GEMINI,
    OTHERS,
    PREDICATE,
    QUICK,
    Cutting,
    explained_all,
    half,
    unknown_of,
)
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, shown_in
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts, sent_in
from tests.integrations.spoilt import Spoilt


@dataclass
class Shape:
    """What beside the text comes with a reply: on its message, its generation, the whole result."""

    message: dict[str, Any] = field(default_factory=dict[str, Any])
    generation: dict[str, Any] = field(default_factory=dict[str, Any])
    output: dict[str, Any] = field(default_factory=dict[str, Any])
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    content: list[Any] | None = None
    calls: bool = False
    is_half: bool = True


def anthropic(reason: str, *, streamed: bool) -> Shape:
    told = {"stop_reason": reason, "stop_sequence": None, "model_provider": "anthropic"}
    rest = {"id": "msg_1", "model": "claude", "model_name": "claude", "usage": {"input_tokens": 1}}
    return Shape(told if streamed else {**rest, **told})


def gemini(reason: str, *, streamed: bool) -> Shape:
    told = {"finish_reason": reason, "model_name": "gemini", "safety_ratings": []}
    return Shape({"model_provider": "google_genai"}, told)


def blocked_gemini(reason: str, *, streamed: bool) -> Shape:
    told = {"prompt_feedback": {"block_reason": reason, "block_reason_message": None}}
    return Shape(told, content=[]) if streamed else Shape(output=told, content=[])


def converse(reason: str, *, streamed: bool) -> Shape:
    told = {"stopReason": reason, "model_provider": "bedrock_converse"}
    rest = {"ResponseMetadata": {"HTTPStatusCode": 200}, "metrics": {"latencyMs": [1]}, "model_name": "m"}
    return Shape(told if streamed else {**rest, **told})


def bedrock(reason: str, *, streamed: bool) -> Shape:
    told = {"stop_reason": reason, "model_provider": "bedrock", "usage": {"prompt_tokens": 1}}
    return Shape({**told, "model_id": "m"}, extra={"model_id": "m"})


def ollama(reason: str, *, streamed: bool) -> Shape:
    return Shape({"done_reason": reason, "done": True, "model_provider": "ollama"})


def other(reason: str, *, streamed: bool) -> Shape:
    return Shape({"finish_reason": reason, "model_name": "m"})


def guarded(_: str, *, streamed: bool) -> Shape:
    return Shape({"amazon-bedrock-guardrailAction": "INTERVENED", "model_provider": "bedrock"})


def responses(reason: str, *, streamed: bool) -> Shape:
    status = "incomplete" if reason in ("max_output_tokens", "content_filter") else reason
    told = {"object": "response", "status": status, "model_provider": "openai"}
    return Shape({**told, "incomplete_details": {"reason": reason} if status != reason else None})


def refusing(reason: str, *, streamed: bool) -> Shape:
    told = {"finish_reason": "stop", "model_provider": "openai"}
    if reason == "block":
        return Shape(told, content=[{"type": "refusal", "refusal": "I cannot."}])
    return Shape(told, extra={"refusal": "I cannot."}, content=[])


def calling(reason: str, *, streamed: bool) -> Shape:
    return Shape({"finish_reason": reason, "model_name": "m"}, calls=True, is_half=False)


def silent(reason: str, *, streamed: bool) -> Shape:
    told = {"finish_reason": "stop", "model_name": "m"}
    thought = [{"type": "thinking", "thinking": "bad news"}]
    return Shape(told, content=thought if reason == "thinking" else [])


def unsaid(provider: str, *, streamed: bool) -> Shape:
    """The reason that this provider always gives is missing."""
    told: dict[str, dict[str, Any]] = {
        "anthropic": {"stop_reason": None, "model_provider": "anthropic"},
        "no provider": {"finish_reason": None, "model_name": "m"},
    }
    return Shape(told.get(provider) or {"model_provider": provider})


Write = Callable[..., Shape]
PROVIDERS: dict[str, tuple[Write, tuple[str, ...], str]] = {
    "anthropic": (anthropic, ANTHROPIC, "end_turn"),
    "gemini": (gemini, GEMINI, "STOP"),
    "blocked": (blocked_gemini, BLOCKED, "STOP"),
    "converse": (converse, BEDROCK, "end_turn"),
    "bedrock": (bedrock, ANTHROPIC, "end_turn"),
    "guarded": (guarded, ("intervened",), "stop"),
    "ollama": (ollama, ("length",), "stop"),
    "other": (other, OTHERS, "COMPLETE"),
    "responses": (
        responses,
        ("max_output_tokens", "content_filter", "failed", "in_progress", "cancelled"),
        "completed",
    ),
    "refusing": (refusing, ("field", "block"), "stop"),
    "calling": (calling, ("tool_calls", "tool_use", "stop"), "stop"),
    "silent": (silent, ("empty", "thinking"), "stop"),
    "unsaid": (
        unsaid,
        ("anthropic", "bedrock_converse", "google_genai", "google_vertexai", "openai", "no provider"),
        "stop",
    ),
}
"""How each writes what beside the text comes with a reply, its reasons, and that of a whole reply."""
WHOLE: dict[str, Write] = {
    "blocked": gemini,
    "guarded": other,
    "refusing": other,
    "calling": other,
    "silent": other,
    "unsaid": other,
}


def ends() -> tuple[str, ...]:
    return tuple(f"{name} {reason}" for name, (_, reasons, _) in PROVIDERS.items() for reason in reasons)


class Cut(BaseChatModel):
    """Answers what is true of the documents it is shown, or half of that."""

    _cutting: Cutting = PrivateAttr()

    def __init__(self, cutting: Cutting) -> None:
        super().__init__()
        self._cutting = cutting

    @property
    @override
    def _llm_type(self) -> str:
        return "cut"

    def _said(self, messages: list[BaseMessage], *, streamed: bool) -> tuple[str, Shape]:
        shown = sent_in(messages)
        text, end = self._cutting.case.answer(shown), self._cutting.end(shown)
        if end is None:
            name = list(PROVIDERS)[self._cutting.case.seed % len(PROVIDERS)]
            write, _, reason = PROVIDERS[name]
            return text, WHOLE.get(name, write)(reason, streamed=streamed)
        name, _, reason = end.partition(" ")
        shape = PROVIDERS[name][0](reason, streamed=streamed)
        if shape.content is not None:
            return "", shape
        # What stands beside the call of a tool is a sentence of its own.
        return (half(text) if shape.is_half else half("bad news, or not")), shape

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        text, shape = self._said(messages, streamed=False)
        call = {"name": "look", "args": {}, "id": "1"}
        message = AIMessage(
            shape.content or text,
            response_metadata=shape.message,
            additional_kwargs=shape.extra,
            tool_calls=[call] if shape.calls else [],
        )
        generation = ChatGeneration(message=message, generation_info=shape.generation)
        return ChatResult(generations=[generation], llm_output=shape.output)

    @override
    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        text, shape = self._said(messages, streamed=True)
        at = len(text) // 2
        call = ToolCallChunk(name="look", args="{}", id="1", index=0)
        for piece in (text[:at], text[at:]) if shape.content is None else ():
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        last = AIMessageChunk(
            content=shape.content or "",
            response_metadata=shape.message,
            additional_kwargs=shape.extra,
            tool_call_chunks=[call] if shape.calls else [],
        )
        yield ChatGenerationChunk(message=last, generation_info=shape.generation or None)


def app_with(model: BaseChatModel, names: str, *, streaming: bool) -> Runnable[str, str]:
    retriever = Counting(documents=facts(names))

    def prompt(found: list[Any], question: str) -> str:
        return "\n".join([*(each.page_content for each in found), question])

    def answer(question: str) -> str:
        asked = prompt(retriever.invoke(question), question)
        return "".join(c.text for c in model.stream(asked)) if streaming else model.invoke(asked).text

    async def aanswer(question: str) -> str:
        asked = prompt(await retriever.ainvoke(question), question)
        if streaming:
            return "".join([chunk.text async for chunk in model.astream(asked)])
        return (await model.ainvoke(asked)).text

    return RunnableLambda(answer, afunc=aanswer)


WAYS = ["sync", "async", "streamed", "async streamed", "chat_replay"]
FAST = ("sync",)
"""LlamaIndex's fast tests ask in the way that differs most; the slow tests ask in all of them."""


def explained(way: str) -> Callable[[Cutting, Retries], Explanation]:
    def explain(cutting: Cutting, retries: Retries) -> Explanation:
        model = Cut(cutting)
        if way == "chat_replay":
            sources = [Source(name, TEXTS[name]) for name in cutting.case.names]
            explainer = Explainer(chat_replay(model), predicate=PREDICATE, retries=retries)
            return explainer.explain("?", sources)
        app = app_with(model, cutting.case.names, streaming="streamed" in way)
        explainer = RuleExplainer(app, predicate=PREDICATE, retries=retries, ignore=COUNTS)
        return asyncio.run(explainer.aexplain("why?")) if "async" in way else explainer.explain("why?")

    return explain


NAMED = (
    "gemini SAFETY",
    "blocked OTHER",
    "responses content_filter",
    "guarded intervened",
    "converse max_tokens",
    "anthropic pause_turn",
    "other wobbly",
    "refusing field",
    "refusing block",
    "calling tool_calls",
    "calling stop",
    "silent empty",
    "silent thinking",
    "unsaid anthropic",
    "unsaid google_genai",
    "unsaid no provider",
)
"""Of each kind of end one or two."""


@pytest.mark.parametrize(
    ("way", "asked"),
    [
        pytest.param("sync", NAMED, id="sync"),
        pytest.param("sync", ends(), marks=pytest.mark.slow, id="sync-all"),
        pytest.param("streamed", ends(), marks=pytest.mark.slow, id="streamed-all"),
    ],
)
def test_each_way_to_cut_a_reply_off_makes_its_probe_unknown_and_is_named(
    way: str, asked: tuple[str, ...]
) -> None:
    reasons = {end: unknown_of(explained(way), end) for end in asked}
    assert "content filter (finish reason 'SAFETY')" in reasons["gemini SAFETY"]
    assert "content filter (finish reason 'block_reason OTHER')" in reasons["blocked OTHER"]
    assert "content filter" in reasons["responses content_filter"]
    assert "content filter" in reasons["guarded intervened"]
    assert "length limit" in reasons["converse max_tokens"]
    assert "not whole (finish reason 'pause_turn')" in reasons["anthropic pause_turn"]
    assert "accept_finish_reasons=('wobbly',)" in reasons["other wobbly"]
    assert all("refused" in reasons[end] for end in ("refusing field", "refusing block"))
    assert all(reasons[f"calling {each}"] == CALLS for each in ("tool_calls", "stop"))
    assert all(reasons[f"silent {each}"] == EMPTY_REPLY for each in ("empty", "thinking"))
    assert all(reasons[each] == HALF for each in reasons if each.startswith("unsaid"))


@pytest.mark.parametrize(
    "way", [each if each in FAST else pytest.param(each, marks=pytest.mark.slow) for each in WAYS]
)
def test_no_reply_that_is_cut_off_becomes_a_verdict(way: str) -> None:
    cut = explained_all(explained(way), ends(), 6, start=50 * WAYS.index(way))
    assert cut.total() > 5


@pytest.mark.nightly
@pytest.mark.timeout(1500)  # a busy machine takes more than five minutes
def test_over_three_hundred_explanations_no_reply_that_is_cut_off_becomes_a_verdict() -> None:
    cut = Counter[str]()
    for way in WAYS:
        cut += explained_all(explained(way), ends(), 60, start=1000 * (1 + WAYS.index(way)))
    print(f"{cut.total()} replies were cut off in {len(cut)} ways")
    assert set(cut) == set(ends())


@pytest.mark.parametrize("asked", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_answers_say_why_their_replies_ended(asked: int) -> None:
    for seed, (name, (_, _, reason)) in enumerate(PROVIDERS.items()):
        # Each provider in three ways; one of them always, and the ways in turn.
        ways = (WAYS[seed % 2], WAYS[2 + seed % 2], "chat_replay")
        for way in (ways[(seed + asked) % 3],):
            cutting = Cutting(Spoilt("ab", "pair", seed=seed, share=0), ())
            explanation = explained(way)(cutting, QUICK)
            said = {answer.finish_reason for probe in explanation.probes for answer in probe.answers}
            assert said == {reason} == {explanation.baseline.finish_reason}, (name, way)


class Completing(BaseLLM):
    """Completes a prompt by half of what is true, and does not say why it stopped."""

    _cutting: Cutting = PrivateAttr()

    def __init__(self, cutting: Cutting) -> None:
        super().__init__()
        self._cutting = cutting

    @property
    @override
    def _llm_type(self) -> str:
        return "completing"

    @override
    def _generate(self, prompts: list[str], *args: Any, **kwargs: Any) -> LLMResult:
        shown = shown_in(prompts[0])
        text, end = self._cutting.case.answer(shown), self._cutting.end(shown)
        told = {"finish_reason": "stop" if end is None else None}
        generation = Generation(text=text if end is None else half(text), generation_info=told)
        return LLMResult(generations=[[generation]])


def test_a_completion_that_does_not_say_why_it_ended_is_no_answer() -> None:
    def explain(cutting: Cutting, retries: Retries) -> Explanation:
        retriever, model = Counting(documents=facts(cutting.case.names)), Completing(cutting)

        def answer(question: str) -> str:
            found = retriever.invoke(question)
            return model.invoke("\n".join([*(each.page_content for each in found), question]))

        return RuleExplainer(RunnableLambda(answer), predicate=PREDICATE, retries=retries).explain("?")

    assert unknown_of(explain, "half") == HALF


def test_an_unknown_reason_is_accepted_by_name_and_a_filter_never() -> None:
    model = Telling(told={"finish_reason": "wobbly"})
    app = app_with(model, "abcd", streaming=False)
    with pytest.raises(BaselineFailed, match=r"'wobbly' \(accept_finish_reasons=\('wobbly',\)"):
        RuleExplainer(app, predicate=BAD, retries=0).explain("?")
    explanation = RuleExplainer(app, predicate=BAD, accept_finish_reasons=("wobbly",)).explain("?")
    assert blames_b_and_d(explanation)
    sources = [Source(name, TEXTS[name]) for name in "abcd"]
    with pytest.raises(BaselineFailed, match="wobbly"):
        Explainer(chat_replay(model), predicate=BAD, retries=0).explain("?", sources)
    replay = chat_replay(model, accept_finish_reasons=("wobbly",))
    assert blames_b_and_d(Explainer(replay, predicate=BAD).explain("?", sources))
    with pytest.raises(InvalidInput, match="not whole"):
        chat_replay(model, accept_finish_reasons=("content_filter",))
    with pytest.raises(InvalidInput, match="not whole"):
        RuleExplainer(app, accept_finish_reasons=("content_filter",))


def test_a_polite_refusal_that_ends_as_answers_do_is_an_answer() -> None:
    def says(messages: list[BaseMessage]) -> str:
        return "I cannot help with that." if {"b", "d"} <= set(sent_in(messages)) else "good news"

    app = app_with(Telling(says=says, told={"finish_reason": "stop"}), "abcd", streaming=False)
    explanation = RuleExplainer(app, predicate=contains("cannot")).explain("?")
    assert blames_b_and_d(explanation)


def test_the_output_of_a_tool_may_be_the_answer() -> None:
    retriever = Counting(documents=facts("abcd"))

    @tool(return_direct=True)
    def look(query: str) -> str:
        """Looks it up."""
        found = shown_in(" ".join(each.page_content for each in retriever.invoke(query)))
        return "bad news" if {"b", "d"} <= set(found) else "good news"

    class Calling(Telling):
        @override
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

        @override
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            call = {"name": "look", "args": {"query": "?"}, "id": "1"}
            told = {"finish_reason": "tool_calls"}
            message = AIMessage("Let me see.", tool_calls=[call], response_metadata=told)
            return ChatResult(generations=[ChatGeneration(message=message)])

    agent = create_agent(Calling(), [look])
    explanation = RuleExplainer(agent, predicate=BAD).explain({"messages": [HumanMessage("?")]})
    assert blames_b_and_d(explanation)


@pytest.mark.parametrize("retries", [0, 2])
def test_an_empty_baseline_is_tried_again_and_never_explained(retries: int) -> None:
    asked = list[str]()
    retriever = Counting(documents=facts("ab"))

    def silent(question: str) -> str:
        asked.append(question)
        retriever.invoke(question)
        return "  "

    explainer = RuleExplainer(RunnableLambda(silent), retries=Retries(retries, first_wait=0))
    with pytest.raises(BaselineFailed, match="the answer is empty"):
        explainer.explain("?")
    assert len(asked) == 1 + retries
    with pytest.raises(BaselineFailed, match="the answer is empty"):
        asyncio.run(explainer.aexplain("?"))


def test_a_judge_whose_reply_is_cut_off_has_no_opinion() -> None:
    """What arrived of the arguments of its call can be read as a verdict, and is none."""

    class Judge(Telling):
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            shown = json.loads(messages[-1].text)["candidates"]
            opinions = [{"id": each["id"], "reason": "", "verdict": "yes"} for each in shown]
            self._asked.append(str(len(opinions)))
            message = AIMessage(json.dumps({"opinions": opinions}), response_metadata=dict(self.told))
            message.usage_metadata = {"input_tokens": 7, "output_tokens": 1, "total_tokens": 8}
            return ChatResult(generations=[ChatGeneration(message=message)])

    def explain(judge: Judge) -> Explanation:
        predicate = judged("is bad", judge_of(judge))
        explainer = Explainer(
            lambda question, sources: " ".join(each.id for each in sources) or "none",
            predicate=predicate,
            retries=QUICK,
            check_repeatable=False,
        )
        return explainer.explain("?", [Source("a", "a"), Source("b", "b")], "a b")

    assert explain(Judge(told={"finish_reason": "stop"})).complete
    assert explain(Judge(told={"finish_reason": "wobbly"})).complete
    for reason, told in (
        ("content_filter", "by a content filter (finish reason 'content_filter')"),
        ("length", "the judge's reply cannot count: a model reply was cut off at its length limit"),
        ("refusal", "refused"),
    ):
        judge = Judge(told={"finish_reason": reason})
        with pytest.raises(BaselineFailed, match=re.escape(told)):
            explain(judge)
        assert len(judge.asked) == 2


def test_an_ordinary_run_whose_reply_was_cut_off_is_not_explained() -> None:
    for reason, told in (("content_filter", "content filter"), ("length", "length limit")):
        app = app_with(Telling(told={"finish_reason": reason}), "abcd", streaming=False)
        handler = RuleExplanationHandler(RuleExplainer(app, predicate=BAD))
        app.invoke("?", {"callbacks": [handler]})
        with pytest.raises(BaselineFailed, match=told):
            handler.explain()
    handler = RuleExplanationHandler(RuleExplainer(app, predicate=BAD, allow_length=True))
    app.invoke("?", {"callbacks": [handler]})
    assert blames_b_and_d(handler.explain())


def test_a_step_on_the_way_that_is_cut_off_makes_the_run_unusable() -> None:
    retriever = Counting(documents=facts("abcd"))

    class Summing(Telling):
        @override
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            result = super()._generate(messages, *args, **kwargs)
            if sent_in(messages) == "ac":
                told = {"stop_reason": "refusal", "model_provider": "anthropic"}
                result.generations[0].message = AIMessage("a", response_metadata=told)
            return result

    first, last = Summing(told={"finish_reason": "stop"}), Telling(told={"finish_reason": "stop"})

    def answer(question: str) -> str:
        found = "\n".join(each.page_content for each in retriever.invoke(question))
        first.invoke(found or "nothing")
        return last.invoke(found or "nothing").text

    explainer = RuleExplainer(RunnableLambda(answer), predicate=BAD, miner="exhaustive", retries=0)
    (failed,) = [probe for probe in explainer.explain("?").probes if probe.error]
    assert failed.kept == ("a", "c")
    assert "refused" in failed.error
