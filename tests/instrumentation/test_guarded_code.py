"""Functions whose code is replaced for a while look and work as before."""

import asyncio
import inspect
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from types import FunctionType
from typing import Any, cast

import pytest

from rag_rule_explainer.instrumentation.copies.guarded_code import CodeGuards, own_code
from rag_rule_explainer.instrumentation.copies.recursion_limit import own_recursion_limit

LIMIT = 3


def plain() -> int:
    return 1


def many(x: int, /, y: int = 2, *args: int, k: int = LIMIT, **more: int) -> tuple[Any, ...]:
    return x, y, args, k, more


def listed(*args: int, a: int, b: int = 2) -> tuple[Any, ...]:
    return args, a, b


def enclosing(x: int) -> Callable[[], int]:
    def inner() -> int:
        return x + LIMIT

    return inner


async def awaited(x: int) -> int:
    await asyncio.sleep(0)
    return x + 1


def yielding(count: int) -> Iterator[int]:
    yield from range(count)


async def ayielding(count: int) -> AsyncIterator[int]:
    for each in range(count):
        yield each


def deep(count: int) -> int:
    return 0 if count == 0 else 1 + deep(count - 1)


class First:
    def told(self) -> str:
        return "first"


class Second(First):
    def told(self, end: str = "!") -> str:
        return super().told() + end + "Second"


CALLS: dict[Any, tuple[Callable[[Any], Any], Any]] = {
    plain: (lambda f: f(), 1),
    many: (lambda f: [f(1), f(1, 5, 6, k=7, q=8)], [(1, 2, (), 3, {}), (1, 5, (6,), 7, {"q": 8})]),
    listed: (lambda f: f(4, a=1), ((4,), 1, 2)),
    enclosing(4): (lambda f: f(), 7),
    awaited: (lambda f: asyncio.run(f(1)), 2),
    yielding: (lambda f: list(f(3)), [0, 1, 2]),
    deep: (lambda f: f(300), 300),
    Second.told: (lambda f: f(Second()), "first!Second"),
}


def listing(*given: Any) -> tuple[Any, ...]:
    return given


def looks(function: Any) -> list[Any]:
    code = function.__code__
    kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    told = (str(inspect.signature(function)), inspect.getsource(function), function.__name__)
    return [*told, code.co_freevars, code.co_firstlineno, [each(function) for each in kinds]]


@pytest.mark.parametrize("function", CALLS, ids=lambda each: each.__name__)
def test_a_guarded_function_looks_and_works_as_before(function: FunctionType) -> None:
    guards, asked, before, code = CodeGuards(), list[Any](), looks(function), function.__code__

    def choosing(own: FunctionType, first: tuple[Any, ...]) -> FunctionType:
        asked.append(first)
        return own

    call, result = CALLS[function]
    guards.guard(function, choosing)
    guards.guard(function, choosing)
    try:
        assert function.__code__ is not code
        assert own_code(function) is code
        assert looks(function) == before
        assert call(function) == result
    finally:
        guards.restore()
    assert asked
    assert function.__code__ is code
    assert call(function) == result


def test_a_guarded_function_calls_itself_as_deep_as_before() -> None:
    guards, limit = CodeGuards(), sys.getrecursionlimit()
    most = limit - len(inspect.stack()) - 20
    assert deep(most) == most
    guards.guard(cast("FunctionType", deep), lambda own, _: own)
    guards.guard(cast("FunctionType", plain), lambda own, _: own, "other")
    try:
        assert deep(most) == most
        guards.restore("other")
        assert deep(most) == most
        assert own_recursion_limit() == limit
    finally:
        guards.restore()
    assert sys.getrecursionlimit() == limit


def test_a_recursion_limit_that_the_application_sets_stays() -> None:
    guards, limit = CodeGuards(), sys.getrecursionlimit()
    guards.guard(cast("FunctionType", deep), lambda own, _: own)
    try:
        sys.setrecursionlimit(limit + 7)
        assert own_recursion_limit() == limit + 7
        guards.restore()
        assert sys.getrecursionlimit() == limit + 7
    finally:
        sys.setrecursionlimit(limit)


def test_the_limit_stays_for_a_function_that_does_not_call_itself() -> None:
    guards, limit = CodeGuards(), sys.getrecursionlimit()
    guards.guard(cast("FunctionType", plain), lambda own, _: own)
    try:
        assert sys.getrecursionlimit() == limit
    finally:
        guards.restore()


def test_an_async_generator_is_left_alone() -> None:
    """A guard could not pass on what a caller sends to an async generator, or raises in it."""
    guards, code = CodeGuards(), ayielding.__code__
    guards.guard(cast("FunctionType", ayielding), lambda own, _: own)
    try:
        assert ayielding.__code__ is code
    finally:
        guards.restore()


def test_another_function_can_be_called_in_the_place() -> None:
    guards, method = CodeGuards(), Second()
    guards.guard(Second.told, lambda _, first: partial(listing, len(first)))
    try:
        assert method.told("?") == (1, method, "?")
    finally:
        guards.restore()
    assert method.told("?") == "first?Second"


@pytest.mark.waits
def test_a_call_that_goes_on_keeps_its_code() -> None:
    """A thread that is inside a function when it is guarded or restored ends as it began."""
    begun, may_end, ends = threading.Event(), threading.Event(), list[int]()

    def slow() -> None:
        begun.set()
        may_end.wait(10)
        ends.append(LIMIT)

    guards = CodeGuards()
    thread = threading.Thread(target=slow)
    thread.start()
    begun.wait(10)
    guards.guard(slow, lambda own, _: own)
    guards.restore()
    may_end.set()
    thread.join(10)
    assert ends == [LIMIT]


def test_code_that_another_library_has_put_in_stays() -> None:
    guards, own, other = CodeGuards(), plain.__code__, (lambda: 2).__code__
    guards.guard(plain, lambda function, _: function)
    plain.__code__ = other
    try:
        guards.restore()
        assert plain.__code__ is other
    finally:
        plain.__code__ = own


def test_a_guard_that_is_sent_to_another_process_calls_the_function() -> None:
    guards = CodeGuards()
    guards.guard(plain, lambda _, __: lambda: 2)
    try:
        assert plain() == 2
        make, parts = plain.__code__.co_consts[-1].__reduce__()
    finally:
        guards.restore()
    assert make(*parts).chosen()() == 1


def test_a_function_is_guarded_until_its_last_holder_gives_it_up() -> None:
    """Explanations with two frameworks may guard the same function at the same time."""
    guards, code = CodeGuards(), plain.__code__
    for holder in ("one", "two"):
        guards.guard(plain, lambda _, __: lambda: 2, holder)
    guards.restore("one")
    assert plain() == 2
    assert own_code(plain) is code
    guards.restore("two")
    assert plain.__code__ is code
