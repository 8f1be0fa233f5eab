"""What coroutines hand to the writer's thread, with the future that tells them of the outcome."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..errors import StoreFailed
from .rows import RowKey, RowSubject, Wish


@dataclass(slots=True, eq=False)
class Ticket:
    """Something wanted by a coroutine that waits for ``future`` on ``loop``."""

    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"


@dataclass(slots=True, eq=False)
class Take(Ticket):
    """Wants an answer, or the right to make it.

    Told a row with an answer, or None: the claim is granted, and is to be given back by ``Release`` where
    nobody waits for it any more.
    """

    wish: Wish
    give_back: "Callable[[Release], None]"


@dataclass(slots=True, eq=False)
class Put(Ticket):
    """Wants an answer stored. Told the row of another answer that came first, or None."""

    wish: Wish
    answer: bytes
    latency: float | None


@dataclass(slots=True, eq=False)
class Recall(Ticket):
    """Wants a judgement. Told its bytes, or None."""

    memo: str


@dataclass(slots=True, eq=False)
class Remember(Ticket):
    """Wants a judgement stored. Told None."""

    memo: str
    predicate: RowSubject
    judgement: bytes


@dataclass(frozen=True, slots=True)
class Release:
    """Gives a claim back. Nobody waits for that."""

    key: RowKey


@dataclass(frozen=True, slots=True)
class StopWriting:
    """Ends the writer, once what is queued before it is done."""


WantedWork: TypeAlias = Take | Put | Recall | Remember | Release | StopWriting
TicketOutcome: TypeAlias = tuple[Ticket, object]
"""A ticket and its outcome; one that is a StoreFailed is raised."""


def tell(told: Iterable[TicketOutcome]) -> list[RowKey]:
    """Wakes the waiting coroutines, each loop once. The keys of claims that nobody waits for any more.

    Thread-safe. Of coroutines that were cancelled, only those are known here whose loop was closed.
    """
    by_loop: dict[asyncio.AbstractEventLoop, list[TicketOutcome]] = {}
    for each in told:
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
