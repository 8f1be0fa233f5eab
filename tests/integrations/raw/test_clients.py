"""Known rules through ``gate``, with the real clients of stores and searches, sync and async.

Clients are imported by the tests that use them: no other test is to wait for that.
"""

import asyncio
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest

from rag_rule_explainer.clients import chroma, elasticsearch, faiss, opensearch, qdrant, tavily
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


@pytest.mark.parametrize(("framework", "named"), BOTH)
def test_a_collection_of_chroma(framework: str, named: bool, collection: Any) -> None:
    query = GATES[framework](collection.query, **({"items_of": chroma} if named else {}))
    explanation = explained(framework, lambda _: query(query_embeddings=[WHY], n_results=4), of_chroma)
    assert blames_b_and_d(explanation)
    assert sorted(ids(explanation)) == list(TEXTS)


@pytest.mark.parametrize("framework", FRAMEWORKS)
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


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("framework", FRAMEWORKS)
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
