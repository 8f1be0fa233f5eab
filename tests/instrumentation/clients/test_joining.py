"""Texts that were joined of several are taken apart where the pieces are alike, and only there."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_rule_explainer.instrumentation.clients.joining import taken_apart
from rag_rule_explainer.sources.given import Given

DOCUMENTS = [
    Given("Amber is resin.", "a", {"source": "amber.txt", "page": 3}),
    Given("Basalt is lava.\n\nIt cools.", "b", {"source": "basalt.txt", "page": 1}),
    Given("Copper turns green.", "c", {"source": "copper.txt", "page": 2}),
]
NAMED = ["", "source", "page", "/id", "/metadata"]
WORDS = st.text(alphabet="-#: \n", max_size=3)


@settings(max_examples=50)
@given(
    before=WORDS,
    after=WORDS,
    separator=WORDS,
    named=st.sampled_from(["", "source", "page", "/id", "/metadata"]),
)
def test_pieces_that_are_alike_are_found(before: str, after: str, separator: str, named: str) -> None:
    def piece(each: Given) -> str:
        told: dict[str, Any] = {"": "", "/id": each.id, "/metadata": each.metadata, **each.metadata}
        return f"{before}{told[named]} {each.text}{after}"

    joined = taken_apart(separator.join(map(piece, DOCUMENTS)), DOCUMENTS)
    assert joined is not None
    assert separator.join(joined.pieces) == joined.separator.join(joined.pieces)
    assert [each.strip() for each in joined.pieces] == [piece(each).strip() for each in DOCUMENTS]
    kept = joined.separator.join(joined.pieces[::2])
    assert kept.strip() == separator.join(map(piece, DOCUMENTS[::2])).strip()


A, B, C = (each.text for each in DOCUMENTS)


@pytest.mark.parametrize(
    "content",
    [
        f"{A}\n{B}\n\n{C}",
        f"Three documents: {A}, {B}, {C}",
        f"{A}\n{B}\n{C}\nThat is all.",
        f"1. {A}\n2. {B}\n3. {C}",
        f"(amber.txt) {A}\n(amber.txt) {B}\n(amber.txt) {C}",
        f"{C}\n{B}\n{A}",
        f"{A}\n{B}",
        "",
    ],
)
def test_what_was_made_otherwise_is_not_taken_apart(content: str) -> None:
    assert taken_apart(content, DOCUMENTS) is None


def test_a_document_without_a_text_is_nowhere() -> None:
    assert taken_apart(f"{A}\n\n", [DOCUMENTS[0], Given(" ", "blank", {})]) is None
    assert taken_apart("Nothing of it.", DOCUMENTS[:1]) is None
    alone = taken_apart(f"Found: {A}!", DOCUMENTS[:1])
    assert alone is not None
    assert alone.pieces == (f"Found: {A}!",)
