"""Functions of the user's that judge answers by LlamaIndex LLMs, whose replies are cut off."""

from typing import Any

import pytest
from llama_index.core.llms import ChatMessage
from llama_index_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation
from tests.integrations.cut_judges import (
    KINDS,
    SPOILT,
    Ask,
    check_accepted,
    check_cut_off,
    check_whole,
    opinion,
)
from tests.integrations.known import shown_in
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling

WAYS: dict[str, Any] = {
    "complete": lambda llm, prompt: llm.complete(prompt).text,
    "chat": lambda llm, prompt: llm.chat([ChatMessage(prompt)]).message.content,
    "stream": lambda llm, prompt: list(llm.stream_chat([ChatMessage(prompt)]))[-1].message.content,
}


def asking(way: str, end: str = "stop") -> Ask:
    """Asks the judge's LLM, whose reply on the spoilt answer ends so."""
    whole, cut = (Telling(says=opinion, told={"finish_reason": each}) for each in ("stop", end))
    return lambda prompt: WAYS[way](cut if SPOILT in prompt else whole, prompt)


def explained(predicate: Any, **settings: Any) -> Explanation:
    llm = Telling(says=lambda prompt: f"[seen: {shown_in(prompt)}]", told={"finish_reason": "stop"})
    engine = engine_of(retriever_of(), llm)
    return RuleExplainer(
        engine, predicate=predicate, answer_without_sources="[seen: ]", **settings
    ).explain("?")


@pytest.mark.parametrize(
    ("kind", "way", "end", "why"),
    [
        ("function", "complete", "length", "length limit"),
        ("function", "stream", "content_filter", "content filter"),
        ("class", "chat", "SAFETY", "content filter"),
        ("judge", "chat", "refusal", "refused"),
        ("async", "complete", "max_tokens", "length limit"),
    ],
)
def test_a_reply_that_is_cut_off_is_no_verdict(kind: str, way: str, end: str, why: str) -> None:
    check_cut_off(explained, asking(way, end), kind, why)


def test_a_reply_that_is_cut_off_at_its_limit_counts_if_the_user_says_so() -> None:
    check_accepted(explained, asking("chat", "length"), "judge")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("kind", KINDS)
def test_whole_replies_are_judged_as_ever(kind: str) -> None:
    check_whole(explained, asking("chat"), kind)
