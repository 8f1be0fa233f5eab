"""``gate`` as a decorator, with and without arguments, of functions and methods, in each integration."""

from collections.abc import Callable, Generator
from typing import Any

import plain_rag_rule_explainer
import pytest

from rag_rule_explainer import Explanation, InvalidInput
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, ids, omission, sets
from tests.integrations.plain.models import Models, served
from tests.integrations.plain.zoo.shapes import chat
from tests.integrations.raw.applications import GATES, aexplained, explained

FOUND: list[dict[str, Any]] = [{"id": name, "words": text, "of": "x"} for name, text in TEXTS.items()]
EVERY: dict[str, Callable[..., Any]] = {**GATES, "plain": plain_rag_rule_explainer.gate}


@pytest.fixture(scope="module")
def models() -> Generator[Models]:
    with served() as these:
        yield these


def told_by(framework: str, search: Any, models: Models, **settings: Any) -> Explanation:
    if framework in GATES:
        return explained(framework, search, words, **settings)

    def answer(question: str) -> str:
        return chat(models, "\n".join(words(search(question))) or "nothing")

    return plain_rag_rule_explainer.RuleExplainer(answer, predicate=BAD, **settings).explain("why?")


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


@pytest.mark.spread(fast="each")
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


def first_two(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=lambda each: each["id"], reverse=True)[:2]


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("inside", [False, True], ids=["around the cut", "inside the cut"])
@pytest.mark.parametrize("framework", EVERY)
def test_the_sources_are_what_a_function_returns_that_cuts(
    framework: str, inside: bool, models: Models
) -> None:
    """Of a, b, c and d it returns d and c; b moves up where c is left out, which the user did not ask
    about with a gate around the cut, and did with one inside of it."""
    gate = EVERY[framework]

    @gate(text_of=lambda each: each["words"])
    def found(query: str) -> list[Any]:
        return FOUND

    @gate(text_of=lambda each: each["words"])
    def returned(query: str) -> list[Any]:
        return first_two(FOUND)

    search = (lambda query: first_two(found(query))) if inside else returned
    settings: dict[str, Any] = {"scope": "retrieved"} if inside else {}
    explanation = told_by(framework, search, models, **settings)
    assert explanation.complete
    assert all(rule.proved for rule in explanation.rules)
    assert not [each for each in explanation.warnings if "is shown others" in each]
    if inside:
        assert sorted(ids(explanation)) == ["a", "b", "c", "d"]
        assert omission(explanation) == sets("b", "d")
    else:
        assert sorted(ids(explanation)) == ["c", "d"]
        assert omission(explanation) == sets("")


@pytest.mark.parametrize("name", EVERY)
def test_none_is_no_search(name: str) -> None:
    """As where a client has no such method."""
    with pytest.raises(InvalidInput, match="NoneType cannot be gated"):
        EVERY[name](None)
