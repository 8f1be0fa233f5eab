"""Known rules through ``gate``, with the real clients of stores and searches, sync and async."""

import asyncio
from collections.abc import Callable, Generator
from typing import Any

import chromadb
import faiss as faiss_library
import numpy as np
import pytest
from chromadb.config import Settings
from elasticsearch import AsyncElasticsearch, Elasticsearch
from opensearchpy import AsyncOpenSearch, OpenSearch
from qdrant_client import AsyncQdrantClient, QdrantClient, models
from qdrant_client.http.models import QueryResponse
from tavily import AsyncTavilyClient, TavilyClient

from rag_rule_explainer.clients import chroma, elasticsearch, faiss, opensearch, qdrant, tavily
from tests.integrations.known import TEXTS, blames_b_and_d, ids
from tests.integrations.raw.applications import FRAMEWORKS, GATES, aexplained, explained
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
def points() -> list[models.PointStruct]:
    return [
        models.PointStruct(id=place, vector=VECTORS[name], payload={"text": text, "title": name})
        for place, (name, text) in enumerate(TEXTS.items())
    ]


PARAMETERS = models.VectorParams(size=2, distance=models.Distance.COSINE)


@pytest.fixture(scope="module")
def client(points: list[models.PointStruct]) -> Generator[QdrantClient, None, None]:
    made = QdrantClient(":memory:")
    made.create_collection("facts", vectors_config=PARAMETERS)
    made.upsert("facts", points)
    yield made
    made.close()


def of_qdrant(found: Any) -> list[str]:
    assert isinstance(found, QueryResponse)
    return [point.payload["text"] for point in found.points if point.payload]


@pytest.mark.parametrize(("framework", "named"), BOTH)
def test_points_of_qdrant(framework: str, named: bool, client: QdrantClient) -> None:
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
async def test_an_async_client_of_qdrant(framework: str, points: list[models.PointStruct]) -> None:
    client = AsyncQdrantClient(":memory:")
    await client.create_collection("facts", vectors_config=PARAMETERS)
    await client.upsert("facts", points)
    query = GATES[framework](client.query_points)
    explanation = await aexplained(framework, lambda _: query("facts", query=WHY, limit=4), of_qdrant)
    assert retention_of(explanation) == {frozenset({TEXTS["b"], TEXTS["d"]})}
    await client.close()


@pytest.fixture(scope="module")
def index() -> Any:
    made: Any = faiss_library.IndexFlatIP(2)
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


def of_elasticsearch(url: str) -> Any:
    return Elasticsearch(url)


def of_opensearch(url: str) -> Any:
    return OpenSearch(url)


SEARCHES: dict[str, tuple[Callable[[str], Any], Callable[[str], Any], Any, Any]] = {
    "elasticsearch": (Elasticsearch, AsyncElasticsearch, of_hits, elasticsearch),
    "opensearch": (OpenSearch, AsyncOpenSearch, of_hits, opensearch),
    "tavily": (
        lambda url: TavilyClient(api_key="key", api_base_url=url),
        lambda url: AsyncTavilyClient(api_key="key", api_base_url=url),
        of_results,
        tavily,
    ),
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
    make, _, shown, items_of = SEARCHES[kind]
    client = make(url)
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
    _, make, shown, _ = SEARCHES[kind]
    client = make(url)
    requests.clear()
    search = GATES[framework](client.search)
    assert blames_b_and_d(await aexplained(framework, asking(kind, search), shown))
    assert len(requests) == 1
    if hasattr(client, "close"):
        await client.close()
