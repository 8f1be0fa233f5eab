"""Requests of replays that get recorded replies, compared with those that had these replies."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.requests.exchanges import Exchanges
from rag_rule_explainer.instrumentation.requests.volatile import Steady
from rag_rule_explainer.instrumentation.source_kinds.asked_models import BesideTexts, SentRequest
from rag_rule_explainer.instrumentation.source_kinds.lacking_texts import lacks_only
from rag_rule_explainer.instrumentation.source_kinds.prompt_sections import PromptMessage
from rag_rule_explainer.instrumentation.source_kinds.prompt_sources import FirstPrompt
from rag_rule_explainer.instrumentation.source_kinds.recorded_requests import RecordedRequests
from rag_rule_explainer.instrumentation.source_kinds.whole_messages import whole_of

SERVED = ["It rains.", "It pours."]


def asked(*texts: str) -> list[PromptMessage]:
    return [PromptMessage("user", each) for each in texts]


def whole(messages: Sequence[PromptMessage]) -> list[str | None]:
    return [None if each.text == "gone" else each.text for each in messages]


def recording(*requests: list[PromptMessage], served: Sequence[str] = ()) -> RecordedRequests:
    return RecordedRequests([SentRequest(0, tuple(each)) for each in requests], Steady(), served)


def are_others(recorded: RecordedRequests, *requests: list[PromptMessage]) -> list[bool]:
    return [recorded.fault(each, whole(each), whole) is not None for each in requests]


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
    recorded = recording(asked("gone", "So? It pours."), served=SERVED)
    assert are_others(recorded, sent, asked("new")) == [is_another, False]


@pytest.mark.parametrize(
    ("was", "sent"), [("-1", "1"), ("a < b", "a > b"), ("Yes!", "Yes?"), ("\U0001f44d", "\U0001f44e")]
)
def test_requests_that_differ_in_a_sign_are_others(was: str, sent: str) -> None:
    recorded = recording(*[asked(was)] * 2, served=SERVED)
    assert are_others(recorded, asked(was), asked(sent)) == [False, True]


def test_lists_of_served_sources_may_lack_some() -> None:
    was = asked("Of these:\n- It rains.\n- It pours.\nWhat?")
    recorded = recording(*[was] * 4, served=SERVED)
    left = [f"Of these:\n{each}What?" for each in ("- It pours.\n", "- It rains.\n", "")]
    assert are_others(recorded, *map(asked, [*left, "Of those:\nWhat?"])) == [False, False, False, True]


def test_replies_are_given_by_place_so_requests_in_another_order_are_others() -> None:
    requests = [asked("One?"), asked("Two?")]
    assert are_others(recording(*requests), *requests) == [False, False]
    assert are_others(recording(*requests), *reversed(requests)) == [True, True]
    assert are_others(recording(*requests), requests[0], requests[0]) == [False, True]


def test_times_that_differ_although_nothing_is_omitted_have_no_meaning() -> None:
    """A place where they are always equal is compared: there they may have one."""
    was = asked("At 10:00 for 12:30")
    varying = recording(was)
    varying.note_whole(asked("At 10:01 for 12:30"))
    for text, is_fault in [("At 10:02 for 12:30", False), ("At 10:00 for 12:31", True)]:
        recorded = recording(was)
        recorded.varying = varying.varying
        fault = recorded.fault(asked(text), whole(asked(text)), whole)
        assert (fault is not None and not fault.is_sure) == is_fault


def test_results_of_tools_may_lack_sources() -> None:
    """A text of the application's own as a result is compared."""
    was = [*asked("Go"), PromptMessage("tool", '[{"text": "It rains."}]')]
    for left, known, is_other in [("[]", ["[]"], False), ("nothing", ["[]"], True)]:
        recorded = recording(was, served=SERVED)
        recorded.results = lambda known=known: [was[1].text, *known]
        sent = [was[0], PromptMessage("tool", left)]
        assert are_others(recorded, sent) == [is_other]


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
    found = prompt.requests_of([each for each in exchanges if each.request.text != "Two?"])
    assert [each.messages for each in found] == [tuple(asked(each)) for each in ("One?", "Three?")]


CACHED: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}


def marked(place: int | None, *texts: str) -> BesideTexts:
    """Returns the messages with these texts; the one at ``place`` is marked for a provider's cache."""
    told = (
        {"role": "user", "content": [{"type": "text", "text": each, **CACHED}] if at == place else each}
        for at, each in enumerate(texts)
    )
    return BesideTexts(None, list(map(whole_of, told)))


@pytest.mark.parametrize(("place", "is_another"), [(1, False), (0, False), (None, True)])
def test_marks_for_a_cache_may_be_at_another_message(place: int | None, *, is_another: bool) -> None:
    texts = ["So?", "And?"]
    known = SentRequest(0, tuple(asked(*texts)), tuple(marked(1, *texts).whole))
    recorded = RecordedRequests([known], Steady())
    fault = recorded.fault(asked(*texts), texts, whole, marked(place, *texts))
    assert (fault is not None) == is_another


def test_a_mark_that_no_recorded_message_has_is_another_request() -> None:
    known = SentRequest(0, tuple(asked("So?")), tuple(marked(None, "So?").whole))
    recorded = RecordedRequests([known], Steady())
    assert recorded.fault(asked("So?"), ["So?"], whole, marked(0, "So?")) is not None


@pytest.mark.parametrize(("is_noted", "is_another"), [(True, False), (False, True)])
def test_a_field_that_differs_with_all_sources_has_no_meaning(
    *, is_noted: bool, is_another: bool
) -> None:
    texts, more = asked("So?"), ['{"header X": "k", "body": 1}', '{"header X": "q", "body": 1}']
    requests = [SentRequest(0, tuple(texts), more=more[0])]
    recorded = RecordedRequests(requests, Steady())
    if is_noted:
        recorded.note_whole(texts, BesideTexts(more=more[1]))
    replay = replace(recorded, _made=0)
    fault = replay.fault(texts, ["So?"], whole, BesideTexts(more='{"header X": "z", "body": 1}'))
    assert (fault is not None) == is_another
    replay = replace(recorded, _made=0)
    assert replay.fault(texts, ["So?"], whole, BesideTexts(more='{"header X": "z", "body": 2}'))


@pytest.mark.parametrize(
    ("now", "is_same"),
    [
        ("1. It rains.", True),
        ("1. It pours.", True),
        ("1. It  rains.", False),
        ("1. It rains!", False),
        ("It rains.", False),
        ("1. It rains.\n2. It pours.", False),
        ("1. It rains. Note it.", False),
    ],
)
def test_a_result_in_the_form_of_the_application_lacks_only_what_is_omitted(
    now: str, *, is_same: bool
) -> None:
    omitted = ['{"of": "It pours."}' if "rains" in now else '{"of": "It rains."}']
    assert lacks_only("1. It rains.\n2. It pours.", now, omitted) == is_same


def test_digits_of_an_id_are_no_time() -> None:
    identity = "6f7a572e-039b-4242-88f0-db1964545259"
    assert Steady().volatile_in(f"id {identity}") == [identity]
