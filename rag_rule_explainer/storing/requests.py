"""This module defines the requests to a store's writer, the only thread that uses the database. A
coroutine waits on a future for the outcome of its request."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..errors import StoreFailed
from .rows import RowKey, RowSubject, Wish


@dataclass(slots=True, eq=False)
class Ticket:
    """A ``Ticket`` is a request to the writer for whose outcome a coroutine waits. ``future``: gets
    the outcome. ``loop``: the event loop of the coroutine."""

    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"


@dataclass(slots=True, eq=False)
class Take(Ticket):
    """A ``Take`` requests a stored answer. If the answer is not stored, a ``Take`` requests the claim:
    the right to make the answer, which only one caller has at a time.

    The outcome is the row of the answer, or None if the claim is granted. ``wish``: the requested answer.
    ``give_back``: a function that is called with a ``Release`` if the claim is granted after the
    coroutine was cancelled.
    """

    wish: Wish
    give_back: "Callable[[Release], None]"


@dataclass(slots=True, eq=False)
class Put(Ticket):
    """A ``Put`` requests that an answer is stored. The outcome is None. If a different answer was stored
    first, nothing is stored, and the outcome is the row of that answer."""

    wish: Wish
    answer: bytes
    latency: float | None


@dataclass(slots=True, eq=False)
class Recall(Ticket):
    """A ``Recall`` requests the judgement that is stored under the key ``memo``. The outcome is the
    judgement as bytes; None if there is none."""

    memo: str


@dataclass(slots=True, eq=False)
class Remember(Ticket):
    """A ``Remember`` requests that a judgement is stored under the key ``memo``. The outcome is None, and
    is set when the judgement is committed."""

    memo: str
    predicate: RowSubject
    judgement: bytes


@dataclass(frozen=True, slots=True)
class Release:
    """A ``Release`` gives back a claim (the right to make an answer), so that another caller can make
    this answer. Nobody waits for its outcome."""

    key: RowKey


@dataclass(frozen=True, slots=True)
class StopWriting:
    """A ``StopWriting`` requests that the writer ends. Earlier requests in the queue are still done."""


WantedWork: TypeAlias = Take | Put | Recall | Remember | Release | StopWriting
TicketOutcome: TypeAlias = tuple[Ticket, object]
"""A ticket and its outcome. If the outcome is a StoreFailed, the coroutine that waits raises it."""


def set_outcomes(settled: Iterable[TicketOutcome]) -> list[RowKey]:
    """Sets the outcomes of tickets (requests for which a coroutine waits), with one call for each event
    loop. This function is thread-safe.

    Returns the keys of claims that were granted to a coroutine whose event loop is closed. Nobody can use
    these claims, so the caller must release them. If only the coroutine was cancelled, its claim is
    released here, on its event loop.
    """
    by_loop: dict[asyncio.AbstractEventLoop, list[TicketOutcome]] = {}
    for each in settled:
        by_loop.setdefault(each[0].loop, []).append(each)
    unwanted: list[RowKey] = []
    for loop, outcomes in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve, outcomes)
        except RuntimeError:  # the event loop is closed, so no coroutine waits
            unwanted += [t.wish.key for t, outcome in outcomes if outcome is None and isinstance(t, Take)]
    return unwanted


def _resolve(outcomes: list[TicketOutcome]) -> None:
    for ticket, outcome in outcomes:
        if ticket.future.done():  # the coroutine that waited was cancelled
            if outcome is None and isinstance(ticket, Take):
                ticket.give_back(Release(ticket.wish.key))
        elif isinstance(outcome, StoreFailed):
            ticket.future.set_exception(outcome)
        else:
            ticket.future.set_result(outcome)
