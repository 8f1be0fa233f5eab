"""What identifies a source, and where it is found."""

import pytest

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.requests.marks import SourceMarks, may_be_a_mark


@pytest.mark.parametrize("text", ["Price list", "Handbook", "handbook.pdf", "D1", "4711", "價格"])
def test_names_ids_and_figures_tell(text: str) -> None:
    assert may_be_a_mark(text)


@pytest.mark.parametrize("text", ["", "a", "web", "en", "12", "2024", "--"])
def test_any_word_and_any_year_tell_nothing(text: str) -> None:
    assert not may_be_a_mark(text)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Read so far: HANDBOOK, price list", "Handbook"),
        ("in docs/handbook.pdf", "handbook.pdf"),
        ("by Marie Curie", "Marie Curie"),
        ("at most 4200 euros", "4200"),
        ("so: they may be returned within a month", "they may be returned within"),
    ],
)
def test_a_source_is_found_by_its_metadata_and_by_telling_parts_of_its_text(line: str, text: str) -> None:
    metadata = {"title": "Handbook", "source": "/srv/docs/handbook.pdf"}
    marks = SourceMarks(
        [
            Source(
                "x",
                "It costs 4,200 euros, says Marie Curie. They may be returned within a month.",
                metadata,
            )
        ]
    )
    assert text in {found.mark.text for found in marks.found_in(line)}


def test_common_words_are_no_marks() -> None:
    marks = SourceMarks([Source("x", "It costs 12 euros, and may be returned.", {"lang": "en"})])
    assert not marks.found_in("It may be returned in 12 days, en bloc")
