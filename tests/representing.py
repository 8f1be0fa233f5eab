"""Which cases of a crossing a fast run asks: some of each class; the slow tests ask others, and where
there are very many, the night asks the rest."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar
from zlib import crc32

import pytest

from tests.repeating import REPETITION, repetition_of

Case = TypeVar("Case")

SELDOM = [False, pytest.param(True, marks=pytest.mark.slow)]
"""For a way of asking that other tests go as well, and this one among the slow ones."""


def some(
    cases: Iterable[Case], every: int, *, first: int = 0, always: Callable[[Case], bool] = lambda _: False
) -> list[Any]:
    """All cases as parameters: one in ``every``, from the ``first`` on, and those that are ``always``
    asked run in a fast run; the others are slow tests."""
    return [
        pytest.param(case, marks=() if place % every == first or always(case) else pytest.mark.slow)
        for place, case in enumerate(cases)
    ]


def some_of_each(classes: Iterable[Iterable[Any]], every: int) -> list[Any]:
    """``some`` of the cases of each class, so that each class has its representatives."""
    return [param for cases in classes for param in some(cases, every)]


def spread_out(items: Iterable[pytest.Item]) -> None:
    """Divides the cases of each test that is marked, such as by ``spread(fast=3, slow=2)``.

    One in three of those that a fast run would ask stays there; with ``fast="each"``, so few of them that
    each value of each parameter is still asked. The others are slow. One in two of the slow ones stays
    among the slow tests, and the night asks the rest.
    """
    tests = defaultdict[tuple[str, int], list[pytest.Item]](list)
    for item in items:
        if item.get_closest_marker("spread") and not item.get_closest_marker("nightly"):
            tests[item.nodeid.partition("[")[0], repetition_of(item)].append(item)
    for cases in tests.values():
        mark = cases[0].get_closest_marker("spread")
        kept = {"fast": 1, "slow": 1, **(mark.kwargs if mark else {})}
        fast = [each for each in cases if each.get_closest_marker("slow") is None]
        staying = covering(fast) if kept["fast"] == "each" else fast[:: kept["fast"]]
        later = [each for each in cases if each not in staying]
        slow = later[:: kept["slow"]]
        for each in later:
            _belongs_to(each, "slow" if each in slow else "nightly")


def covering(cases: list[pytest.Item]) -> list[pytest.Item]:
    """Few of a test's cases, such that each value of each of its parameters is in one of them. Of those
    with as many new values, the first is taken whose values were taken least often so far."""
    values = [_values(each) for each in cases]
    missing, taken, kept = set[Any]().union(*values), Counter[Any](), set[int]()
    if not missing:
        return cases[:1]

    def worth(place: int) -> tuple[int, int]:
        return len(values[place] & missing), -sum(taken[each] for each in values[place])

    while missing:
        best = max(range(len(cases)), key=worth)
        kept.add(best)
        taken.update(values[best])
        missing -= values[best]
    return [cases[place] for place in sorted(kept)]


def _values(item: pytest.Item) -> set[Any]:
    """The values of its parameters, each with its name. Parameters that are given together, such as a
    text and what is expected of it, have one value."""
    callspec = getattr(item, "callspec", None)
    given: dict[str, Any] = {} if callspec is None else callspec.params
    together = [_names(mark.args[0]) for mark in item.iter_markers("parametrize")]
    alone = [(name,) for name in given if not any(name in names for names in together)]
    return {
        (names, tuple(id(given[name]) for name in names))
        for names in (*together, *alone)
        if names != (REPETITION,)
    }


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    return tuple(name.strip() for name in given.split(",")) if isinstance(given, str) else tuple(given)


def one_in(many: int, items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The first of every so many cases of each test, and the others, both in their order."""
    cases = defaultdict[str, int](int)
    kept, others = list[pytest.Item](), list[pytest.Item]()
    for item in items:
        test = item.nodeid.partition("[")[0]
        (others if cases[test] % many else kept).append(item)
        cases[test] += 1
    return kept, others


def quick(
    costly: Collection[str], items: Iterable[pytest.Item]
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Returns what a quick run asks, and the rest, both in their order. A quick run asks one case of each
    test that is not ``costly``. The test's name decides which case, so each framework has some."""
    items, tests = list(items), defaultdict[str, list[str]](list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item.nodeid)
    asked = {
        cases[crc32(test.encode()) % len(cases)] for test, cases in tests.items() if test not in costly
    }
    return (
        [each for each in items if each.nodeid in asked],
        [each for each in items if each.nodeid not in asked],
    )


FRAMEWORKS = ("agents", "instrumentation", "integrations", "pytest_plugin", "scorers", "traces")
"""Rooms whose tests depend on the releases of the frameworks, and not on the Python alone."""
FURTHER: dict[str, tuple[int, Collection[str]]] = {"oldest": (0, FRAMEWORKS), "newest": (1, ())}
"""For a further Python: which test of every three is asked of each file, and the rooms all of whose tests
are. The oldest Python has the oldest frameworks; the newest has those that all tests are run with."""


def on_further(python: str, items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """What is asked on a further Python, and the rest, both in their order.

    What a file imports is imported wholly, and the type checker knows what the oldest Python has not. So
    one in three of the tests of each file, with one in three of its cases, shows whether its room works
    there. The night asks them all.
    """
    first, rooms = FURTHER[python]
    asked, others = one_in(3, items)
    files = defaultdict[str, dict[str, int]](dict)
    for item in asked:
        file, test = _place(item)
        files[file].setdefault(test, len(files[file]))
    kept = list[pytest.Item]()
    for item in asked:
        file, test = _place(item)
        chosen = files[file][test] % 3 == min(first, len(files[file]) - 1)
        (kept if chosen or file.split("/")[1] in rooms else others).append(item)
    return kept, others


def _place(item: pytest.Item) -> tuple[str, str]:
    """Its file and its test."""
    test = item.nodeid.partition("[")[0]
    return test.partition("::")[0], test


def _belongs_to(item: pytest.Item, mark: str) -> None:
    item.own_markers = [each for each in item.own_markers if each.name != "slow"]
    item.add_marker(mark)
