"""This module defines the requests that coroutines send to the writer's thread, with futures for the
outcomes."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..errors import StoreFailed
from .rows import RowKey, RowSubject, Wish


@dataclass(slots=True, eq=False)
class Ticket:
    """A Ticket is a request of a coroutine that waits for ``future`` on ``loop``."""

    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"


@dataclass(slots=True, eq=False)
class Take(Ticket):
    """A Take requests an answer, or the claim to make it.

    Its outcome is a row with an answer, or None for a granted claim. A claim that no coroutine waits for
    any more must be given back by ``give_back``.
    """

    wish: Wish
    give_back: "Callable[[Release], None]"


@dataclass(slots=True, eq=False)
class Put(Ticket):
    """A Put requests that an answer is stored. Its outcome is the row of an earlier answer, or None."""

    wish: Wish
    answer: bytes
    latency: float | None


@dataclass(slots=True, eq=False)
class Recall(Ticket):
    """A Recall requests a judgement. Its outcome are the judgement's bytes, or None."""

    memo: str


@dataclass(slots=True, eq=False)
class Remember(Ticket):
    """A Remember requests that a judgement is stored. Its outcome is None."""

    memo: str
    predicate: RowSubject
    judgement: bytes


@dataclass(frozen=True, slots=True)
class Release:
    """A Release gives a claim back. It has no outcome."""

    key: RowKey


@dataclass(frozen=True, slots=True)
class StopWriting:
    """A StopWriting ends the writer, once all earlier requests are done."""


WantedWork: TypeAlias = Take | Put | Recall | Remember | Release | StopWriting
TicketOutcome: TypeAlias = tuple[Ticket, object]
"""A ticket and its outcome; a StoreFailed is raised at the ticket's coroutine."""


def set_outcomes(settled: Iterable[TicketOutcome]) -> list[RowKey]:
    """Sets the outcomes of tickets, with one call per loop; returns the keys of claims without a waiting
    coroutine.

    Thread-safe. The keys are those of closed loops; cancelled coroutines on open loops give claims back
    later.
    """
    by_loop: dict[asyncio.AbstractEventLoop, list[TicketOutcome]] = {}
    for each in settled:
        by_loop.setdefault(each[0].loop, []).append(each)
    unwanted: list[RowKey] = []
    for loop, outcomes in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve, outcomes)
        except RuntimeError:  # the loop was closed
            unwanted += [t.wish.key for t, outcome in outcomes if outcome is None and isinstance(t, Take)]
    return unwanted


def _resolve(outcomes: list[TicketOutcome]) -> None:
    for ticket, outcome in outcomes:
        if ticket.future.done():  # cancelled
            if outcome is None and isinstance(ticket, Take):
                ticket.give_back(Release(ticket.wish.key))
        elif isinstance(outcome, StoreFailed):
            ticket.future.set_exception(outcome)
        else:
            ticket.future.set_result(outcome)
