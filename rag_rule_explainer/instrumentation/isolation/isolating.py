"""This module carries out the methods of memories on the current run's copy of their content.

Each method is written once for sync and async callers, as a generator. It yields the calls of the real
object that it needs; ``carried_out`` makes these calls, and ``acarried_out`` awaits them.
"""

import inspect
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ..copies.state import State
from ..run_context import participation

T = TypeVar("T")

_reading_real: ContextVar[bool] = ContextVar("rag_rule_reading_real", default=False)


class Real(NamedTuple):
    """A ``Real`` describes a call of the real object.

    ``reading``: the name of a method that only reads, called with ``given``; empty for the application's
    own call.
    """

    reading: str = ""
    given: tuple[Any, ...] = ()


MADE = Real()
"""This value stands for the call that the application made, unchanged."""

Use: TypeAlias = Generator[Real, Any, Any]
"""A generator that yields calls, is sent their results, and returns the result for the caller."""


def current_state() -> State | None:
    """Returns the state of the current run; None outside of runs, and inside ``reading_real``."""
    run = participation()
    return None if run is None or _reading_real.get() else run.state


@contextmanager
def reading_real() -> Generator[None, None, None]:
    """Lets all calls inside the block use the real objects."""
    token = _reading_real.set(True)
    try:
        yield
    finally:
        _reading_real.reset(token)


def carried_out(use: Use, call: Callable[[Real], Any]) -> Any:
    """Runs a generator and returns its result. ``call`` makes each call that the generator yields."""
    try:
        real = next(use)
        while True:
            with reading_real() if real.reading else nullcontext():
                found = call(real)
            real = use.send(found)
    except StopIteration as done:
        return done.value


async def acarried_out(use: Use, call: Callable[[Real], Awaitable[Any]]) -> Any:
    """Runs a generator and returns its result. ``call`` makes each call that the generator yields; its
    result is awaited."""
    try:
        real = next(use)
        while True:
            with reading_real() if real.reading else nullcontext():
                found = await call(real)
            real = use.send(found)
    except StopIteration as done:
        return done.value


def arguments(method: Callable[..., Any], *given: Any, **named: Any) -> dict[str, Any]:
    """Returns the arguments of a call by parameter name, with defaults."""
    bound = _signature(method).bind(*given, **named)
    bound.apply_defaults()
    return dict(bound.arguments)


@lru_cache(maxsize=1024)
def _signature(method: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(method)
