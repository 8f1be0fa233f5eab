"""A search that is made once more, for more results: where the number is read, and where it is not."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.searches.widening import (
    Wide,
    first_wider,
    never_wider,
    wider_call,
    wider_object,
)


def named(_query: str, k: int = 4, **_: Any) -> int:
    return k


def of_server(*, index: str, body: dict[str, Any]) -> Any:
    return index, body["size"]


def by_many(_query: str, top_k: int, fetch_k: int = 20, lambda_mult: float = 0.5) -> tuple[int, int]:
    assert lambda_mult
    return top_k, fetch_k


def unnamed(_query: str, depth: int = 4) -> int:
    return depth


@pytest.mark.parametrize(
    ("call", "args", "kwargs", "found"),
    [
        (named, ("?",), {}, 7),
        (named, ("?", 10), {}, 13),
        (named, ("?",), {"k": 2}, 5),
        (of_server, (), {"index": "i", "body": {"size": 5, "query": "?"}}, ("i", 8)),
        (by_many, ("?", 6), {}, (9, 23)),
    ],
)
def test_the_number_is_read_from_the_arguments(
    call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], found: Any
) -> None:
    before = repr((args, kwargs))
    wide = wider_call(call, args, kwargs)(3, 0)
    assert wide is not None
    assert wide.search() == found
    assert wide.chooses is (call is by_many)
    assert repr((args, kwargs)) == before


@pytest.mark.parametrize("args", [("?",), ("?", 3)])
def test_where_no_argument_says_it_there_is_none(args: tuple[Any, ...]) -> None:
    assert wider_call(unnamed, args, {})(3, 0) is None
    assert wider_call(named, ("?",), {"k": None})(3, 0) is None
    assert wider_call(named, ("?",), {"k": True})(3, 0) is None
    assert wider_call(len, (), {})(3, 0) is None
    assert never_wider(3, 0) is None


@dataclass
class Asks:
    """A query object, as a vector store is given one."""

    similarity_top_k: int


def _asked(query: Asks) -> int:
    return query.similarity_top_k


def test_the_number_may_stand_in_an_object() -> None:
    asks = Asks(5)
    wide = wider_call(_asked, (asks,), {})(3, 0)
    assert wide is not None
    assert (wide.search(), asks.similarity_top_k) == (8, 5)


@dataclass
class Retriever:
    k: int = 4


@dataclass
class OfStore:
    search_type: str = "similarity"
    search_kwargs: dict[str, Any] = field(default_factory=lambda: dict[str, Any](k=5))


class Private:
    def __init__(self) -> None:
        self._similarity_top_k = 6


class Refusing:
    k = 4

    def __copy__(self) -> "Refusing":
        raise TypeError("no copies")


OWNERS: list[tuple[Any, Callable[[Any], bool]]] = [
    (Retriever(), lambda own: own.k == 7),
    (OfStore(), lambda own: own.search_kwargs == {"k": 8}),
    (Private(), lambda own: own._similarity_top_k == 9),
]


def itself(own: Any) -> Any:
    return own


@pytest.mark.parametrize(("owner", "found"), OWNERS)
def test_the_number_is_read_from_the_retriever_and_its_own_stays(
    owner: Any, found: Callable[[Any], bool]
) -> None:
    before = str(owner.__dict__)
    wide = wider_object(owner, found)(3, 0)
    assert wide is not None
    assert wide.search() is True
    assert not wide.chooses
    assert str(owner.__dict__) == before


def test_a_retriever_that_says_nothing_or_cannot_be_copied_gives_none() -> None:
    for owner in (object(), Refusing(), OfStore(search_kwargs={})):
        assert wider_object(owner, itself)(3, 0) is None


def test_a_store_that_chooses_says_so() -> None:
    wide = wider_object(OfStore("mmr"), itself)(3, 0)
    assert wide is not None
    assert wide.chooses


def test_of_several_the_first_that_can_is_taken() -> None:
    wide = Wide(lambda: "second")
    assert first_wider(never_wider, lambda _more, _returned: wide, never_wider)(1, 0) is wide
    assert first_wider(never_wider, never_wider)(1, 0) is None


def test_of_several_numbers_the_one_that_was_returned_is_raised() -> None:
    def fused(_query: str, k: int = 60, limit: int = 5) -> tuple[int, int]:
        return k, limit

    wide = wider_call(fused, ("?",), {})(2, 5)
    assert wide is not None
    assert (wide.search(), wide.number) == ((60, 7), 7)


def test_a_search_for_fewer_keeps_the_pool_that_it_chooses_from() -> None:
    wide = wider_call(by_many, ("?", 6), {})(-2, 6)
    assert wide is not None
    assert (wide.search(), wide.number) == ((4, 20), 4)
