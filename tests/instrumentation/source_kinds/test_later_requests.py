"""Parts of the first prompt that a later request holds in part, in another form, or not at all."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.instrumentation.source_kinds.prompt_sections import PromptMessage
from rag_rule_explainer.instrumentation.source_kinds.prompt_sources import PromptSources
from tests.instrumentation.source_kinds.omitting import omitting
from tests.instrumentation.source_kinds.test_prompt_sources import as_turn

TURNS = [("user", "Where is it?"), ("assistant", "At zz2q."), ("user", "And who?"), ("assistant", "zz4q")]
ASKED = ("user", "What is new?")
CALL, RESULT = ("assistant", ""), ("tool", "Rain came.")


def conversation(*said: tuple[str, str]) -> list[PromptMessage]:
    return [PromptMessage(*each) for each in said]


FIRST = replace(
    PromptSources.of(conversation(*TURNS, ASKED), as_turn("turns"), ["turns"], "remove"), held={}
)
"""Turns that are no data of the application, as examples are none."""


def sent(
    kept: Sequence[str], *said: tuple[str, str], replies: Sequence[str] = (), **options: Any
) -> tuple[list[str | None], list[str], list[str]]:
    """What is sent, why there is no verdict, and why nothing is proved."""
    doubts, notes = list[str](), list[str]()
    told: Any = {"doubt": doubts.append, "note": notes.append, "said": replies, "given": [RESULT[1]]}
    editing = omitting(FIRST, kept, **told, **options)
    return list(editing.edited(conversation(*said))), doubts, notes


@pytest.mark.parametrize("first", range(5))
def test_what_is_left_of_an_omitted_turn_is_removed(first: int) -> None:
    """An application that keeps the last messages drops the oldest first, also within a turn. What it
    would keep without the turn is not known, so nothing is proved."""
    said = [*TURNS, ASKED, CALL, RESULT][first:]
    for size in range(3):
        for kept in combinations(["turn 1", "turn 2"], size):
            left, doubts, notes = sent(kept, *said)
            gone = [turn for n, turn in enumerate(TURNS) if f"turn {n // 2 + 1}" not in kept]
            assert [text for text in left if text is not None] == [
                text for role, text in said if (role, text) not in gone
            ]
            assert not doubts
            is_whole = [each for each in TURNS if each not in gone] == [
                each for each in said[: len(TURNS) - first] if each not in gone
            ]
            assert bool(notes) is (size < 2 and not is_whole)


@pytest.mark.parametrize(
    "said",
    [
        [("user", "Earlier: Where is it? At zz2q."), ASKED],
        [("user", "Where is it? At zz2q. And who? zz4q. What is new?")],
        [*TURNS[:2], *TURNS, ASKED],
        [("assistant", "I said: where is it"), *TURNS[2:], ASKED, CALL, RESULT],
    ],
)
def test_the_whole_text_of_an_omitted_turn_leaves_no_verdict(said: list[tuple[str, str]]) -> None:
    assert any("'turn 1'" in each for each in sent(["turn 2"], *said)[1])
    assert sent(["turn 1", "turn 2"], *said)[1:] == ([], [])


@pytest.mark.parametrize(
    "said",
    [
        [("user", "Where..."), ("assistant", "At zz2q."), *TURNS[2:], ASKED],
        [("user", "Earlier: it"), ASKED],
        [("customer", "Where is it?"), ("clerk", "At zz2q."), ("customer", "What is new?")],
        [("system", "Zz."), *TURNS[2:], ASKED, CALL, RESULT],
        [*TURNS[2:], ASKED, CALL, RESULT, ("tool", "2")],
        [*TURNS[2:], ASKED, ("developer", "!")],
        [*TURNS[2:], ("user", "What is new? (it)"), CALL, RESULT],
        [*TURNS[2:], ASKED, CALL, ("tool", "Rain came. It.")],
        [ASKED],
        [ASKED, *TURNS[2:]],
        [*TURNS[2:], ASKED, ASKED],
    ],
)
def test_anything_else_that_the_application_writes_is_not_proved(said: list[tuple[str, str]]) -> None:
    _, doubts, notes = sent(["turn 2"], *said)
    assert doubts or any("'turn 1' could only be left out of requests" in each for each in notes)
    assert sent(["turn 1", "turn 2"], *said)[1:] == ([], [])


@pytest.mark.parametrize(
    "after",
    [
        [],
        [CALL, RESULT],
        [CALL, RESULT, CALL, RESULT],
        [("assistant", "It rains.")],
        [("assistant", "It rains.\nRain came.")],
        [("user", "Observation: Rain came.")],
        [("assistant", ""), ("tool", " Rain  came. ")],
    ],
)
def test_replies_and_results_of_tools_are_no_texts_of_the_application(
    after: list[tuple[str, str]],
) -> None:
    for kept in ([], ["turn 1"], ["turn 2"]):
        said = [*TURNS, ASKED, *after]
        assert sent(kept, *said, replies=["It rains."])[1:] == ([], [])


def test_a_text_that_the_user_names_is_proved() -> None:
    said = [("system", "You find out where it is."), ASKED, ("user", "Go on.")]
    assert len(sent([], *said)[2]) == 3
    (left,) = sent([], *said, ignore=["You find.*"])[2]
    assert "'Go on.'" in left
    assert sent([], *said, ignore=["You find.*", "Go on"])[2]
    assert not sent([], *said, ignore=["You find.*", r"Go on\."])[2]


def test_of_two_equal_turns_it_must_be_clear_which_is_left() -> None:
    twice = PromptSources.of(
        conversation(*TURNS[:2], *TURNS[:2], ASKED), as_turn("turns"), ["turns"], "remove"
    )
    later, doubts = conversation(*TURNS[:2], ASKED), list[str]()
    assert omitting(twice, []).edited(later) == [None, None, "What is new?"]
    assert omitting(twice, ["turn 1", "turn 2"]).edited(later) == [each.text for each in later]
    omitting(twice, ["turn 2"], doubt=doubts.append).edited(later)
    assert doubts


STATE = "# State\nYou have read {} messages, zz2q.\n"
TONE = "# Tone\nBe kind to all people here.\n"


@pytest.mark.parametrize(
    ("first", "later", "left"),
    [
        (STATE.format(1) + TONE, STATE.format(3) + TONE, TONE),
        (TONE + STATE.format(1), TONE + "# State\nNow: something else, zz2q.", TONE),
        (
            "You have read 1 of all the messages, zz2q.",
            "You have read 3 of all the messages, zz2q.",
            None,
        ),
        ("# Step 1 of 9\nThe word is zz2q.\n" + TONE, "# Step 2 of 9\nThe word is zz2q.\n" + TONE, TONE),
    ],
)
def test_a_section_whose_text_has_changed_is_cut_too(first: str, later: str, left: str | None) -> None:
    found = PromptSources.of(
        conversation(("system", first), ASKED), as_turn("turns"), ["instructions"], "remove"
    )
    changing = [each.id for each in found.sources if "zz2q" not in each.text]
    request = conversation(("system", later), ASKED)
    assert omitting(found, changing).edited(request)[0] == left
    everything = [each.id for each in found.sources]
    assert omitting(found, everything).edited(request)[0] == later


@pytest.mark.parametrize(
    "later",
    [
        "# State\nYou are another agent.",
        f"{TONE}# Reminder\nSay zz2q.",
        "<now>\nzz2q\n</now>",
        "You have read all messages, and are told again that it is zz2q.",
        f"{STATE.format(3)}{TONE}# Again\nIt is zz2q.",
    ],
)
def test_with_a_section_that_may_be_there_in_another_form_nothing_is_proved(later: str) -> None:
    first = conversation(("system", STATE.format(1) + TONE), ASKED)
    found, told = PromptSources.of(first, as_turn("turns"), ["instructions"], "remove"), list[str]()
    omitting(found, ["instructions: Tone"], doubt=told.append, note=told.append).edited(
        conversation(("system", later), ASKED)
    )
    assert any("'instructions: State'" in each for each in told)


WORDS = st.sampled_from(["yes", "no", "at noon", "zz2q", "who"])
CHANGES = st.sampled_from(["as it is", "gone", "shortened", "quoted"])


@given(
    st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4), st.lists(CHANGES, min_size=8, max_size=8)
)
def test_a_word_of_an_omitted_turn_is_gone_or_nothing_is_proved(
    said: list[tuple[str, str]], changes: list[str]
) -> None:
    """Whatever the application does to the messages: a word that one turn alone has is not sent without
    it, unless nothing is proved."""
    turns = [PromptMessage(*each) for one, two in said for each in (("user", one), ("assistant", two))]
    asked = PromptMessage(*ASKED)
    found = PromptSources.of([*turns, asked], as_turn("turns"), ["turns"], "remove")
    forms = {"as it is": "{}", "shortened": "{}", "quoted": "They said: {}."}
    later = [
        each._replace(text=forms[change].format(each.text[:3] if change == "shortened" else each.text))
        for each, change in zip(turns, changes, strict=False)
        if change != "gone"
    ]
    for omitted in found.sources:
        told = list[str]()
        kept = [each.id for each in found.sources if each is not omitted]
        editing = omitting(found, kept, doubt=told.append, note=told.append)
        texts = editing.edited([*later, asked])
        own = set(omitted.text.split()).difference(
            *(each.text.split() for each in found.sources if each is not omitted)
        )
        assert told or own.isdisjoint(" ".join(each or "" for each in texts).replace(".", "").split())
