"""How the methods of what remembers are carried out on what a run sees instead of the real thing.

Each use is written once, as a generator that yields the calls it needs of the real thing; ``carried_out``
and ``acarried_out`` make them.
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
    """This class represents a call of the real thing: the one that was made, or one that only reads, by
    its name."""

    reading: str = ""
    given: tuple[Any, ...] = ()


MADE = Real()
"""The very call that was made, as it was made."""

Use: TypeAlias = Generator[Real, Any, Any]
"""Yields the calls that are to be made, is sent what each returned, and returns what the caller gets."""


def current_state() -> State | None:
    """Returns what the current context's run sees; None outside of runs, and while the real thing is
    read."""
    run = participation()
    return None if run is None or _reading_real.get() else run.state


@contextmanager
def reading_real() -> Generator[None, None, None]:
    """Inside, every thing is the real one."""
    token = _reading_real.set(True)
    try:
        yield
    finally:
        _reading_real.reset(token)


def carried_out(use: Use, call: Callable[[Real], Any]) -> Any:
    """Returns what comes of a use; ``call`` makes the calls it needs."""
    try:
        real = next(use)
        while True:
            with reading_real() if real.reading else nullcontext():
                found = call(real)
            real = use.send(found)
    except StopIteration as done:
        return done.value


async def acarried_out(use: Use, call: Callable[[Real], Awaitable[Any]]) -> Any:
    """Returns the same where calls have to be awaited."""
    try:
        real = next(use)
        while True:
            with reading_real() if real.reading else nullcontext():
                found = await call(real)
            real = use.send(found)
    except StopIteration as done:
        return done.value


def arguments(method: Callable[..., Any], *given: Any, **named: Any) -> dict[str, Any]:
    """Returns what a method is called with, by name, with its defaults; extra ones are left as they
    are."""
    bound = _signature(method).bind(*given, **named)
    bound.apply_defaults()
    return dict(bound.arguments)


@lru_cache(maxsize=1024)
def _signature(method: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(method)
