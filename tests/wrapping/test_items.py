"""Reading what a search of the user's own found."""

from types import SimpleNamespace
from typing import Any

import pytest

from rag_rule_explainer import InvalidInput, Source
from rag_rule_explainer.wrapping.brought import as_items
from rag_rule_explainer.wrapping.identity import Retrieved, sources_of
from rag_rule_explainer.wrapping.items import items_in, read, result_like


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("a text", Retrieved("a text")),
        ({"id": 7, "snippet": "s", "rank": 1}, Retrieved("s", "7", {"rank": 1})),
        ({"content": "c"}, Retrieved("c")),
        (SimpleNamespace(text="t", body="b"), Retrieved("t")),
    ],
)
def test_items_of_every_known_kind_are_read(item: Any, expected: Retrieved) -> None:
    assert read(item) == expected


def test_items_of_other_kinds_need_a_reader() -> None:
    with pytest.raises(InvalidInput, match="text_of="):
        read(7)
    assert read(7, lambda item: f"number {item}") == Retrieved("number 7")


def test_a_result_is_a_list_or_one_alone_or_nothing() -> None:
    assert list(items_in(["a", "b"])) == ["a", "b"]
    assert list(items_in("ab")) == ["ab"]
    assert list(items_in(None)) == []
    assert result_like(["a", "b"], ["x"]) == ["a", "b"]
    assert result_like(["a", "b"], "x") == "a\n\nb"


def lifted(told: object) -> Retrieved | None:
    return told if isinstance(told, Retrieved) else None


def brought(*given: Any) -> list[Retrieved]:
    return as_items(given, lifted, lambda batches: sources_of(batches), "Retrieved")


def test_documents_may_be_brought_in_any_form() -> None:
    assert brought("a", Source("s", "b"), {"text": "c"}, {"id": 4, "text": "d", "title": "T"}) == [
        Retrieved("a", "D1"),
        Retrieved("b", "s"),
        Retrieved("c", "D3"),
        Retrieved("d", "4", {"title": "T"}),
    ]
    with pytest.raises(InvalidInput, match="document 2 is a float; pass a Retrieved, or its text"):
        brought("a", 0.5)
    with pytest.raises(InvalidInput, match="the id of document 1 is \\[\\]"):
        brought({"id": [], "text": "a"})
