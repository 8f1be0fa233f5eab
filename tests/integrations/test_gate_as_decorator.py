"""``gate`` as a decorator, with and without arguments, of functions and methods, in each integration."""

from collections.abc import Callable
from typing import Any

import plain_rag_rule_explainer
import pytest

from rag_rule_explainer import InvalidInput
from tests.integrations.known import TEXTS, blames_b_and_d
from tests.integrations.raw.applications import GATES, aexplained, explained

FOUND: list[dict[str, Any]] = [{"id": name, "words": text, "of": "x"} for name, text in TEXTS.items()]
EVERY: dict[str, Callable[..., Any]] = {**GATES, "plain": plain_rag_rule_explainer.gate}


def words(found: Any) -> list[str]:
    return [each["words"] for each in found]


def searched(gate: Any, way: str) -> Any:
    """A gated search of each kind."""

    @gate(text_of=lambda each: each["words"])
    def search(query: str) -> list[Any]:
        return FOUND

    class Index:
        @gate(text_of=lambda each: each["words"])
        def search(self, query: str) -> list[Any]:
            return FOUND

        @gate(text_of=lambda each: each["words"])
        async def asearch(self, query: str) -> list[Any]:
            return FOUND

    @gate(text_of=lambda each: each["words"])
    async def asearch(query: str) -> list[Any]:
        return FOUND

    return {
        "function": search,
        "method": Index().search,
        "async function": asearch,
        "async method": Index().asearch,
    }[way]


@pytest.mark.parametrize("way", ["function", "method"])
@pytest.mark.parametrize("framework", GATES)
def test_a_decorated_search_is_explained(framework: str, way: str) -> None:
    search = searched(GATES[framework], way)
    assert search("outside") == FOUND
    assert blames_b_and_d(explained(framework, search, words))


@pytest.mark.parametrize("way", ["async function", "async method"])
@pytest.mark.parametrize("framework", GATES)
async def test_a_decorated_async_search_is_explained(framework: str, way: str) -> None:
    assert blames_b_and_d(await aexplained(framework, searched(GATES[framework], way), words))


@pytest.mark.parametrize("framework", GATES)
def test_a_decorator_without_arguments(framework: str) -> None:
    gate = GATES[framework]

    @gate()
    def called(query: str) -> list[str]:
        return list(TEXTS.values())

    class Index:
        @gate
        def search(self, query: str) -> list[Any]:
            return [{"id": name, "text": text} for name, text in TEXTS.items()]

    assert called.__name__ == "called"
    assert len(explained(framework, called, list).sources) == len(TEXTS)
    assert blames_b_and_d(
        explained(framework, Index().search, lambda found: [each["text"] for each in found])
    )


@pytest.mark.parametrize("name", EVERY)
def test_none_is_no_search(name: str) -> None:
    """As where a client has no such method."""
    with pytest.raises(InvalidInput, match="NoneType cannot be gated"):
        EVERY[name](None)
