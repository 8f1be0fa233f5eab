"""Functions of the user's that judge answers by the OpenAI client, whose replies are cut off."""

from collections.abc import Iterator
from typing import Any

import pytest
from openai import OpenAI
from plain_rag_rule_explainer import RuleExplainer

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
from tests.integrations.plain.models import client_of
from tests.integrations.plain.zoo.shapes import Index, shown, user
from tests.support.completions import Completion
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.waits


def script(body: dict[str, Any]) -> Any:
    """The name of the model says how the judge's reply on the spoilt answer ends."""
    text = str(body["messages"][-1]["content"])
    if "Is this bad?" not in text:
        return f"[seen: {shown_in(text)}]"
    return Completion(opinion(text), body["model"] if SPOILT in text else "stop")


@pytest.fixture(scope="module")
def client() -> Iterator[OpenAI]:
    with OpenAIServer(script) as server, client_of(server.base_url) as client:
        yield client


def asking(client: OpenAI, end: str, *, stream: bool = False) -> Ask:
    def ask(prompt: str) -> str:
        reply: Any = client.chat.completions.create(model=end, messages=user(prompt), stream=stream)
        if stream:
            return "".join(each.choices[0].delta.content or "" for each in reply if each.choices)
        return reply.choices[0].message.content

    return ask


def explaining(client: OpenAI) -> Any:
    index = Index("abd")

    def answer(question: str) -> str:
        messages = user(shown(index.search(question)))
        reply = client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content or ""

    def explain(predicate: Any, **settings: Any) -> Explanation:
        return RuleExplainer(answer, predicate=predicate, **settings).explain("why?")

    return explain


@pytest.mark.parametrize(
    ("kind", "stream", "end", "why"),
    [
        ("function", False, "length", "length limit"),
        ("function", True, "content_filter", "content filter"),
        ("class", False, "content_filter", "content filter"),
        ("judge", False, "length", "length limit"),
        ("async", True, "length", "length limit"),
    ],
)
def test_a_reply_that_is_cut_off_is_no_verdict(
    client: OpenAI, kind: str, stream: bool, end: str, why: str
) -> None:
    check_cut_off(explaining(client), asking(client, end, stream=stream), kind, why)


def test_a_reply_that_is_cut_off_at_its_limit_counts_if_the_user_says_so(client: OpenAI) -> None:
    check_accepted(explaining(client), asking(client, "length"), "function")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("kind", KINDS)
def test_whole_replies_are_judged_as_ever(client: OpenAI, kind: str) -> None:
    check_whole(explaining(client), asking(client, "stop"), kind)
