"""Results of searches in every shape: each is split so that replays get what the application got, with
fewer results; or the user is told, and the way out leads to the known rules."""

from itertools import combinations
from typing import Any

import pytest

from rag_rule_explainer import Explanation, InvalidInput
from rag_rule_explainer.instrumentation.clients import ItemsOf
from rag_rule_explainer.instrumentation.clients.seen_as_one import doubt_about
from rag_rule_explainer.instrumentation.searches.of_functions import FunctionShape
from tests.integrations.known import TEXTS, ids, omission, retention, sets, shown_in
from tests.integrations.raw.applications import FRAMEWORKS, GATES, aexplained, explained
from tests.integrations.raw.own_types import Slotted
from tests.integrations.raw.shapes import TAKEN_APART
from tests.integrations.raw.told_shapes import REFUSED, WARNED, Told

SYNC, ASYNC = FRAMEWORKS
TOLD = {**REFUSED, **WARNED}


def blames_b_and_d(explanation: Explanation) -> bool:
    """The same of sources that are called in any way."""
    names = {source.id: shown_in(source.text) for source in explanation.sources}
    rules = [
        {frozenset(map(names.__getitem__, rule)) for rule in found}
        for found in (retention(explanation), omission(explanation))
    ]
    return explanation.ended and rules == [sets("bd"), sets("b", "d")]


def search_of(response: Any) -> Any:
    def search(_: str) -> Any:
        return response

    return search


def asearch_of(response: Any) -> Any:
    async def search(_: str) -> Any:
        return response

    return search


def client_of(told: Told) -> ItemsOf:
    """The client that the message asks for. The items are known, so that it need not read them."""

    def take_apart(response: Any) -> list[Any]:
        texts = told.shown(response)
        return [each for each in told.items if any(text in str(each) for text in texts)]

    return ItemsOf(take_apart, lambda _, kept: told.put(list(kept)))


@pytest.mark.parametrize("name", TAKEN_APART)
def test_each_subset_of_results_is_put_together_in_the_same_shape(name: str) -> None:
    response, shown = TAKEN_APART[name]
    found, form = FunctionShape().found(response), FunctionShape().form(response)
    whole = FunctionShape().result(found, form)
    assert type(whole) is type(response)
    if not isinstance(response, Slotted):  # it has no ``__eq__``
        assert whole == response
    for size in range(len(found) + 1):
        for kept in combinations(range(len(found)), size):
            made = FunctionShape().result([found[place] for place in kept], form)
            assert shown(made) == [list(TEXTS.values())[place] for place in kept]


@pytest.mark.spread(fast=6)
@pytest.mark.parametrize("name", TAKEN_APART)
def test_results_are_split_and_served_as_they_came(name: str) -> None:
    response, shown = TAKEN_APART[name]
    assert sorted(shown(response)) == sorted(TEXTS.values())
    explanation = explained(SYNC, GATES[SYNC](search_of(response)), shown)
    assert blames_b_and_d(explanation)
    assert len(ids(explanation)) == len(TEXTS)
    assert not explanation.warnings


@pytest.mark.spread(fast=6)
@pytest.mark.parametrize("name", TAKEN_APART)
async def test_results_are_split_in_async_searches_too(name: str) -> None:
    response, shown = TAKEN_APART[name]
    assert blames_b_and_d(await aexplained(ASYNC, GATES[ASYNC](asearch_of(response)), shown))


@pytest.mark.parametrize("name", TOLD)
def test_nothing_that_lists_results_is_one_source_without_a_word(name: str) -> None:
    response = TOLD[name].put(TOLD[name].items)
    if name in REFUSED:
        with pytest.raises(InvalidInput, match="items_of="):
            FunctionShape().found(response)
    else:
        (found,) = FunctionShape().found(response)
        assert "items_of=" in doubt_about(found.given, found.text.text, alone=True)


@pytest.mark.spread(fast=6)
@pytest.mark.parametrize("name", REFUSED)
async def test_what_cannot_be_split_is_refused_by_name(name: str) -> None:
    told = REFUSED[name]
    response = told.put(told.items)
    with pytest.raises(InvalidInput, match=r"a search returned .*items_of=.*ItemsOf\(take_apart, put_"):
        explained(SYNC, GATES[SYNC](search_of(response)), told.shown)
    with pytest.raises(InvalidInput, match=r"a search returned .*items_of="):
        await aexplained(ASYNC, GATES[ASYNC](asearch_of(response)), told.shown)


@pytest.mark.spread(fast=6)
@pytest.mark.parametrize("name", WARNED)
async def test_what_is_one_source_is_warned_of(name: str) -> None:
    told = WARNED[name]
    response = told.put(told.items)
    explanation = explained(SYNC, GATES[SYNC](search_of(response)), told.shown)
    (warning,) = explanation.warnings
    assert warning.startswith("a search returned")
    assert "items_of=ItemsOf(take_apart, put_together)" in warning
    assert len(ids(explanation)) == 1
    explanation = await aexplained(ASYNC, GATES[ASYNC](asearch_of(response)), told.shown)
    assert explanation.warnings == (warning,)


@pytest.mark.spread(fast=6)
@pytest.mark.parametrize("name", TOLD)
async def test_the_way_out_leads_to_the_known_rules(name: str) -> None:
    told = TOLD[name]
    response, client = told.put(told.items), client_of(told)
    text_of = _text_in
    search = GATES[SYNC](search_of(response), items_of=client, text_of=text_of)
    explanation = explained(SYNC, search, told.shown)
    assert blames_b_and_d(explanation)
    assert not explanation.warnings
    search = GATES[ASYNC](asearch_of(response), items_of=client, text_of=text_of)
    assert blames_b_and_d(await aexplained(ASYNC, search, told.shown))


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize(
    "name", [name for name in TOLD if isinstance(TOLD[name].put(TOLD[name].items), str)]
)
def test_a_text_that_is_one_document_is_one_without_a_word(name: str) -> None:
    told = TOLD[name]
    search = GATES[SYNC](search_of(told.put(told.items)), text_of=str)
    explanation = explained(SYNC, search, told.shown)
    assert len(ids(explanation)) == 1
    assert not explanation.warnings


def _text_in(item: Any) -> str:
    return next(text for text in TEXTS.values() if text in str(item))
