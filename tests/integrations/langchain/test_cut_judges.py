"""Functions of the user's that judge answers by LangChain models, whose replies are cut off."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

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
from tests.integrations.langchain.models import Telling, sent_in
from tests.integrations.langchain.test_endings import app_with

Asking = Callable[[Telling, str], str]


def streamed(model: Telling, prompt: str) -> str:
    return "".join(chunk.text for chunk in model.stream(prompt))


def in_a_chain(model: Telling, prompt: str) -> str:
    return (RunnableLambda(lambda given: [("human", given)]) | model).batch([prompt])[0].text


WAYS: dict[str, Asking] = {
    "invoke": lambda model, prompt: model.invoke(prompt).text,
    "stream": streamed,
    "chain": in_a_chain,
}


def says(messages: list[BaseMessage]) -> str:
    return opinion(messages[-1].text)


def asking(way: str, end: str = "stop") -> Ask:
    """Asks the judge's model, whose reply on the spoilt answer ends so."""
    whole, cut = (Telling(says=says, told={"finish_reason": each}) for each in ("stop", end))
    return lambda prompt: WAYS[way](cut if SPOILT in prompt else whole, prompt)


def explained(predicate: Any, **settings: Any) -> Explanation:
    model = Telling(says=lambda messages: f"[seen: {sent_in(messages)}]", told={"finish_reason": "stop"})
    app = app_with(model, "abd", streaming=False)
    return RuleExplainer(app, predicate=predicate, **settings).explain("?")


@pytest.mark.parametrize(
    ("kind", "way", "end", "why"),
    [
        ("function", "invoke", "length", "length limit"),
        ("function", "stream", "content_filter", "content filter"),
        ("class", "chain", "SAFETY", "content filter"),
        ("judge", "invoke", "refusal", "refused"),
        ("async", "invoke", "length", "length limit"),
    ],
)
def test_a_reply_that_is_cut_off_is_no_verdict(kind: str, way: str, end: str, why: str) -> None:
    check_cut_off(explained, asking(way, end), kind, why)


def test_a_reply_that_is_cut_off_at_its_limit_counts_if_the_user_says_so() -> None:
    check_accepted(explained, asking("invoke", "length"), "function")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("kind", KINDS)
def test_whole_replies_are_judged_as_ever(kind: str) -> None:
    check_whole(explained, asking("invoke"), kind)


def test_a_model_that_fails_is_no_verdict_and_one_that_replies_the_second_time_is() -> None:
    def breaks(_: list[BaseMessage]) -> str:
        raise ConnectionError("gone")

    broken, whole = Telling(says=breaks), asking("invoke")

    def no_if_it_fails(prompt: str) -> str:
        try:
            return broken.invoke(prompt).text if SPOILT in prompt else whole(prompt)
        except ConnectionError:
            return "yes"

    check_cut_off(explained, no_if_it_fails, "function", "a model failed, and none replied")

    def again_if_it_fails(prompt: str) -> str:
        try:
            return broken.invoke(prompt).text
        except ConnectionError:
            return whole(prompt)

    check_whole(explained, again_if_it_fails, "function")
