"""This module makes the methods of memories (objects that store data between runs) use the current run's
copy of their content.

Each method is written once for sync and async callers, as a generator. The generator yields each call of
the real memory that it needs. ``carried_out`` makes these calls, and ``acarried_out`` awaits them.
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
    """A ``Real`` is a generator's request to call a method of the real memory.

    ``reading``: the name of a method that only reads, which is called with the arguments ``given``. If
    ``reading`` is empty, the call that the application made is repeated on the real memory.
    """

    reading: str = ""
    given: tuple[Any, ...] = ()


MADE = Real()
"""A method of a memory yields this to make the application's call on the real memory, with the same
arguments. The result is sent back to the method."""

Use: TypeAlias = Generator[Real, Any, Any]
"""The type of a method of a memory, written as a generator: it yields calls, gets their results by
``send``, and returns the result for the application."""


def current_state() -> State | None:
    """Returns the state of the current run; None outside of runs, and inside ``reading_real``."""
    run = participation()
    return None if run is None or _reading_real.get() else run.state


@contextmanager
def reading_real() -> Generator[None, None, None]:
    """Makes all calls inside the block use the real objects instead of the run's copies."""
    token = _reading_real.set(True)
    try:
        yield
    finally:
        _reading_real.reset(token)


def carried_out(use: Use, call: Callable[[Real], Any]) -> Any:
    """Runs a generator and returns its result. ``call``: makes each call that the generator yields, and
    returns the result of the call."""
    try:
        real = next(use)
        while True:
            with reading_real() if real.reading else nullcontext():
                found = call(real)
            real = use.send(found)
    except StopIteration as done:
        return done.value


async def acarried_out(use: Use, call: Callable[[Real], Awaitable[Any]]) -> Any:
    """Runs a generator and returns its result. ``call``: makes each call that the generator yields, and
    returns an awaitable of the result."""
    try:
        real = next(use)
        while True:
            with reading_real() if real.reading else nullcontext():
                found = await call(real)
            real = use.send(found)
    except StopIteration as done:
        return done.value


def arguments(method: Callable[..., Any], *given: Any, **named: Any) -> dict[str, Any]:
    """Returns the arguments of a call of ``method`` by parameter name, with the default values of
    parameters that got no argument."""
    bound = _signature(method).bind(*given, **named)
    bound.apply_defaults()
    return dict(bound.arguments)


@lru_cache(maxsize=1024)
def _signature(method: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(method)
