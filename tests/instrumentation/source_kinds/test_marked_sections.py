"""Tests which sections instructions with headings and tags have."""

from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.instrumentation.source_kinds.marked_sections import marked_sections

NAMES = st.sampled_from(["A", "B", "Long name"])
TAGS = st.sampled_from(["b", "rules", "x-y"])
LINES = st.lists(st.sampled_from(["Be kind.", "", "No #slang <b>.", "a < b > c"]), max_size=3)
INSIDE = st.lists(
    st.sampled_from(["Be kind.", "", "# No heading", "```\n</b>\n```", "<i>x</i>"]), max_size=3
)
BLOCKS = st.lists(
    st.one_of(
        st.tuples(st.just("heading"), NAMES, LINES),
        st.tuples(st.just("tag"), TAGS, INSIDE),
        st.tuples(st.just("text"), st.just(""), LINES),
        st.tuples(st.just("text"), st.just(""), st.just(["```", "# none", "<b>", "</b>", "```"])),
    ),
    max_size=6,
)
Block = tuple[str, str, list[str]]


def written(block: Block) -> str:
    kind, name, lines = block
    text = "".join(f"{each}\n" for each in lines)
    if kind == "heading":
        return f"# {name}\n{text}"
    return f"<{name}>\n{text}</{name}>\n" if kind == "tag" else text


def expected(blocks: list[Block]) -> list[tuple[str, str]]:
    """Returns the marks and the texts of the sections: a text belongs to the last heading."""
    found, heading = list[list[str]](), ""
    goes_on = False
    for block in blocks:
        kind, name, _ = block
        if kind == "heading":
            heading, goes_on = name, True
            found.append([name, written(block)])
        elif kind == "tag":
            goes_on = False
            found.append([name, written(block)])
        elif goes_on:
            found[-1][1] += written(block)
        elif heading:
            goes_on = True
            found.append([heading, written(block)])
    text = "".join(map(written, blocks))
    if not any(kind in ("heading", "tag") for kind, _, _ in blocks):
        found = [["", text]]
    return [(mark, part) for mark, part in found if part.strip()]


def sections_of(text: str) -> list[tuple[str, str]]:
    return [(mark, text[start:end]) for mark, start, end in marked_sections(text)]


@given(BLOCKS)
def test_headings_and_tags_are_found_beside_each_other(blocks: list[Block]) -> None:
    assert sections_of("".join(map(written, blocks))) == expected(blocks)


@given(
    st.lists(st.sampled_from(["# A", "\n", "<b>", "</b>", "x", " ", "```", "</c>", "<c>"]), max_size=24)
)
def test_sections_of_any_text_do_not_overlap(parts: list[str]) -> None:
    text, last = "".join(parts), 0
    for mark, start, end in marked_sections(text):
        assert last <= start < end <= len(text)
        assert text[start:end].strip()
        assert mark or (start, end) == (0, len(text))
        last = end


def test_a_small_tag_hides_no_heading() -> None:
    text = "Hello.\n# Refunds\nTwenty days.\n<b>Never</b> pay twice.\n# Tone\nNo slang.\n"
    assert sections_of(text) == [
        ("Refunds", "# Refunds\nTwenty days.\n"),
        ("b", "<b>Never</b> "),
        ("Refunds", "pay twice.\n"),
        ("Tone", "# Tone\nNo slang.\n"),
    ]
