"""Which cases of a test run where one in so many of them is asked, and which tests on other Pythons."""

from collections import Counter
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.costs import costly, too_costly
from tests.representing import FRAMEWORKS, covering, on_further, one_in, quick

ROOT = Path(__file__).parents[1]
NAMES = ["a[1]", "a[2]", "b", "a[3]", "c[x]", "a[4]", "c[y]"]


def items_of(file: str, names: list[str]) -> list[Any]:
    return [SimpleNamespace(nodeid=f"{file}::{name}") for name in names]


ITEMS = items_of("tests/test_it.py", NAMES)


def names(items: list[Any]) -> list[str]:
    return [item.nodeid.rpartition("::")[2] for item in items]


def test_each_test_is_asked_and_one_in_so_many_of_its_cases() -> None:
    kept, others = one_in(3, ITEMS)
    assert names(kept) == ["a[1]", "b", "c[x]", "a[4]"]
    assert names(others) == ["a[2]", "a[3]", "c[y]"]


def test_one_in_one_is_every_case_in_its_order() -> None:
    assert one_in(1, ITEMS) == (ITEMS, [])


def test_a_quick_run_asks_one_case_of_each_test_that_is_not_costly() -> None:
    kept, others = quick({"tests/test_it.py::b"}, ITEMS)
    assert [name[0] for name in names(kept)] == ["a", "c"]
    assert sorted(names(kept) + names(others)) == sorted(NAMES)


def test_a_quick_run_asks_different_cases_of_tests_with_the_same_cases() -> None:
    crossing = [
        item
        for test in range(30)
        for item in items_of("tests/test_it.py", [f"test_{test}[{kit}]" for kit in "abc"])
    ]
    kept, _ = quick((), crossing)
    assert {name[-2] for name in names(kept)} == {"a", "b", "c"}


def test_too_costly_are_tests_whose_cheapest_case_is_but_each_file_keeps_one() -> None:
    costs = [
        *(("a.py::one[1]", 3.0), ("a.py::one[2]", 0.1), ("a.py::two[1]", 0.4), ("a.py::two[2]", 0.3)),
        *(("b.py::one", 2.0), ("b.py::two", 1.0)),
    ]
    assert list(too_costly(costs)) == ["a.py::two", "b.py::one"]


def test_each_costly_test_is_there() -> None:
    for name in costly():
        path, *_, test = name.split("::")
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), f"{name}: make costs"


def test_further_pythons_are_asked_different_tests_of_a_file() -> None:
    oldest, left_out = on_further("oldest", ITEMS)
    assert names(oldest) == ["a[1]", "a[4]"]
    assert sorted(names(left_out)) == sorted(set(NAMES) - {"a[1]", "a[4]"})
    assert names(on_further("newest", ITEMS)[0]) == ["b"]


def test_a_file_of_one_test_is_asked_on_each_further_python() -> None:
    lone = items_of("tests/test_lone.py", ["only[1]", "only[2]"])
    for python in ("oldest", "newest"):
        assert names(on_further(python, [*ITEMS, *lone])[0])[-1] == "only[1]"


def test_the_oldest_frameworks_are_asked_each_of_their_tests() -> None:
    for room in FRAMEWORKS:
        found = items_of(f"tests/{room}/any/test_it.py", NAMES)
        assert names(on_further("oldest", found)[0]) == ["a[1]", "b", "c[x]", "a[4]"]
        assert names(on_further("newest", found)[0]) == ["b"]


def crossed(*sizes: int) -> list[Any]:
    """The cases of a test with so many values of each parameter; the first two are given together."""

    def marks(_: str) -> list[Any]:
        return [SimpleNamespace(args=("a, b",)), SimpleNamespace(args=(["c"],))]

    return [
        SimpleNamespace(
            nodeid=f"test_it.py::it[{place}]",
            iter_markers=marks,
            callspec=SimpleNamespace(params=dict(zip("abcd", (place[0], *place), strict=True))),
        )
        for place in product(*map(range, sizes))
    ]


@pytest.mark.parametrize(("sizes", "fewest"), [((3, 2, 2), 3), ((1, 1, 1), 1), ((2, 7, 3), 7)])
def test_few_cases_have_every_value_of_every_parameter(sizes: tuple[int, ...], fewest: int) -> None:
    cases = crossed(*sizes)
    kept: list[Any] = [*covering(cases)]
    assert len(kept) == fewest
    assert kept == [each for each in cases if each in kept], "in their order"
    for place, size in zip("bcd", sizes, strict=True):
        often = Counter[int](each.callspec.params[place] for each in kept)
        assert often.keys() == set(range(size))
        assert max(often.values()) - min(often.values()) <= 1


def test_what_is_given_together_is_one_value() -> None:
    """A text that is given twice, each time with something else, is asked twice."""
    cases = crossed(2, 1, 1)
    for each in cases:
        each.callspec.params["a"] = "a text"
    assert covering(cases) == cases


def test_a_test_without_parameters_stays() -> None:
    def no_marks(_: str) -> list[Any]:
        return []

    lone: list[Any] = [SimpleNamespace(nodeid="test_it.py::it", iter_markers=no_marks)]
    assert covering(lone) == lone
