"""Requests of replays that get recorded replies, compared with those that had these replies."""

from collections.abc import Sequence

import pytest

from rag_rule_explainer.instrumentation.requests.exchanges import Exchanges
from rag_rule_explainer.instrumentation.requests.volatile import Steady
from rag_rule_explainer.instrumentation.source_kinds.prompt_sections import PromptMessage
from rag_rule_explainer.instrumentation.source_kinds.prompt_sources import FirstPrompt
from rag_rule_explainer.instrumentation.source_kinds.recorded_requests import RecordedRequests

SERVED = ["It rains.", "It pours."]


def asked(*texts: str) -> list[PromptMessage]:
    return [PromptMessage("user", each) for each in texts]


def whole(messages: Sequence[PromptMessage]) -> list[str | None]:
    return [None if each.text == "gone" else each.text for each in messages]


def are_others(recorded: RecordedRequests, *requests: list[PromptMessage]) -> list[bool]:
    return [recorded.is_another(each, whole(each), whole) for each in requests]


@pytest.mark.parametrize(
    ("sent", "is_another"),
    [
        (asked("So?"), False),
        (asked("So? It rains."), False),
        (asked("So?\n\n- It pours.\n"), False),
        (asked("And?"), True),
        (asked("So -1?"), True),
        (asked("So?", "So?"), True),
        ([PromptMessage("tool", "anything"), *asked("So?")], True),
    ],
)
def test_a_recorded_reply_is_one_to_the_request_that_had_it(
    sent: list[PromptMessage], *, is_another: bool
) -> None:
    recorded = RecordedRequests([asked("gone", "So? It pours.")], Steady(), SERVED)
    assert are_others(recorded, sent, asked("new")) == [is_another, False]


@pytest.mark.parametrize(
    ("was", "sent"), [("-1", "1"), ("a < b", "a > b"), ("Yes!", "Yes?"), ("\U0001f44d", "\U0001f44e")]
)
def test_requests_that_differ_in_a_sign_are_others(was: str, sent: str) -> None:
    recorded = RecordedRequests([asked(was)] * 2, Steady(), SERVED)
    assert are_others(recorded, asked(f" {was}\n"), asked(sent)) == [False, True]


def test_lists_of_served_sources_may_lack_some() -> None:
    was = asked("Of these:\n- It rains.\n- It pours.\nWhat?")
    recorded = RecordedRequests([was] * 4, Steady(), SERVED)
    left = [f"Of these:\n{each}What?" for each in ("- It pours.\n", "- It rains.\n", "")]
    assert are_others(recorded, *map(asked, [*left, "Of those:\nWhat?"])) == [False, False, False, True]


def test_replies_are_given_by_place_so_requests_in_another_order_are_others() -> None:
    requests = [asked("One?"), asked("Two?")]
    assert are_others(RecordedRequests(requests, Steady()), *requests) == [False, False]
    assert are_others(RecordedRequests(requests, Steady()), *reversed(requests)) == [True, True]
    assert are_others(RecordedRequests(requests, Steady()), requests[0], requests[0]) == [False, True]


def test_the_messages_of_requests_are_known_also_where_others_come_between() -> None:
    """Of requests at the same time, the texts tell which is which. A completion has no messages."""
    prompt, exchanges = FirstPrompt(), Exchanges()
    exchanges.ask("completion", "Go on", "")
    for each in ("One?", "Two?"):
        prompt.edited(asked(each))
    for each in ("One?", "Two?", "Go on"):
        exchanges.ask(each, each, "")
    prompt.edited(asked("Three?"))
    exchanges.ask("three", '"Three?"', "")
    found = prompt.messages_of([each for each in exchanges if each.request.text != "Two?"])
    assert found == [tuple(asked(each)) for each in ("One?", "Three?")]
