"""What each client returns beside the ordinary, and what nobody can know."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.clients import (
    Client,
    ItemsOf,
    chroma,
    elasticsearch,
    faiss,
    mcp_content,
    pgvector,
    qdrant,
    tavily,
)
from rag_rule_explainer.instrumentation.clients.recognising import recognised
from rag_rule_explainer.instrumentation.searches.items import ItemReading


def texts_and_ids(response: Any, client: Client | None = None) -> list[tuple[str, str | None]]:
    parts = ItemReading(client).parts(response)
    assert parts is not None
    return [(text.text, text.id) for text, _ in parts]


def put(response: Any, *places: int, client: Client | None = None) -> Any:
    """What is put together of the items at these places."""
    reading = ItemReading(client)
    parts = reading.parts(response)
    assert parts is not None
    return reading.result([parts[place][1] for place in places], reading.form(response))


def point(identity: Any, text: str) -> Any:
    return SimpleNamespace(id=identity, payload={"text": text}, score=0.5)


def nested(depth: int) -> Any:
    held: Any = []
    for _ in range(depth):
        held = [held]
    return held


@pytest.mark.parametrize(
    "response",
    [
        {"ids": "ab", "documents": ["x", "y"]},
        {"ids": [["a"]]},
        {"hits": 3},
        {"hits": {"hits": ["a", 2]}},
        {"responses": "none"},
        {"results": [1, 2], "response_time": 1},
        {"results": [], "best": "none"},
        {"points": 4},
        SimpleNamespace(points=["a"]),
        SimpleNamespace(content="a text", isError=False),
        SimpleNamespace(content=["a"], isError=False),
        SimpleNamespace(content=[SimpleNamespace(type="text", text="a")], role="assistant"),
        nested(100_000),
        np.zeros((2, 2)),
        b"bytes",
        7,
        ["a", point(1, "b")],
    ],
    ids=lambda response: str(response)[:40] if not isinstance(response, list) else "a list",
)
def test_what_only_looks_like_a_response_is_none(response: Any) -> None:
    assert recognised(response) is None


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(InvalidInput, match="2 ids, and 1 documents"):
        ItemReading().parts({"ids": [["a", "b"]], "documents": [["x"]]})


@pytest.mark.parametrize(
    "response",
    [
        {"ids": [["a"]], "documents": [[None]]},
        {"ids": [["a"]], "documents": None, "distances": [[0.5]]},
        SimpleNamespace(points=[SimpleNamespace(id=1, payload=None)]),
        SimpleNamespace(points=[point(1, "t"), SimpleNamespace(id=1, payload={"a": "x", "b": "y"})]),
        {"hits": {"hits": [{"_id": "a"}]}},
        SimpleNamespace(content=[SimpleNamespace(type="image", data="", mimeType="")], isError=False),
    ],
)
def test_an_item_without_a_text_names_text_of(response: Any) -> None:
    with pytest.raises(InvalidInput, match=r"no text that is known as one.*text_of="):
        ItemReading().parts(response)
    parts = ItemReading(text_of=lambda _: "told").parts(response)
    assert parts is not None
    assert {text.text for text, _ in parts} == {"told"}


def test_a_response_of_somebody_elses_says_what_to_pass() -> None:
    with pytest.raises(InvalidInput, match=r"returned a dict, which items_of=Chroma\(\) does not know"):
        ItemReading(chroma).parts({"hits": {"hits": []}})
    with pytest.raises(InvalidInput, match=r"items_of=faiss\(texts\)"):
        ItemReading().parts((np.zeros((1, 2)), np.zeros((1, 2), dtype="int64")))
    no_response = ItemReading(qdrant)
    with pytest.raises(InvalidInput, match="add_documents="):
        no_response.result(["a document"], ())
    with pytest.raises(InvalidInput, match="item_of="):
        no_response.result(["a document"], no_response.form(SimpleNamespace(points=[])))


def test_the_same_id_twice_is_kept_as_it_came() -> None:
    response = {"ids": [["a", "a", 3]], "documents": [["x", "y", "z"]]}
    assert texts_and_ids(response) == [("x", "a"), ("y", "a"), ("z", "3")]
    assert put(response, 1) == {"ids": [["a"]], "documents": [["y"]]}


def test_groups_without_points_are_left_out_and_a_page_keeps_its_offset() -> None:
    groups = SimpleNamespace(
        groups=[
            SimpleNamespace(id="g", hits=[point(1, "x"), point(2, "y")]),
            SimpleNamespace(id="h", hits=[point(3, "z")]),
        ]
    )
    assert [text for text, _ in texts_and_ids(groups)] == ["x", "y", "z"]
    assert [(each.id, len(each.hits)) for each in put(groups, 1).groups] == [("g", 1)]
    page = [point(1, "x"), point(2, "y")], 3
    points, offset = put(page, 1)
    assert ([each.id for each in points], offset) == ([2], 3)
    assert [each.id for each in put([point(1, "x"), point(2, "y")], 0)] == [1]
    assert put(([], None), client=qdrant) == ([], None)


@pytest.mark.parametrize(
    ("total", "left"),
    [
        ({"value": 9, "relation": "eq"}, {"value": 8, "relation": "eq"}),
        ({"value": 10_000, "relation": "gte"}, {"value": 10_000, "relation": "gte"}),
        (2, 1),
        (None, None),
        ("many", "many"),
    ],
)
def test_the_total_is_what_a_server_without_the_other_hits_would_say(total: Any, left: Any) -> None:
    hits = [
        {"_id": "a", "_score": 2.0, "_source": {"text": "x"}},
        {"_id": "b", "_score": 1.0, "fields": {"text": ["y"]}},
    ]
    response = {"hits": {"total": total, "max_score": 2.0, "hits": hits}, "aggregations": {"n": 2}}
    assert texts_and_ids(response) == [("x", "a"), ("y", "b")]
    made = put(response, 1)
    assert made["hits"] == {"total": left, "max_score": 1.0, "hits": hits[1:]}
    assert put(response)["hits"]["max_score"] is None


def test_of_several_searches_one_may_have_failed() -> None:
    hit = {"_id": "a", "_score": None, "_source": {"title": "t", "body": "x"}}
    response = {
        "responses": [
            {"error": {"type": "e"}, "status": 404},
            {"hits": {"max_score": None, "hits": [hit]}},
        ]
    }
    assert texts_and_ids(response) == [("x", "a")]
    assert put(response, 0) == response
    assert put(response)["responses"] == [
        response["responses"][0],
        {"hits": {"max_score": None, "hits": []}},
    ]


def test_an_answer_of_tavilys_own_is_a_source_as_well() -> None:
    results = [{"url": "u", "title": "T", "content": "part", "raw_content": "the whole page"}]
    response = {"query": "?", "answer": "All in all.", "results": results, "response_time": 1.0}
    assert texts_and_ids(response) == [("the whole page", None), ("All in all.", "answer")]
    assert (put(response, 0)["answer"], put(response, 0)["results"]) == (None, results)
    assert (put(response, 1)["answer"], put(response, 1)["results"]) == ("All in all.", [])


def content(*blocks: Any, structured: Any = None) -> Any:
    return SimpleNamespace(content=list(blocks), structuredContent=structured, isError=False)


def text(said: str, **more: Any) -> Any:
    return SimpleNamespace(type="text", text=said, **more)


def test_content_blocks_of_all_kinds() -> None:
    resource = SimpleNamespace(uri="file:///a", text="x")
    response = content(
        SimpleNamespace(type="resource", resource=resource),
        SimpleNamespace(type="resource_link", uri="file:///b", name="b", description="what b is"),
        text("y", meta={"id": "c"}),
        text('{"id": "d", "text": "z"}'),
        text('{"neither": 1, "nor": 2}'),
        {"type": "text", "text": "w", "id": 5},
    )
    assert texts_and_ids(response) == [
        ("x", "file:///a"),
        ("what b is", "file:///b"),
        ("y", "c"),
        ("z", "d"),
        ('{"neither": 1, "nor": 2}', None),
        ("w", "5"),
    ]
    assert len(put(response, 0, 3).content) == 2


def test_structured_content_is_cut_as_the_blocks_are_or_refused() -> None:
    aligned = content(text("x"), text("y"), structured={"result": [1, 2], "n": 2})
    assert put(aligned, 1).structuredContent == {"result": [2], "n": 2}
    whole = content(text("x y"), structured={"answer": {"x": 1}})
    assert (put(whole, 0).structuredContent, put(whole).structuredContent) == ({"answer": {"x": 1}}, None)
    for structured in ({"result": [1]}, {"a": [1, 2], "b": [3, 4]}, {"x": 1}):
        with pytest.raises(InvalidInput, match="not about its content blocks one by one"):
            ItemReading().parts(content(text("x"), text("y"), structured=structured))


def test_places_where_faiss_found_nothing_are_none_and_rows_are_filled_up() -> None:
    distances = np.array([[0.25, 0.5, 3e38], [0.1, 0.2, 0.3]], dtype="float32")
    places = np.array([[4, 2, -1], [2, 0, 1]], dtype="int64")
    client = faiss({0: "a", 1: "b", 2: {"id": "c", "text": "x"}, 4: "d"})
    assert texts_and_ids((distances, places), client) == [
        ("d", "4"),
        ("x", "c"),
        ("x", "c"),
        ("a", "0"),
        ("b", "1"),
    ]
    made = put((distances, places), 1, 2, 3, client=client)
    assert made[1].tolist() == [[2, -1], [2, 0]]
    assert made[0][0, 1] == np.finfo("float32").max
    # An index of two vectors, asked for four: what filled up its result stays as well.
    few = np.array([[0.25, 0.5, 3e38, 3e38]], dtype="float32"), np.array([[4, 2, -1, -1]])
    assert put(few, 0, 1, client=client)[1].tolist() == few[1].tolist()
    assert put(few, 1, client=client)[1].tolist() == [[2, -1, -1]]
    assert put(few, client=client)[1].tolist() == [[-1, -1]]
    vectors = np.array([[[0, 1], [2, 3], [4, 5]]] * 2, dtype="float32")
    *_, kept = put((distances, places, vectors), 1, client=client)
    assert kept.shape == (2, 1, 2)
    assert kept[0, 0].tolist() == [2, 3]
    with pytest.raises(InvalidInput, match="give it the texts of all vectors"):
        ItemReading(faiss(["a"])).parts((distances, places))
    called = faiss(lambda place: f"number {place}")
    assert texts_and_ids((distances[:1], places[:1]), called)[0] == ("number 4", "4")


class Chunk(NamedTuple):
    """A row whose columns have names."""

    id: int
    title: str
    content: str
    embedding: Any


@pytest.mark.parametrize(
    ("rows", "client", "identity"),
    [
        ([(7, "x", [0.5, 1.0], 0.25)], pgvector, None),
        ([(7, "T", "x", "[0.5, 1]")], pgvector(text=2, id=0), "7"),
        ([Chunk(7, "T", "x", "[0.5, 1]")], pgvector, "7"),
        ([Chunk(7, "T", "x", None)], pgvector(text=-2, id=0), "7"),
        ([{"doc_id": 7, "title": "T", "content": "x"}], pgvector, "7"),
        ([{"n": 7, "title": "T", "words": "x"}], pgvector(text="words", id="n"), "7"),
        (([7, "x"],), pgvector, None),
    ],
)
def test_rows_of_all_kinds(rows: Any, client: Client, identity: str | None) -> None:
    assert texts_and_ids(rows, client) == [("x", identity)]
    assert put(rows, 0, client=client) == rows
    assert put(rows, client=client) == type(rows)()


def test_rows_with_several_texts_name_the_way_out() -> None:
    with pytest.raises(InvalidInput, match="no text that is known as one"):
        ItemReading(pgvector).parts([(7, "a title", "a text")])
    with pytest.raises(InvalidInput, match="does not know"):
        ItemReading(pgvector).parts(SimpleNamespace(fetchall=list))


def test_a_client_of_ones_own() -> None:
    own = ItemsOf(lambda r: r["found"], lambda r, kept: {**r, "found": kept})
    response: dict[str, Any] = {"found": [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}], "took": 3}
    assert texts_and_ids(response, own) == [("x", "a"), ("y", "b")]
    assert put(response, 1, client=own) == {"found": [{"id": "b", "text": "y"}], "took": 3}
    made = put(response, 0, client=own)
    made["found"][0]["text"] = "changed"
    assert response["found"][0] == {"id": "a", "text": "x"}


def test_nothing_at_all_stays_nothing() -> None:
    for client in (chroma, qdrant, elasticsearch, tavily, mcp_content, pgvector, faiss([])):
        reading = ItemReading(client)
        assert reading.parts(None) == []
        assert reading.result([], reading.form(None)) is None
