"""Replaced methods: made once for all explanations, and nothing is kept of a class that is gone."""

import gc
import re
import sys
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any
from weakref import ref

import pytest

from rag_rule_explainer.instrumentation.copies.patching import Interception, Patches

NAME = "a_module_of_roots"


class Counting:
    """Counts the replacements that are made."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, name: str, method: Any) -> Any:
        self.made.append(name)

        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            found = method(*args, **kwargs)
            return found if name == "__init__" else f"replaced {found}"

        return call


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = ModuleType(NAME)
    monkeypatch.setitem(sys.modules, NAME, made)
    return made


def answering(answer: str) -> Callable[[object], str]:
    return lambda _self: answer


def defined(module: Any, name: str, base: type, answer: str) -> Any:
    """A class as a module has it that defines it."""
    made = type(name, (base,), {"ask": answering(answer), "__module__": NAME})
    setattr(module, name, made)
    return made


def attributes(owner: type) -> dict[str, object]:
    return dict(vars(owner))


def asking(counting: Counting) -> Patches:
    names = re.compile("ask")
    return Patches([Interception(NAME, "Root", names, counting, added=("__init__",))])


def test_replacements_are_made_once_and_originals_are_put_back(module: Any) -> None:
    root = defined(module, "Root", object, "root")
    child = defined(module, "Child", root, "child")
    before, counting = attributes(child), Counting()
    patches = asking(counting)
    for _ in range(3):
        with patches.intercepting():
            assert child().ask() == "replaced child"
        assert child().ask() == "child"
        assert attributes(child) == before
    assert sorted(counting.made) == ["__init__", "ask", "ask"]


def test_a_method_that_was_changed_meanwhile_is_replaced_as_it_is_now(module: Any) -> None:
    root = defined(module, "Root", object, "root")
    patches = asking(Counting())
    with patches.intercepting():
        assert root().ask() == "replaced root"
    root.ask = answering("changed")
    with patches.intercepting():
        assert root().ask() == "replaced changed"
    assert root().ask() == "changed"


def test_a_class_that_is_defined_again_is_let_go(module: Any) -> None:
    root = defined(module, "Root", object, "root")
    patches = asking(Counting())
    seen: list[Any] = []
    for _ in range(3):
        seen.append(ref(defined(module, "Child", root, "child")))
        with patches.intercepting():
            pass
    local = ref(type("Local", (root,), {"ask": answering("local"), "__module__": NAME}))
    with patches.intercepting():
        pass
    gc.collect()
    assert [each() is None for each in seen] == [True, True, False]
    assert local() is None


@pytest.mark.parametrize("first_ends_first", [True, False])
def test_two_may_replace_the_same_method_and_end_in_any_order(
    module: Any, first_ends_first: bool
) -> None:
    """Else each explanation beside one of another framework would leave a replacement for ever."""
    root = defined(module, "Root", object, "root")
    before = attributes(root)
    first, second = asking(Counting()), asking(Counting())
    for _ in range(3):
        first.start()
        second.start()
        assert root().ask() == "replaced replaced root"
        (first if first_ends_first else second).stop()
        (second if first_ends_first else first).stop()
        assert attributes(root) == before
        assert root().ask() == "root"


def test_what_another_one_calls_is_not_replaced_twice(module: Any) -> None:
    root, counting = defined(module, "Root", object, "root"), Counting()
    before = attributes(root)
    first, second = asking(counting), asking(Counting())
    first.start()
    second.start()
    made = list(counting.made)
    for _ in range(3):
        first.stop()
        first.start()
    assert counting.made == made
    assert root().ask() == "replaced replaced root"
    second.stop()
    assert root().ask() == "replaced root"
    first.stop()
    assert attributes(root) == before


def test_a_method_that_was_set_above_two_is_replaced_again(module: Any) -> None:
    root = defined(module, "Root", object, "root")
    first, second = asking(Counting()), asking(Counting())
    with second.intercepting():
        first.start()
        first.stop()
        root.ask = answering("another")
        with first.intercepting():
            assert root().ask() == "replaced another"
    assert root().ask() == "another"
