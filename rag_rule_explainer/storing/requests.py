"""This module defines the requests to the store's writer, which is the only thread that uses the
database. Coroutines wait for the outcomes by futures."""

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
    """A ``Take`` requests a stored answer. If there is none, it requests the claim: the right to make the
    answer, which only one caller has at a time.

    The outcome is a row with an answer, or None if the claim is granted. ``wish``: the requested answer.
    ``give_back``: called to give the claim back if the coroutine was cancelled.
    """

    wish: Wish
    give_back: "Callable[[Release], None]"


@dataclass(slots=True, eq=False)
class Put(Ticket):
    """A ``Put`` requests that an answer is stored. The outcome is None. If another answer was stored
    before, the outcome is the row of that answer."""

    wish: Wish
    answer: bytes
    latency: float | None


@dataclass(slots=True, eq=False)
class Recall(Ticket):
    """A ``Recall`` requests a stored judgement. ``memo``: the key of the judgement. The outcome is the
    judgement as bytes; None if there is none."""

    memo: str


@dataclass(slots=True, eq=False)
class Remember(Ticket):
    """A ``Remember`` requests that a judgement is stored. ``memo``: the key of the judgement. The
    outcome is None, once the judgement is committed."""

    memo: str
    predicate: RowSubject
    judgement: bytes


@dataclass(frozen=True, slots=True)
class Release:
    """A ``Release`` gives a claim back, so that another caller can make the answer. Nobody waits for
    its outcome."""

    key: RowKey


@dataclass(frozen=True, slots=True)
class StopWriting:
    """A ``StopWriting`` requests that the writer ends after it has done all earlier requests."""


WantedWork: TypeAlias = Take | Put | Recall | Remember | Release | StopWriting
TicketOutcome: TypeAlias = tuple[Ticket, object]
"""A ticket and its outcome. If the outcome is a StoreFailed, the coroutine that waits raises it."""


def set_outcomes(settled: Iterable[TicketOutcome]) -> list[RowKey]:
    """Sets the outcomes of tickets, with one call for each event loop. Thread-safe.

    Returns the keys of granted claims whose event loop is closed. No coroutine can use such claims, so
    the caller must release them. If the event loop is open but the coroutine was cancelled, its claim is
    released on that loop.
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
