"""Responses of all clients, drawn, beside what they say of each item field by field."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from rag_rule_explainer.instrumentation.clients import (
    Client,
    chroma,
    elasticsearch,
    faiss,
    mcp_content,
    pgvector,
    qdrant,
    tavily,
)

Said = list[list[tuple[Any, ...]]]
"""Of each query, what a response says of each item, in all of its fields."""

IDS = st.one_of(st.text(max_size=3), st.integers(), st.none(), st.uuids())
TEXTS = st.one_of(st.none(), st.text(max_size=4))
SCORES = st.floats(-5, 5, width=32)
METADATA = st.one_of(st.none(), st.dictionaries(st.text(max_size=2), st.integers(), max_size=2))
ROW = st.lists(st.tuples(IDS, TEXTS, SCORES, METADATA), max_size=4)
ROWS = st.lists(ROW, min_size=1, max_size=3)


@dataclass(frozen=True)
class Kind:
    """A client, how its responses are made of rows, and what one says field by field."""

    name: str
    client: Client
    make: Callable[[Sequence[Sequence[Any]]], Any]
    said: Callable[[Any], Said]
    several: bool = True


@dataclass
class Points:
    """As Qdrant returns them."""

    points: list[Any]


@dataclass
class Body:
    """As Elasticsearch puts them around a body."""

    body: dict[str, Any]
    meta: str = "meta"


def chroma_of(rows: Sequence[Sequence[Any]], included: Sequence[str], *, arrays: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "ids": [[each[0] for each in row] for row in rows],
        "documents": [[each[1] for each in row] for row in rows],
        "distances": [[each[2] for each in row] for row in rows],
        "metadatas": [[each[3] for each in row] for row in rows],
        "embeddings": [
            np.array([[each[2], 1] for each in row] or np.empty((0, 2)), dtype="float32")
            if arrays
            else [[each[2], 1] for each in row]
            for row in rows
        ],
        "uris": None,
        "data": None,
        "included": list(included),
    }
    return {name: each if name in {"ids", *included} else None for name, each in columns.items()} | {
        "included": list(included)
    }


def chroma_said(response: Any) -> Said:
    names = [name for name in response if name != "included" and response[name] is not None]
    assert all(len(response[name]) == len(response["ids"]) for name in names)
    return [
        [
            tuple(tuple(each.tolist()) if isinstance(each, np.ndarray) else each for each in item)
            for item in zip(*(response[name][place] for name in names), strict=True)
        ]
        for place in range(len(response["ids"]))
    ]


def flat(response: dict[str, Any]) -> dict[str, Any]:
    return {name: each if is_whole(name, each) else each[0] for name, each in response.items()}


def nested(response: dict[str, Any]) -> dict[str, Any]:
    return {name: each if is_whole(name, each) else [each] for name, each in response.items()}


def is_whole(name: str, each: Any) -> bool:
    return each is None or name == "included"


def points_of(row: Sequence[Any]) -> Points:
    return Points(
        [SimpleNamespace(id=i, payload={"text": t, "metadata": m}, score=s) for i, t, s, m in row]
    )


def points_said(response: Any) -> list[tuple[Any, ...]]:
    return [
        (each.id, each.payload["text"], each.score, each.payload["metadata"]) for each in response.points
    ]


def body_of(row: Sequence[Any]) -> dict[str, Any]:
    hits = [{"_id": i, "_score": s, "_source": {"text": t, "metadata": m}} for i, t, s, m in row]
    best = max((each[2] for each in row), default=None)
    return {
        "took": 1,
        "hits": {"total": {"value": 9, "relation": "eq"}, "max_score": best, "hits": hits},
    }


def hits_said(body: Any) -> list[tuple[Any, ...]]:
    hits = body["hits"]["hits"]
    assert body["hits"]["max_score"] == max((each["_score"] for each in hits), default=None)
    return [
        (each["_id"], each["_source"]["text"], each["_score"], each["_source"]["metadata"])
        for each in hits
    ]


def web_of(row: Sequence[Any]) -> dict[str, Any]:
    results = [{"url": i, "content": t, "score": s, "about": m} for i, t, s, m in row]
    return {"query": "?", "response_time": 1.5, "results": results, "answer": None}


def web_said(response: Any) -> list[tuple[Any, ...]]:
    return [(each["url"], each["content"], each["score"], each["about"]) for each in response["results"]]


def content_of(row: Sequence[Any], *, structured: bool) -> Any:
    told = {"result": [{"id": i, "about": m} for i, _, _, m in row]}
    return SimpleNamespace(
        content=[SimpleNamespace(type="text", text=t, meta={"id": i, "score": s}) for i, t, s, _ in row],
        structuredContent=told if structured else None,
        isError=False,
    )


def content_said(response: Any) -> list[tuple[Any, ...]]:
    blank: list[Any] = [None] * len(response.content)
    told: list[Any] = response.structuredContent["result"] if response.structuredContent else blank
    return [
        (block.meta["id"], block.text, block.meta["score"], each)
        for block, each in zip(response.content, told, strict=True)
    ]


def arrays_of(rows: Sequence[Sequence[Any]]) -> Any:
    width = max(map(len, rows))
    distances = np.full((len(rows), width), np.finfo("float32").max, dtype="float32")
    places = np.full((len(rows), width), -1, dtype="int64")
    for place, row in enumerate(rows):
        for column, each in enumerate(row):
            distances[place, column], places[place, column] = each[2], place * 10 + column
    return distances, places


def arrays_said(response: Any) -> Said:
    distances, places = response
    assert (distances.dtype, places.dtype) == (np.dtype("float32"), np.dtype("int64"))
    pairs = [zip(row, column, strict=True) for row, column in zip(places, distances, strict=True)]
    return [[(int(place), float(each)) for place, each in row if place >= 0] for row in pairs]


KINDS = (
    Kind(
        "chroma",
        chroma,
        lambda rows: chroma_of(rows, ["documents", "metadatas", "distances", "embeddings"], arrays=True),
        chroma_said,
    ),
    Kind(
        "chroma, not all included",
        chroma,
        lambda rows: chroma_of(rows, ["documents", "embeddings"], arrays=False),
        chroma_said,
    ),
    Kind(
        "chroma, read by id",
        chroma,
        lambda rows: flat(chroma_of(rows, ["documents", "metadatas"], arrays=True)),
        lambda found: chroma_said(nested(found)),
        several=False,
    ),
    Kind(
        "qdrant",
        qdrant,
        lambda rows: points_of(rows[0]),
        lambda found: [points_said(found)],
        several=False,
    ),
    Kind(
        "qdrant, a batch",
        qdrant,
        lambda rows: [points_of(row) for row in rows],
        lambda found: [points_said(each) for each in found],
    ),
    Kind(
        "elasticsearch",
        elasticsearch,
        lambda rows: Body(body_of(rows[0])),
        lambda found: [hits_said(found.body)],
        several=False,
    ),
    Kind(
        "opensearch, several",
        elasticsearch,
        lambda rows: {"took": 1, "responses": [body_of(row) for row in rows]},
        lambda found: [hits_said(each) for each in found["responses"]],
    ),
    Kind("tavily", tavily, lambda rows: web_of(rows[0]), lambda found: [web_said(found)], several=False),
    Kind(
        "mcp",
        mcp_content,
        lambda rows: content_of(rows[0], structured=False),
        lambda found: [content_said(found)],
        several=False,
    ),
    Kind(
        "mcp, structured",
        mcp_content,
        lambda rows: content_of(rows[0], structured=True),
        lambda found: [content_said(found)],
        several=False,
    ),
    Kind(
        "pgvector",
        pgvector,
        lambda rows: [tuple(each) for each in rows[0]],
        lambda found: [found],
        several=False,
    ),
    Kind("faiss", faiss([]), arrays_of, arrays_said),
)
