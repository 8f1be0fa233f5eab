"""A collection that every run empties first holds nothing of an earlier run."""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.shared_state.emptied import emptied_by


class State(dict[str, Any]):
    """A dict whose entries are its attributes, as the state of a session often is."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return self[name]


class Marked(dict[str, Any]):
    """A dict that has attributes beside its entries, which ``clear`` leaves."""

    mark = ""


class Own(dict[str, Any]):
    def clear(self) -> None:
        """Leaves everything."""


@lru_cache
def graded(text: str) -> str:
    return text


KINDS: tuple[Any, ...] = (dict, list, set, deque, OrderedDict, State)
COLLECTIONS: list[Any] = [*(kind() for kind in KINDS), defaultdict[str, list[str]](list)]


@pytest.mark.parametrize("held", COLLECTIONS, ids=lambda each: type(each).__name__)
def test_a_collection_that_is_cleared_first_is_emptied(held: Any) -> None:
    def answer(_: str) -> str:
        """Its documentation comes before all."""
        held.clear()
        return str(held)

    async def aanswer(_: str) -> str:
        held.clear()
        graded.cache_clear()
        return str(held)

    assert [*map(id, emptied_by(answer))] == [id(held)]
    assert [*map(id, emptied_by(aanswer))] == [id(held), id(graded)]
    emptying: Callable[[str], str] = lambda _: [held.clear(), answer("")][1]  # noqa: E731 -- as the advice has it
    assert [*map(id, emptied_by(emptying))] == [id(held)]


def test_an_attribute_that_is_cleared_first_is_emptied() -> None:
    app = SimpleNamespace(cache={"why?": "so"})

    def answer(_: str) -> str:
        app.cache.clear()
        return ""

    assert emptied_by(answer) == (app.cache,)


def otherwise() -> list[Callable[[str], Any]]:
    """Functions that may find something in ``held``."""
    held: dict[str, Any] = {}
    marked, own = Marked(), Own()
    marked.mark = "seen"

    def at_times(question: str) -> str:
        if question:
            held.clear()
        return str(held)

    def afterwards(question: str) -> str:
        found = held.get(question, "")
        held.clear()
        return found

    def by_another(_: str) -> None:
        return marked.clear()

    def of_its_own(_: str) -> None:
        own.clear()

    def late(_: str) -> str:
        print(held)
        held.clear()
        return ""

    return [at_times, afterwards, by_another, of_its_own, late, str.upper]


@pytest.mark.parametrize("application", otherwise(), ids=lambda each: each.__name__)
def test_what_may_be_left_is_not_emptied(application: Callable[[str], Any]) -> None:
    assert emptied_by(application) == ()
