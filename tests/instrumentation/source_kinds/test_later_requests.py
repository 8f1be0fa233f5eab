"""Parts of the first prompt that a later request holds in part, in another form, or not at all."""

from collections.abc import Sequence
from itertools import combinations

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


FIRST = PromptSources.of(conversation(*TURNS, ASKED), as_turn("turns"), ["turns"], "remove")


def sent(
    kept: Sequence[str], *said: tuple[str, str], replies: Sequence[str] = ()
) -> tuple[list[str | None], list[str]]:
    doubts = list[str]()
    editing = omitting(FIRST, kept, doubt=doubts.append, said=replies, given=[RESULT[1]])
    return list(editing.edited(conversation(*said))), doubts


@pytest.mark.parametrize("first", range(5))
def test_what_is_left_of_an_omitted_turn_is_removed(first: int) -> None:
    """An application that keeps the last messages drops the oldest first, also within a turn."""
    said = [*TURNS, ASKED, CALL, RESULT][first:]
    for size in range(3):
        for kept in combinations(["turn 1", "turn 2"], size):
            left, doubts = sent(kept, *said)
            gone = [turn for n, turn in enumerate(TURNS) if f"turn {n // 2 + 1}" not in kept]
            assert [text for text in left if text is not None] == [
                text for role, text in said if (role, text) not in gone
            ]
            assert not doubts


@pytest.mark.parametrize(
    "said",
    [
        [("user", "Where..."), ("assistant", "At zz2q."), *TURNS[2:], ASKED],
        [("user", "Earlier: At zz2q."), ASKED],
        [("system", "Be kind."), ("user", "Where is it? At zz2q. And who? zz4q. What is new?")],
        [*TURNS[:2], *TURNS, ASKED],
        [("assistant", "I said: at ZZ2Q"), *TURNS[2:], ASKED, CALL, RESULT],
        [("customer", "Where is it?"), ("clerk", "At zz2q."), ("customer", "What is new?")],
        [("user", "Where i"), ("assistant", "At zz2q"), ("user", "What is"), CALL, RESULT],
        [("system", "Known so far: zz2q."), ASKED, CALL, RESULT],
        [("user", "Known so far: zz2q. What is new?"), CALL, RESULT],
        [ASKED, CALL, ("tool", "Nothing. Known so far: zz2q.")],
    ],
)
def test_another_form_of_an_omitted_turn_leaves_no_verdict(said: list[tuple[str, str]]) -> None:
    _, doubts = sent(["turn 2"], *said)
    assert any("'turn 1'" in each for each in doubts) or not any(
        "zz2q" in (each or "").lower() for each in sent(["turn 2"], *said)[0]
    )
    assert sent(["turn 1", "turn 2"], *said)[1] == []


def test_a_summary_that_a_model_made_in_the_replay_is_no_other_form() -> None:
    summary = "Nobody knows where it is."
    said = [("user", f"Here is a summary: {summary}"), ASKED]
    assert sent([], *said, replies=[summary])[1] == []
    assert sent([], *said)[1] != []


def test_the_prompt_of_another_agent_is_no_other_form() -> None:
    said = [("system", "You find out where things are."), ("user", "Where is the weather fine?")]
    assert sent([], *said) == ([text for _, text in said], [])


def test_of_two_equal_turns_it_must_be_clear_which_is_left() -> None:
    twice = PromptSources.of(
        conversation(*TURNS[:2], *TURNS[:2], ASKED), as_turn("turns"), ["turns"], "remove"
    )
    later, doubts = conversation(*TURNS[:2], ASKED), list[str]()
    assert omitting(twice, []).edited(later) == [None, None, "What is new?"]
    assert omitting(twice, ["turn 1", "turn 2"]).edited(later) == [each.text for each in later]
    omitting(twice, ["turn 2"], doubt=doubts.append).edited(later)
    assert doubts


def test_what_two_omitted_turns_say_is_looked_for() -> None:
    twice = [
        ("user", "Is it 4711?"),
        ("assistant", "It is 4711."),
        ("user", "Sure?"),
        ("assistant", "4711!"),
    ]
    found = PromptSources.of(conversation(*twice, ASKED), as_turn("turns"), ["turns"], "remove")
    later, doubts = conversation(("system", "Known so far: 4711."), ASKED), list[str]()
    omitting(found, [], doubt=doubts.append).edited(later)
    assert doubts


@pytest.mark.parametrize(
    ("turn", "prompt"),
    [
        ("\u9000\u6b3e\u5728\u54ea\u91cc", "\u4f60\u5728\u8fd9\u91cc\u5e2e\u5fd9"),
        ("Wo ist er?", "Du findest, wo er ist."),
    ],
)
def test_characters_that_two_texts_share_are_no_sign(turn: str, prompt: str) -> None:
    said = [("user", turn), ("assistant", "Ok."), ("user", "Next?")]
    found = PromptSources.of(conversation(*said), as_turn("turns"), ["turns"], "remove")
    assert omitting(found, []).edited(conversation(("system", prompt), ("user", "So?")))[0] == prompt


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
def test_a_section_that_may_be_there_in_another_form_leaves_no_verdict(later: str) -> None:
    first = conversation(("system", STATE.format(1) + TONE), ASKED)
    found, doubts = PromptSources.of(first, as_turn("turns"), ["instructions"], "remove"), list[str]()
    omitting(found, ["instructions: Tone"], doubt=doubts.append).edited(
        conversation(("system", later), ASKED)
    )
    assert any("'instructions: State' in another form" in each for each in doubts)


WORDS = st.sampled_from(["yes", "no", "at noon", "zz2q", "who"])
CHANGES = st.sampled_from(["as it is", "gone", "shortened", "quoted"])


@given(
    st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4), st.lists(CHANGES, min_size=8, max_size=8)
)
def test_a_word_of_an_omitted_turn_is_gone_or_there_is_no_verdict(
    said: list[tuple[str, str]], changes: list[str]
) -> None:
    """Whatever the application does to the messages: a word that one turn alone has is not sent without
    it, unless there is no verdict."""
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
        doubts = list[str]()
        kept = [each.id for each in found.sources if each is not omitted]
        texts = omitting(found, kept, doubt=doubts.append).edited([*later, asked])
        own = set(omitted.text.split()).difference(
            *(each.text.split() for each in found.sources if each is not omitted)
        )
        assert doubts or own.isdisjoint(" ".join(each or "" for each in texts).replace(".", "").split())
