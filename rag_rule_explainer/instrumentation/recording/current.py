"""This module stores the gate of the running baseline or replay in the current context. A *gate* handles
all searches of a run; searches that are called in the context find it here."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeAlias

from .nested import Nested
from .recorder import Recording
from .serving import Serving

GoingOn: TypeAlias = Recording[Any] | Serving[Any]
"""The gate of a run: a ``Recording`` records the searches of the baseline, a ``Serving`` answers the
searches of a replay."""
AnyPart: TypeAlias = GoingOn | Nested
"""The object that handles a search: ``GoingOn`` for a search of the run itself, ``Nested`` for a search
that another search makes."""
_going_on: ContextVar[AnyPart | None] = ContextVar("rag_rule_going_on", default=None)


def going_on() -> GoingOn | None:
    """Returns the gate of the current run: the object that records or answers its searches. Returns None
    outside of runs, and after the run has ended."""
    current = _going_on.get()
    return None if isinstance(current, Nested) or current is None or current.closed else current


def handling() -> AnyPart | None:
    """Returns the object that records or answers a search which begins now. It belongs to the current run
    or, inside another search of the baseline, to that search. Returns None if no object handles it."""
    current = _going_on.get()
    return None if current is None or current.closed else current


@contextmanager
def taking_part(gate: GoingOn | None) -> Generator[None, None, None]:
    """Makes ``gate`` handle the searches of the block, and closes it at the end. If ``gate`` is None, no
    object handles them."""
    token = _going_on.set(gate)
    try:
        yield
    finally:
        if gate is not None:
            gate.closed = True
        # The garbage collector may end an abandoned stream in a different context. The variable cannot be
        # reset there, and the ValueError is ignored.
        with suppress(ValueError):
            _going_on.reset(token)


@contextmanager
def rejoining(gate: AnyPart) -> Generator[None, None, None]:
    """Makes ``gate`` handle the searches of the block in a different context in which its run continues,
    such as that of a thread. ``gate`` is not closed at the end of the block, because the run goes on."""
    token = _going_on.set(gate)
    try:
        yield
    finally:
        # The garbage collector may end an abandoned stream in a different context. The variable cannot be
        # reset there, and the ValueError is ignored.
        with suppress(ValueError):
            _going_on.reset(token)
