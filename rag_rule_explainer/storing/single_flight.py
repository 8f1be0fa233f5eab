"""This module tracks the answers that are being made, so that only one caller makes each of them.

An answer that is being made is called a *flight*. Other callers that need the answer wait until the
flight ends. The module runs in the writer's thread, and does not use the database itself.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf

from ..errors import StoreFailed
from .memory_claims import Grants
from .requests import Put, Recall, Release, Remember, StopWriting, Take, TicketOutcome, WantedWork
from .rows import RowKey, Wish

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_RENEWALS = 3
"""How often a claim is renewed within its lease. The lease is the time after which a claim expires."""


@dataclass(slots=True, eq=False)
class Flight:
    """A ``Flight`` is an answer that is being made, or that is being requested from the database.

    ``first``: the first request for the answer. ``waiting``: the callers in this process that wait for
    it. ``held``: True if this process has the claim to make it; False if another process has the claim or
    if this is not known yet. ``pause``: the seconds until the database is checked again for the answer of
    another process. ``due``: the time at which to renew the claim or to check the database; 0 before the
    first transaction.
    """

    first: Wish
    waiting: list[Take]
    held: bool = False
    pause: float = _SHORTEST_PAUSE
    due: float = 0.0

    @property
    def key(self) -> RowKey:
        """Returns the key of the answer."""
        return self.first.key


@dataclass(slots=True)
class FlightBatch:
    """A ``FlightBatch`` holds the work for one transaction, and the outcomes to set after it.

    ``puts``: the answers to store. ``released``: the keys of claims to give back. ``wanted``: the flights
    whose answer or claim is requested. ``renewed``: the flights whose claim gets more time. ``openings``:
    the digests of questions whose keys are read, so that later claims can be granted in memory.
    """

    puts: list[Put] = field(default_factory=list[Put])
    released: list[RowKey] = field(default_factory=list[RowKey])
    wanted: list[Flight] = field(default_factory=list[Flight])
    renewed: list[Flight] = field(default_factory=list[Flight])
    recalls: list[Recall] = field(default_factory=list[Recall])
    remembers: list[Remember] = field(default_factory=list[Remember])
    openings: set[str] = field(default_factory=set[str])
    outcomes: list[TicketOutcome] = field(default_factory=list[TicketOutcome])

    @property
    def needs_database(self) -> bool:
        """Returns True if the batch has any work for the database."""
        return bool(self.puts or self.wanted) or self.needs_more_than_puts_and_claims

    @property
    def needs_more_than_puts_and_claims(self) -> bool:
        """Returns True if the batch has work for the database other than storing answers and inserting
        claims."""
        return any((self.released, self.renewed, self.recalls, self.remembers, self.openings))


@dataclass(slots=True)
class Landed:
    """A ``Landed`` holds the results of a committed transaction.

    ``standing``: by key, the rows of answers that another process stored first, so that the answers of
    this process were not stored. ``taken``: what the database had for the wanted keys: the row of an
    answer, a StoreFailed if the row cannot be read, or None if another process is making the answer. For
    a wanted key that is not in ``taken``, this process now has the claim. ``recalled``: the judgements by
    their key. ``opened``: for each question, the keys of its rows.
    """

    standing: Mapping[RowKey, object] = field(default_factory=dict[RowKey, object])
    taken: Mapping[RowKey, object] = field(default_factory=dict[RowKey, object])
    recalled: Mapping[str, object] = field(default_factory=dict[str, object])
    opened: Mapping[str, list[RowKey]] = field(default_factory=dict[str, list[RowKey]])


class Flights:
    """This class tracks all answers of one store that are being made, as far as this process knows. It
    decides which requests need the database. ``grants``: the claims that are granted in memory only."""

    def __init__(self, grants: Grants) -> None:
        self._grants = grants
        self._by_key: dict[RowKey, Flight] = {}
        self.alone = False
        """True while no other process can use the database."""
        self.due = inf
        """The next time (by ``time.monotonic``) at which a claim must be renewed, or at which the
        database must be checked for the answer of another process."""

    @property
    def are_over(self) -> bool:
        """Returns True if no answer is being made or requested."""
        return not self._by_key and not self._grants

    def board(self, wanted: Iterable[WantedWork], now: float) -> FlightBatch:
        """Returns a batch with those requests that need the database.

        If a requested answer is already being made, the request waits for that answer. Some other
        requests get their outcome at once.
        """
        batch = FlightBatch()
        for each in wanted:
            match each:
                case Put():
                    batch.puts.append(each)
                case Take():
                    self._take(each, batch)
                case Recall():
                    batch.recalls.append(each)
                case Remember():
                    batch.remembers.append(each)
                case Release():
                    self._release(each.key, batch)
                case StopWriting():
                    self._stop(batch)
        if now >= self.due:
            self._look_around(batch, now)
        return batch

    def landed(self, batch: FlightBatch, found: Landed, now: float) -> list[RowKey]:
        """Adds the outcomes for the waiting callers to a batch whose transaction was committed.

        ``found``: the results of the transaction. Returns the keys of claims that were granted although
        no caller waits for them any more; the caller must release these.
        """
        for put in batch.puts:
            key = put.wish.key
            row = found.standing.get(key)
            batch.outcomes.append((put, row))
            self._end(key, (put.answer, put.latency) if row is None else row, batch)
        unwanted: list[RowKey] = []
        for flight in batch.wanted:
            if flight.key not in found.taken:
                if not self._grant(flight, batch):
                    unwanted.append(flight.key)
                self._wake_at(flight, now + flight.first.lease / _RENEWALS)
            elif (row := found.taken[flight.key]) is not None:
                self._end(flight.key, row, batch)
            else:
                self._wake_at(flight, now + flight.pause)
                flight.pause = min(1.5 * flight.pause, _LONGEST_PAUSE)
        for flight in batch.renewed:
            self._wake_at(flight, now + flight.first.lease / _RENEWALS)
        batch.outcomes += [(recall, found.recalled.get(recall.memo)) for recall in batch.recalls]
        batch.outcomes += [(remember, None) for remember in batch.remembers]
        if self.alone:
            for question, keys in found.opened.items():
                self._grants.open(question, [*keys, *self._by_key])
        return unwanted

    def openings(self, batch: FlightBatch) -> set[str]:
        """Returns the digests of those questions in this batch whose keys should be read. There are
        none if other processes use the database too, because claims are then not granted in memory."""
        questions = (
            {flight.first.question.digest for flight in batch.wanted} if self.alone else set[str]()
        )
        return {question for question in questions if self._grants.is_new(question)}

    def closed(self) -> list[Wish]:
        """Stops granting claims in memory only (without the database). Returns the claims that were
        granted in memory and have not ended."""
        self.alone = False
        return self._grants.close()

    def claimed(self, wishes: Iterable[Wish], now: float) -> None:
        """Notes that these claims now have rows in the database, so that they must be renewed. They
        were granted in memory only until now."""
        for wish in wishes:
            flight = self._by_key.setdefault(wish.key, Flight(wish, [], held=True))
            self._wake_at(flight, now + wish.lease / _RENEWALS)
            self._grants.end(wish.key)

    def failed(self, batch: FlightBatch, error: StoreFailed, now: float) -> None:
        """Ends the flights of a transaction that failed. All callers that wait for them get the error
        as the outcome."""
        for put in batch.puts:
            batch.outcomes.append((put, _again(error)))
            self._end(put.wish.key, error, batch)
        for flight in batch.wanted:
            self._end(flight.key, error, batch)
        for flight in batch.renewed:
            self._wake_at(flight, now + flight.first.lease / _RENEWALS)
        batch.outcomes += [(ticket, _again(error)) for ticket in (*batch.recalls, *batch.remembers)]

    def _take(self, take: Take, batch: FlightBatch) -> None:
        wish = take.wish
        flight = self._by_key.get(wish.key)
        if flight is not None:
            flight.waiting.append(take)
        elif (granted := self._grants.granted(wish.key)) is not None:
            # The claim was granted in memory only. It has no row that can expire, so it is never renewed.
            self._by_key[wish.key] = Flight(granted, [take], held=True, due=inf)
        else:
            flight = self._by_key[wish.key] = Flight(wish, [take])
            batch.wanted.append(flight)

    def _release(self, key: RowKey, batch: FlightBatch) -> None:
        flight = self._by_key.get(key)
        if flight is None:
            self._grants.end(key)
        # If another caller of this process waits, it gets the claim, and the row of the claim stays.
        elif flight.held and not self._grant(flight, batch):
            del self._by_key[key]
            if not self._grants.end(key):
                batch.released.append(key)

    def _stop(self, batch: FlightBatch) -> None:
        for flight in list(self._by_key.values()):
            if flight not in batch.wanted:
                if flight.held and not self._grants.end(flight.key):
                    batch.released.append(flight.key)
                self._end(flight.key, StoreFailed("the store was closed; open it anew"), batch)

    def _grant(self, flight: Flight, batch: FlightBatch) -> bool:
        """Gives the claim to the caller that has waited longest. Returns False if no caller waits."""
        flight.held = True
        while flight.waiting:
            take = flight.waiting.pop(0)
            if not take.future.cancelled():
                batch.outcomes.append((take, None))
                return True
        return False

    def _end(self, key: RowKey, outcome: object, batch: FlightBatch) -> None:
        self._grants.end(key)
        flight = self._by_key.pop(key, None)
        if flight is not None:
            batch.outcomes += [(take, _again(outcome)) for take in flight.waiting]
            flight.waiting.clear()

    def _look_around(self, batch: FlightBatch, now: float) -> None:
        self.due = inf
        for key, flight in list(self._by_key.items()):
            if flight.due > now:
                self._wake_at(flight, flight.due)
            elif flight.held:
                batch.renewed.append(flight)
            elif all(take.future.cancelled() for take in flight.waiting):
                del self._by_key[key]
            elif flight.due:
                batch.wanted.append(flight)

    def _wake_at(self, flight: Flight, due: float) -> None:
        flight.due = due
        self.due = min(self.due, due)


def _again(outcome: object) -> object:
    # Each caller gets its own copy of an error. A shared error would collect the tracebacks of all
    # callers.
    if not isinstance(outcome, StoreFailed):
        return outcome
    copy = StoreFailed(*outcome.args)
    copy.__cause__ = outcome.__cause__
    return copy
