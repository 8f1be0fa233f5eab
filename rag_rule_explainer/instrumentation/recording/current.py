"""This module stores the gate of the running baseline or replay in the current context, so that
intercepted searches find it."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeAlias

from .recorder import Recording
from .serving import Serving

GoingOn: TypeAlias = Recording[Any] | Serving[Any]
"""The gate of a run handles its searches: a ``Recording`` for the baseline, a ``Serving`` for a
replay."""
_going_on: ContextVar[GoingOn | None] = ContextVar("rag_rule_going_on", default=None)


def going_on() -> GoingOn | None:
    """Returns the gate of the current run; None outside of runs, and after the run has ended."""
    current = _going_on.get()
    return None if current is None or current.closed else current


@contextmanager
def taking_part(gate: GoingOn | None) -> Generator[None, None, None]:
    """Sets the gate of the current context for the duration of the block, and closes it at the end. None
    hides the current gate."""
    token = _going_on.set(gate)
    try:
        yield
    finally:
        if gate is not None:
            gate.closed = True
        # An abandoned stream may end in the garbage collector's context, where the variable is unset.
        with suppress(ValueError):
            _going_on.reset(token)


@contextmanager
def rejoining(gate: GoingOn) -> Generator[None, None, None]:
    """Sets the gate of the current context to the gate of a run that another context began. The gate is
    not closed at the end."""
    token = _going_on.set(gate)
    try:
        yield
    finally:
        # An abandoned stream may end in the garbage collector's context, where the variable is unset.
        with suppress(ValueError):
            _going_on.reset(token)
