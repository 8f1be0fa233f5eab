"""What is taken for the same."""

# pyright: reportUnknownLambdaType=false

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rag_rule_explainer.instrumentation.copies.copying import described


def newer_than(year: int) -> Callable[[dict[str, int]], bool]:
    return lambda document: document["year"] > year


class Filter:
    def __init__(self, language: str) -> None:
        self.language = language
        self.lock = threading.Lock()

    def __call__(self, document: Any) -> bool:
        return document["language"] == self.language

    def matches(self, document: Any) -> bool:
        return self(document)


class Slotted:
    __slots__ = ("least",)

    def __init__(self, least: int) -> None:
        self.least = least


def at_least(document: Any, least: int) -> bool:
    return document["year"] >= least


DIFFERENT: list[tuple[Any, Any]] = [
    (lambda d: d["language"] == "en", lambda d: d["language"] == "de"),
    (lambda d: d["year"], lambda d: d["month"]),
    (lambda d, year=2019: d["year"] > year, lambda d, year=2024: d["year"] > year),
    (newer_than(2019), newer_than(2024)),
    (Filter("en"), Filter("de")),
    (Filter("en").matches, Filter("de").matches),
    (functools.partial(at_least, least=1), functools.partial(at_least, least=2)),
    (Slotted(1), Slotted(2)),
    (newer_than(1), at_least),
    (len, max),
    ({newer_than(1)}, {newer_than(2)}),
    ([newer_than(1), newer_than(2)], [newer_than(2), newer_than(1)]),
]
SAME: list[Callable[[], Any]] = [
    lambda: lambda d: d["language"] == "en",
    lambda: newer_than(2019),
    lambda: Filter("en"),
    lambda: Filter("en").matches,
    lambda: functools.partial(at_least, least=1),
    lambda: Slotted(1),
    lambda: {newer_than(1)},
    lambda: {"filter": newer_than(1), "k": 4},
    object,
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_things_that_do_something_else_are_told_apart(one: Any, other: Any) -> None:
    assert described(one) != described(other)
    assert described({"k": 4, "filter": one}) != described({"k": 4, "filter": other})
    assert described((one,)) != described((other,))


@pytest.mark.parametrize("make", SAME)
def test_things_that_are_made_anew_are_the_same(make: Callable[[], Any]) -> None:
    assert described(make()) == described(make())
    assert described(("query", make())) == described(("query", make()))


def test_a_circle_and_a_deep_thing_come_to_an_end() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert described(circle)
    one, other = Filter("en"), Filter("en")
    one.language = other  # pyright: ignore[reportAttributeAccessIssue] -- a circle of objects
    other.language = one  # pyright: ignore[reportAttributeAccessIssue] -- a new attribute, on purpose
    assert described(one)
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    assert described(deep)


def test_arrays_are_told_by_all_that_is_in_them() -> None:
    first, second = np.zeros((1, 5000), dtype="float32"), np.zeros((1, 5000), dtype="float32")
    assert described(first) == described(second)
    second[0, 2500] = 1.0
    # Their texts are the same: they leave out what is in the middle.
    assert repr(first) == repr(second)
    assert described([first]) != described([second])
    assert described(first) != described(first.astype("float64"))
    assert described(first) != described(first[0])


def test_keys_of_a_dict_are_described_as_they_are() -> None:
    dicts: list[dict[Any, str]] = [{1: "a"}, {"1": "a"}, {True: "a"}, {"true": "a"}, {None: "a"}]
    assert len({described(each) for each in (*dicts, [dicts[0]], [dicts[1]])}) == 7
    assert described({1: "a", "b": [{2: 3}]}) == described({"b": [{2: 3}], 1: "a"})
