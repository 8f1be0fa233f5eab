"""Which cases of a test run where a further Python asks one in so many of them."""

from types import SimpleNamespace
from typing import Any

from tests.representing import one_in

NAMES = ["a[1]", "a[2]", "b", "a[3]", "c[x]", "a[4]", "c[y]"]
ITEMS: list[Any] = [SimpleNamespace(nodeid=f"tests/test_it.py::{name}") for name in NAMES]


def names(items: list[Any]) -> list[str]:
    return [item.nodeid.rpartition("::")[2] for item in items]


def test_each_test_is_asked_and_one_in_so_many_of_its_cases() -> None:
    kept, others = one_in(3, ITEMS)
    assert names(kept) == ["a[1]", "b", "c[x]", "a[4]"]
    assert names(others) == ["a[2]", "a[3]", "c[y]"]


def test_one_in_one_is_every_case_in_its_order() -> None:
    assert one_in(1, ITEMS) == (ITEMS, [])
