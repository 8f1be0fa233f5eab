"""Turns and sections of requests, omitted as a naive reading of whole conversations would."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.instrumentation.source_kinds.kinds import SourceKind
from rag_rule_explainer.instrumentation.source_kinds.prompt_sections import PromptMessage
from rag_rule_explainer.instrumentation.source_kinds.prompt_sources import FirstPrompt, PromptSources
from tests.instrumentation.source_kinds.omitting import omitting

WORDS = st.sampled_from(["yes", "no", "what"])
TURN = st.tuples(WORDS, st.lists(st.tuples(st.sampled_from(["assistant", "tool"]), WORDS), max_size=3))


def as_turn(kind: Any) -> Callable[[Sequence[str]], SourceKind]:
    def kind_of(_: Sequence[str]) -> SourceKind:
        return kind

    return kind_of


def spoken(turns: list[Any]) -> list[list[PromptMessage]]:
    return [
        [PromptMessage("user", said), *(PromptMessage(*each) for each in after)] for said, after in turns
    ]


@given(st.lists(TURN, max_size=5), st.data())
def test_turns(turns: list[Any], data: Any) -> None:
    groups, asked = spoken(turns), PromptMessage("user", "so?")
    messages = [PromptMessage("system", "be kind"), *(m for group in groups for m in group), asked]
    found = PromptSources.of(messages, as_turn("turns"), ["turns"], "remove")
    whole = [group for group in groups if any(m.role == "assistant" for m in group)]
    assert [each.id for each in found.sources] == [f"turn {n}" for n in range(1, len(whole) + 1)]
    kept = {each.id for each in found.sources if data.draw(st.booleans())}
    told = list[str]()

    def deliver(ids: Collection[str], _recorded: bool) -> None:
        told.extend(ids)

    sent = omitting(found, kept, deliver).edited(messages)
    left = [each for each, text in zip(messages, sent, strict=True) if text is not None]
    omitted = [group for n, group in enumerate(whole, start=1) if f"turn {n}" not in kept]
    assert len(left) == len(messages) - sum(map(len, omitted))
    assert left[0] == messages[0]
    assert left[-1] == asked
    assert sorted(told) == sorted(kept)
    rest = [each for each in left if each.role == "user"]
    assert len(rest) == 1 + len(groups) - len(omitted)


SYSTEM = "Be kind.\n# Tone\nNo slang.\n## Refunds\nTwenty days.\n"
TAGGED = "Be kind.\n<tone>\nNo slang.\n</tone>\n<refunds>Twenty days.</refunds>\nBye."


@pytest.mark.parametrize(
    ("system", "names", "without"),
    [
        (SYSTEM, ["Tone", "Refunds"], "Be kind.\n## Refunds\nTwenty days.\n"),
        (TAGGED, ["tone", "refunds"], "Be kind.\n<refunds>Twenty days.</refunds>\nBye."),
        ("# Same\nOne.\n# Same\nTwo.\n", ["Same", "Same (2)"], "# Same\nTwo.\n"),
        (
            "# A\n```sh\n# no heading\n~~~\n```\n## B\n~~~~\n# none\n~~~\n~~~~\n# C\n``` # D\n# E\n",
            ["A", "B", "C"],
            "## B\n~~~~\n# none\n~~~\n~~~~\n# C\n``` # D\n# E\n",
        ),
        ("# A\n```a``` is code.\n# B\n", ["A", "B"], "# B\n"),
        ("# A\n```\n<tone>\n</tone>\n```\n# B\n", ["A", "B"], "# B\n"),
        ("<a>\n```\n</a>\n```\n</a>\n<b>B</b>\n", ["a", "b"], "<b>B</b>\n"),
        (
            "# X (2)\n1\n# X\n2\n# X\n3\n",
            ["X (2)", "X", "X (3)"],
            "# X\n2\n# X\n3\n",
        ),
        ("# A\x1b[2J\u202eB\n1\n# C\n2\n", ["A\\x1b[2J\\u202eB", "C"], "# C\n2\n"),
    ],
)
def test_sections(system: str, names: list[str], without: str) -> None:
    messages = [PromptMessage("developer", system), PromptMessage("user", "so?")]
    found = PromptSources.of(messages, as_turn("turns"), ["instructions"], "remove")
    ids = [each.id for each in found.sources]
    assert ids == [f"instructions: {name}" for name in names]
    sent = omitting(found, ids[1:]).edited(messages)
    assert sent == [without, "so?"]
    assert omitting(found, ids).edited(messages) == [system, "so?"]


@given(
    st.lists(st.text("ab \t\x07\u202e", min_size=1, max_size=300), min_size=1, max_size=6),
    st.integers(0, 200),
)
def test_ids_of_sections_are_short_printable_and_unique(headings: list[str], size: int) -> None:
    text = "".join(f"# {'x' * size}{each}\n" for each in headings)
    found = PromptSources.of(
        [PromptMessage("system", text)], as_turn("turns"), ["instructions"], "remove"
    )
    ids = [each.id for each in found.sources]
    assert len(set(ids)) == len(ids)
    assert all(each.isprintable() and len(each) <= 100 for each in ids)
    assert "".join(each.text for each in found.sources) in text


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("omit", ["remove", "blank"])
def test_instructions_in_the_middle_stay_where_they_are(role: str, omit: Any) -> None:
    said = [("user", "a"), (role, "Be brief."), ("assistant", "b"), (role, "# Now\nGo."), ("user", "c")]
    messages = [PromptMessage(*each) for each in said]
    found = PromptSources.of(messages, as_turn("turns"), ["turns"], omit)
    assert [(each.id, each.text) for each in found.sources] == [("turn 1", "a\nb")]
    gone = None if omit == "remove" else ""
    sent = [gone, "Be brief.", gone, "# Now\nGo.", "c"]
    assert omitting(found, []).edited(messages) == sent
    assert omitting(found, ["turn 1"]).edited(messages) == [text for _, text in said]
    both = PromptSources.of(messages, as_turn("turns"), ["turns", "instructions"], omit)
    assert [each.id for each in both.sources] == ["instructions", "instructions: Now", "turn 1"]
    assert omitting(both, ["instructions"]).edited(messages) == [*(gone, "Be brief.", gone, gone, "c")]


SECTIONS = st.lists(
    st.tuples(
        st.sampled_from(["#", "##"]), st.sampled_from(["A", "B"]), st.sampled_from(["x", "x y", "y"])
    ),
    min_size=1,
    max_size=5,
)


@given(SECTIONS, st.booleans(), st.sampled_from(["", "\nToday is Monday."]), st.data())
def test_a_section_is_cut_where_it_is(sections: list[Any], ends: bool, joined: str, data: Any) -> None:
    """Sections may be equal, or a part of another one, and the last may be joined with what changes."""
    texts = [f"{level} {name}\n{text}\n" for level, name, text in sections]
    if not ends:
        texts[-1] = texts[-1].rstrip("\n")
    user = PromptMessage("user", "so?")
    first = [PromptMessage("system", "".join(texts)), user]
    found = PromptSources.of(first, as_turn("turns"), ["instructions"], "remove")
    assert [each.text for each in found.sources] == texts
    kept = [each.id for each in found.sources if data.draw(st.booleans())]
    sent = omitting(found, kept).edited([PromptMessage("system", "".join(texts) + joined), user])
    left = "".join(each.text for each in found.sources if each.id in kept) + joined
    assert (sent[0] or "") == left


def test_instructions_without_marks_are_one() -> None:
    messages = [PromptMessage("system", "Be kind."), PromptMessage("user", "so?")]
    found = PromptSources.of(messages, as_turn("turns"), ["instructions"], "remove")
    assert [each.id for each in found.sources] == ["instructions"]
    assert omitting(found, []).edited(messages) == [None, "so?"]
    blank = PromptSources.of(messages, as_turn("turns"), ["instructions"], "blank")
    assert omitting(blank, []).edited(messages) == ["", "so?"]


@pytest.mark.parametrize("kind", ["turns", "memory", "examples"])
def test_kinds_that_are_not_wanted_are_no_sources(kind: SourceKind) -> None:
    messages = [PromptMessage(*each) for each in (("user", "a"), ("assistant", "b"), ("user", "c"))]
    others: Any = {"turns", "memory", "examples"} - {kind}
    assert PromptSources.of(messages, as_turn(kind), others, "remove").sources == ()
    assert len(PromptSources.of(messages, as_turn(kind), [kind], "remove").sources) == 1


def test_the_first_request_alone_is_recorded() -> None:
    prompt, first = FirstPrompt(), [PromptMessage("user", "a")]
    assert prompt.edited(first) == ["a"]
    assert prompt.edited([PromptMessage("user", "b")]) == ["b"]
    assert prompt.messages == tuple(first)
