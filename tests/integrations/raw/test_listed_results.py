"""Responses of Pinecone and Meilisearch, as recorded, and known rules of applications."""

from typing import Any

import pytest

from tests.integrations.known import TEXTS
from tests.integrations.raw.applications import FRAMEWORKS, GATES, Shown, aexplained, explained
from tests.integrations.raw.test_clients import blames_b_and_d, ids

SPACE = {
    "matches": [
        {"id": name, "score": 0.9, "values": [], "metadata": {"text": text, "page": 1}}
        for name, text in TEXTS.items()
    ],
    "namespace": "",
    "usage": {"read_units": 5},
}
HITS = {
    "hits": [{"id": name, "overview": text, "title": name} for name, text in TEXTS.items()],
    "query": "why?",
    "processingTimeMs": 1,
    "limit": 20,
    "offset": 0,
    "estimatedTotalHits": len(TEXTS),
}


def of_matches(found: Any) -> list[str]:
    return [each["metadata"]["text"] for each in found["matches"]]


def of_hits(found: Any) -> list[str]:
    assert found["estimatedTotalHits"] == len(found["hits"])
    return [each["overview"] for each in found["hits"]]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(("response", "shown"), [(SPACE, of_matches), (HITS, of_hits)])
@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_results_that_are_listed_beside_a_single_text(
    framework: str, response: Any, shown: Shown
) -> None:
    """The whole response was one source, and its rules were proved."""

    def search(_: str) -> Any:
        return response

    async def asearch(_: str) -> Any:
        return response

    explanation = explained(framework, GATES[framework](search), shown)
    assert blames_b_and_d(explanation)
    assert sorted(ids(explanation)) == sorted(TEXTS)
    assert blames_b_and_d(await aexplained(framework, GATES[framework](asearch), shown))
