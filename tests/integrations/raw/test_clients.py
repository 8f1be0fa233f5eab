"""Known rules through ``gate``, with the real clients of stores and searches, sync and async.

Clients are imported by the tests that use them: no other test is to wait for that.
"""

import asyncio
import socket
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.clients import (
    chroma,
    elasticsearch,
    faiss,
    opensearch,
    qdrant,
    tavily,
)
from tests.integrations.known import TEXTS, blames_b_and_d, ids
from tests.integrations.raw.applications import FRAMEWORKS, GATES, Shown, aexplained, explained
from tests.integrations.raw.recorded import recorded_server

pytestmark = pytest.mark.filterwarnings("ignore")

WHY = [1.0, 0.5]
"""The vector of the question."""
VECTORS = {name: [1.0, place / 10] for place, name in enumerate(TEXTS)}
FAST = [("langchain", True), ("llama_index", False)]
BOTH = [
    pytest.param(*each, marks=[] if each in FAST else [pytest.mark.slow])
    for each in [(framework, named) for framework in FRAMEWORKS for named in (False, True)]
]
EACH = [FRAMEWORKS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in FRAMEWORKS[1:])]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (list(TEXTS.values())[:2], "it was given 2 texts"),
        (dict(enumerate(list(TEXTS.values())[:2])), "it was given 2 texts"),
        ({0: "x"}.get, "dict.get returned None for it"),
    ],
)
def test_an_index_of_faiss_with_fewer_texts_than_vectors(texts: Any, said: str, index: Any) -> None:
    search = GATES["langchain"](index.search, items_of=faiss(texts))
    with pytest.raises(InvalidInput, match=rf"vector \d, and faiss has no text of that .{said}"):
        explained("langchain", lambda _: search(np.array([WHY], dtype="float32"), 4), lambda _: [])


@pytest.fixture(scope="module")
def collection() -> Any:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
    made = client.create_collection("facts", embedding_function=None)
    made.add(
        ids=list(TEXTS),
        documents=list(TEXTS.values()),
        embeddings=list(VECTORS.values()),
        metadatas=[{"page": place} for place in range(len(TEXTS))],
    )
    return made


def of_chroma(found: Any) -> list[str]:
    assert len(found["documents"]) == len(found["ids"]) == len(found["distances"]) == 1
    pairs = list(zip(found["ids"][0], found["documents"][0], found["distances"][0], strict=True))
    assert all(TEXTS[name] == text for name, text, _ in pairs)
    return [text for _, text, _ in pairs]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(("framework", "named"), BOTH)
def test_a_collection_of_chroma(framework: str, named: bool, collection: Any) -> None:
    query = GATES[framework](collection.query, **({"items_of": chroma} if named else {}))
    explanation = explained(framework, lambda _: query(query_embeddings=[WHY], n_results=4), of_chroma)
    assert blames_b_and_d(explanation)
    assert sorted(ids(explanation)) == list(TEXTS)


@pytest.mark.parametrize("framework", EACH)
async def test_an_async_collection_of_chroma(framework: str, collection: Any) -> None:
    """As ``AsyncCollection`` has it: its own needs a server, see below."""

    class AsyncCollection:
        async def query(self, **asked: Any) -> Any:
            return await asyncio.to_thread(collection.query, **asked)

    query = GATES[framework](AsyncCollection().query)
    explanation = await aexplained(
        framework, lambda _: query(query_embeddings=[WHY], n_results=4), of_chroma
    )
    assert blames_b_and_d(explanation)


@pytest.fixture(scope="module")
def points() -> list[Any]:
    from qdrant_client import models

    return [
        models.PointStruct(id=place, vector=VECTORS[name], payload={"text": text, "title": name})
        for place, (name, text) in enumerate(TEXTS.items())
    ]


def settings() -> Any:
    from qdrant_client import models

    return models.VectorParams(size=2, distance=models.Distance.COSINE)


@pytest.fixture(scope="module")
def client(points: list[Any]) -> Generator[Any, None, None]:
    from qdrant_client import QdrantClient

    made = QdrantClient(":memory:")
    made.create_collection("facts", vectors_config=settings())
    made.upsert("facts", points)
    yield made
    made.close()


def of_qdrant(found: Any) -> list[str]:
    from qdrant_client.http.models import QueryResponse

    assert isinstance(found, QueryResponse)
    return [point.payload["text"] for point in found.points if point.payload]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(("framework", "named"), BOTH)
def test_points_of_qdrant(framework: str, named: bool, client: Any) -> None:
    query = GATES[framework](client.query_points, **({"items_of": qdrant} if named else {}))
    explanation = explained(framework, lambda _: query("facts", query=WHY, limit=4), of_qdrant)
    assert retention_of(explanation) == {frozenset({TEXTS["b"], TEXTS["d"]})}
    assert sorted(ids(explanation)) == ["0", "1", "2", "3"]


def retention_of(explanation: Any) -> set[frozenset[str]]:
    """Retention rules by the texts of their sources."""
    texts = {source.id: source.text for source in explanation.sources}
    assert explanation.ended
    return {frozenset(texts[each] for each in rule.sources) for rule in explanation.retention_rules}


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_an_async_client_of_qdrant(framework: str, points: list[Any]) -> None:
    from qdrant_client import AsyncQdrantClient

    client = AsyncQdrantClient(":memory:")
    await client.create_collection("facts", vectors_config=settings())
    await client.upsert("facts", points)
    query = GATES[framework](client.query_points)
    explanation = await aexplained(framework, lambda _: query("facts", query=WHY, limit=4), of_qdrant)
    assert retention_of(explanation) == {frozenset({TEXTS["b"], TEXTS["d"]})}
    await client.close()


@pytest.fixture(scope="module")
def index() -> Any:
    from faiss import IndexFlatIP

    made: Any = IndexFlatIP(2)
    made.add(np.array(list(VECTORS.values()), dtype="float32"))
    return made


NAMES = list(TEXTS)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_index_of_faiss(framework: str, index: Any) -> None:
    search = GATES[framework](
        index.search, items_of=faiss([{"id": n, "text": t} for n, t in TEXTS.items()])
    )

    def shown(found: Any) -> list[str]:
        similarities, places = found
        assert similarities.shape == places.shape
        return [TEXTS[NAMES[place]] for place in places[0]]

    asked = np.array([WHY], dtype="float32")
    explanation = explained(framework, lambda _: search(asked, 4), shown)
    assert blames_b_and_d(explanation)
    assert sorted(ids(explanation)) == NAMES


@pytest.fixture(scope="module")
def server() -> Generator[tuple[str, list[str]], None, None]:
    requests: list[str] = []
    with recorded_server(requests) as url:
        yield url, requests


def of_hits(found: Any) -> list[str]:
    # Three more match in the index than are returned.
    assert found["hits"]["total"]["value"] == len(found["hits"]["hits"]) + 3
    return [hit["_source"]["text"] for hit in found["hits"]["hits"]]


def of_results(found: Any) -> list[str]:
    return [each["content"] for each in found["results"]]


def client_of(kind: str, url: str, *, awaited: bool) -> Any:
    if kind == "elasticsearch":
        from elasticsearch import AsyncElasticsearch, Elasticsearch

        return AsyncElasticsearch(url) if awaited else Elasticsearch(url)
    if kind == "opensearch":
        from opensearchpy import AsyncOpenSearch, OpenSearch

        return AsyncOpenSearch(url) if awaited else OpenSearch(url)
    from tavily import AsyncTavilyClient, TavilyClient

    client = AsyncTavilyClient if awaited else TavilyClient
    return client(api_key="key", api_base_url=url)


SEARCHES: dict[str, tuple[Shown, Any]] = {
    "elasticsearch": (of_hits, elasticsearch),
    "opensearch": (of_hits, opensearch),
    "tavily": (of_results, tavily),
}


def asking(kind: str, search: Any) -> Callable[[str], Any]:
    if kind == "tavily":
        return search
    return lambda question: search(index="facts", body={"query": {"match": {"text": question}}})


@pytest.mark.waits
@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize(("framework", "named"), BOTH)
def test_a_search_over_http(
    kind: str, framework: str, named: bool, server: tuple[str, list[str]]
) -> None:
    url, requests = server
    shown, items_of = SEARCHES[kind]
    client = client_of(kind, url, awaited=False)
    requests.clear()
    search = GATES[framework](client.search, **({"items_of": items_of} if named else {}))
    assert blames_b_and_d(explained(framework, asking(kind, search), shown))
    assert len(requests) == 1


@pytest.mark.waits
@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("framework", EACH)
async def test_an_async_search_over_http(
    kind: str, framework: str, server: tuple[str, list[str]]
) -> None:
    url, requests = server
    shown, _ = SEARCHES[kind]
    client = client_of(kind, url, awaited=True)
    requests.clear()
    search = GATES[framework](client.search)
    assert blames_b_and_d(await aexplained(framework, asking(kind, search), shown))
    assert len(requests) == 1
    if hasattr(client, "close"):
        await client.close()


@pytest.mark.waits
def test_a_client_as_a_whole_is_gated_where_its_search_has_that_name(
    server: tuple[str, list[str]],
) -> None:
    url, _ = server
    for awaited in (False, True):
        gated = GATES["langchain"](client_of("elasticsearch", url, awaited=awaited))
        searching = asking("elasticsearch", gated.search)
        if awaited:

            async def explain(searching: Any = searching, gated: Any = gated) -> Any:
                explanation = await aexplained("langchain", searching, of_hits)
                await gated.close()
                return explanation

            assert blames_b_and_d(asyncio.run(explain()))
        else:
            assert blames_b_and_d(explained("langchain", searching, of_hits))


def test_a_client_whose_searches_have_names_of_their_own_is_refused(collection: Any, client: Any) -> None:
    with pytest.raises(InvalidInput, match=r"such as gate\(client.query\)"):
        GATES["langchain"](collection)
    with pytest.raises(InvalidInput, match=r"such as gate\(client.query_points\)"):
        GATES["langchain"](client)


def kept_of(search: Any, kept: str, *args: Any, **kwargs: Any) -> Any:
    """What a replay is given that is to see just some documents."""
    given: list[Any] = []

    def shown(found: Any) -> list[str]:
        given.append(found)
        return [text for text in TEXTS.values() if text in str(found)]

    gated = GATES["langchain"](search)
    explanation = explained("langchain", lambda _: gated(*args, **kwargs), shown, miner="exhaustive")
    assert retention_of(explanation) == {frozenset({TEXTS["b"], TEXTS["d"]})}
    wanted = {TEXTS[name] for name in kept}
    return next(
        each for each in given if {text for text in TEXTS.values() if text in str(each)} == wanted
    )


def test_other_requests_of_a_collection_of_chroma(collection: Any) -> None:
    asked = {"query_embeddings": [WHY, WHY[::-1]], "n_results": 3}
    assert collection.query(**asked)["ids"] == [["d", "c", "b"], ["d", "c", "b"]]
    found = kept_of(collection.query, "bd", **asked)
    assert found["ids"] == [["d", "b"], ["d", "b"]]
    assert found["distances"] == [[row[0], row[2]] for row in collection.query(**asked)["distances"]]
    included = ["documents", "metadatas", "embeddings"]
    got = kept_of(collection.get, "ad", ids=list(TEXTS), include=included)
    real = collection.get(ids=["a", "d"], include=included)
    assert {**got, "embeddings": got["embeddings"].tolist()} == {
        **real,
        "embeddings": real["embeddings"].tolist(),
    }


def test_other_requests_of_qdrant(client: Any) -> None:
    from qdrant_client import models

    requests = [models.QueryRequest(query=WHY, limit=limit, with_payload=True) for limit in (2, 4)]
    batch = kept_of(client.query_batch_points, "ad", "facts", requests=requests)
    assert [[point.id for point in each.points] for each in batch] == [[3], [3, 0]]
    grouped: Any = {"query": WHY, "group_by": "title", "limit": 4}
    groups = kept_of(client.query_points_groups, "bc", "facts", **grouped)
    assert [group.id for group in groups.groups] == ["c", "b"]
    points, offset = kept_of(client.scroll, "b", "facts", limit=4)
    assert ([point.id for point in points], offset) == ([1], None)
    retrieved = kept_of(client.retrieve, "ab", "facts", ids=[0, 1, 2, 3])
    assert retrieved == client.retrieve("facts", ids=[0, 1])


@pytest.mark.waits
@pytest.mark.slow
async def test_an_async_client_of_a_real_server_of_chroma(tmp_path: Path) -> None:
    import chromadb

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    chroma_run = [str(Path(sys.executable).with_name("chroma")), "run", "--port", str(port)]
    process = await asyncio.create_subprocess_exec(
        *chroma_run, "--host", "127.0.0.1", "--path", str(tmp_path), stdout=PIPE, stderr=STDOUT
    )
    try:
        client = await connected_to(chromadb, port, process)
        collection = await client.create_collection("facts", embedding_function=None)
        await collection.add(ids=NAMES, documents=list(TEXTS.values()), embeddings=list(VECTORS.values()))
        for framework in FRAMEWORKS:
            query = GATES[framework](collection.query)
            explanation = await aexplained(
                framework, lambda _, query=query: query(query_embeddings=[WHY], n_results=4), of_chroma
            )
            assert blames_b_and_d(explanation)
    finally:
        process.terminate()
        await process.wait()


async def connected_to(chromadb: Any, port: int, process: Any) -> Any:
    """A client, as soon as the server takes connections, which it says a moment before it does."""
    async for line in process.stdout:
        if b"listening" in line:
            break
    while process.returncode is None:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            continue
        writer.close()
        return await chromadb.AsyncHttpClient(host="127.0.0.1", port=port)
    raise RuntimeError("the server of Chroma does not start")
