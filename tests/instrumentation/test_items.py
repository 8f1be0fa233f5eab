"""Reading what a search of the user's own found."""

from types import SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import pytest

from rag_rule_explainer import InvalidInput, Source
from rag_rule_explainer.instrumentation.searches.identity import RetrievedText, sources_of
from rag_rule_explainer.instrumentation.searches.items import ItemReading
from rag_rule_explainer.instrumentation.searches.result_forms import form_of, items_in, result_like
from rag_rule_explainer.instrumentation.searches.users_documents import as_items

UUID_ID = UUID("12345678-1234-5678-1234-567812345678")


class Row(NamedTuple):
    """A row of a database, as drivers make it."""

    doc_id: str
    body: str
    page: int


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("a text", RetrievedText("a text")),
        ({"id": 7, "snippet": "s", "rank": 1}, RetrievedText("s", "7", {"rank": 1})),
        ({"content": "c"}, RetrievedText("c")),
        (
            {"text": "t", "metadata": {"source": "s.pdf"}, "n": 1},
            RetrievedText("t", None, {"n": 1, "source": "s.pdf"}),
        ),
        (SimpleNamespace(text="t", body="b"), RetrievedText("t")),
        (
            SimpleNamespace(text="t", id="i", metadata={"title": "T"}),
            RetrievedText("t", "i", {"title": "T"}),
        ),
        (SimpleNamespace(content="c", id=np.int64(3)), RetrievedText("c", "3")),
        (SimpleNamespace(content="c", id=UUID_ID), RetrievedText("c", str(UUID_ID))),
        (SimpleNamespace(content="c", id=True), RetrievedText("c")),
        (SimpleNamespace(content="c", id=lambda: "no id"), RetrievedText("c")),
        (SimpleNamespace(content="c", id=0.5, metadata="none"), RetrievedText("c")),
        (Row("r", "b", 4), RetrievedText("b", "r", {"page": 4})),
        (("the only text", 0.25), RetrievedText("the only text", None, {"1": 0.25})),
    ],
)
def test_items_of_every_known_kind_are_read(item: Any, expected: RetrievedText) -> None:
    assert ItemReading().read(item) == expected


@pytest.mark.parametrize(
    ("item", "name"),
    [
        (SimpleNamespace(text="t", id="i", metadata={"source": "s"}), "i"),
        ({"id": "i", "text": "t", "source": "s"}, "i"),
        ({"text": "t", "metadata": {"source": "s"}}, "s"),
        (SimpleNamespace(text="t", id=UUID_ID, metadata={"title": "T"}), "T"),
        ({"text": "t", "id": f"lc_{UUID_ID}", "url": "u"}, "u"),
    ],
)
def test_a_source_is_named_by_the_id_of_its_item_else_by_what_its_metadata_names_it(
    item: Any, name: str
) -> None:
    ((source,),) = sources_of([[ItemReading().read(item)]])
    assert source.id == name


@pytest.mark.parametrize("item", [7, {"page": 4}, ("one", "another"), {"id": "i", "source": "s"}, b"b"])
def test_items_of_other_kinds_need_a_reader(item: Any) -> None:
    with pytest.raises(InvalidInput, match="text_of="):
        ItemReading().read(item)
    assert ItemReading(text_of=lambda item: f"a {type(item).__name__}").read(item).text.startswith("a ")


def test_a_result_that_nobody_knows_needs_to_be_taken_apart() -> None:
    with pytest.raises(InvalidInput, match=r"items_of=.*chroma, qdrant, .*ItemsOf\(take_apart") as caught:
        ItemReading().read(SimpleNamespace(found=[]), whole=True)
    assert "a search returned a SimpleNamespace" in str(caught.value)
    unfit: Any = dict
    with pytest.raises(InvalidInput, match="does not take responses apart"):
        ItemReading(unfit)


def test_a_result_is_a_list_or_one_alone_or_nothing() -> None:
    assert list(items_in(["a", "b"])) == ["a", "b"]
    assert list(items_in("ab")) == ["ab"]
    assert list(items_in(None)) == []
    assert result_like(["a", "b"], form_of(["x"])) == ["a", "b"]
    assert result_like(["a", "b"], form_of("x")) == "a\n\nb"
    assert result_like([], form_of({"text": "x"})) is None


def lifted(told: object) -> RetrievedText | None:
    return told if isinstance(told, RetrievedText) else None


def brought(*given: Any) -> list[RetrievedText]:
    return as_items(given, lifted, lambda batches: sources_of(batches), "RetrievedText")


def test_documents_may_be_brought_in_any_form() -> None:
    assert brought("a", Source("s", "b"), {"text": "c"}, {"id": 4, "text": "d", "title": "T"}) == [
        RetrievedText("a", "D1"),
        RetrievedText("b", "s"),
        RetrievedText("c", "D3"),
        RetrievedText("d", "4", {"title": "T"}),
    ]
    with pytest.raises(InvalidInput, match="document 2 is a float; pass a RetrievedText, or its text"):
        brought("a", 0.5)
    with pytest.raises(InvalidInput, match="the id of document 1 is \\[\\]"):
        brought({"id": [], "text": "a"})


class Hits(list[str]):
    """A list as clients return it, which knows how many hits there are in all."""

    total = 0


def test_a_result_of_fewer_items_has_the_type_of_the_whole_one() -> None:
    hits = Hits(["one", "two"])
    hits.total = 12
    served = result_like(["two"], form_of(hits))
    assert (type(served), served, served.total) == (Hits, ["two"], 12)
    assert result_like(["two"], form_of(hits)) is not served
    assert result_like(["two"], form_of(("one", "two"))) == ("two",)
    assert hits == ["one", "two"]
