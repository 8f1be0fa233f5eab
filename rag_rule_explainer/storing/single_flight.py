"""This module tracks the answers that are being made, so that only one caller makes each of them.

An answer that is being made or requested is called a *flight*. The callers that need the same answer wait
until the flight ends, and then all get it. The module runs in the thread of the writer (the only thread
that uses the database), but does not use the database itself.
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
"""The number of times that a claim (the right to make an answer) is renewed within its lease (the time
after which it would expire), so that a single late renewal does not end the claim."""


@dataclass(slots=True, eq=False)
class Flight:
    """A ``Flight`` is an answer that is being made, or that is being requested from the database.

    ``first``: the first request for the answer. ``waiting``: the callers in this process that wait for
    the answer. ``held``: True if this process has the claim (the right to make the answer); False if
    another process has it, or if this is not known yet. ``pause``: the seconds after which the database
    is next asked for an answer that another process makes. ``due``: the time at which the claim must be
    renewed, or the database asked again; 0 before the first transaction.
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
    """A ``FlightBatch`` holds the work for one transaction, and the outcomes that requests get after it.
    A *flight* is an answer that is being made or requested.

    ``puts``: the answers to store. ``released``: the keys of claims (rights to make an answer) to give
    back. ``wanted``: the flights whose answer is looked up; if it is not stored, its claim is requested.
    ``renewed``: the flights whose claim gets more time. ``recalls``, ``remembers``: the judgements to
    look up and to store. ``openings``: the digests of questions. All keys that the store has for these
    questions are read, so that a claim for another key is granted without asking the store.
    ``outcomes``: each request with its outcome.
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
        """Returns True if a transaction is needed for this batch."""
        return bool(self.puts or self.wanted) or self.needs_more_than_puts_and_claims

    @property
    def needs_more_than_puts_and_claims(self) -> bool:
        """Returns True if the batch has work other than storing answers and claiming answers. For these
        two, there is a faster way (``put_and_claim``)."""
        return any((self.released, self.renewed, self.recalls, self.remembers, self.openings))


@dataclass(slots=True)
class Landed:
    """A ``Landed`` holds the results of a committed transaction.

    ``standing`` maps a key to the stored row of an answer that another process stored first; this
    process's own answer to the same key was then not stored. ``taken`` maps the key of a wanted answer
    to what the database had: its row, a StoreFailed if the row cannot be read, or None if another
    process is making the answer. This process now has the claims (rights to make an answer) for all
    wanted keys that are not in ``taken``. ``recalled`` maps a key to the judgement found. ``opened``
    maps each question of ``FlightBatch.openings`` to those of its keys that have an answer or a claim.
    """

    standing: Mapping[RowKey, object] = field(default_factory=dict[RowKey, object])
    taken: Mapping[RowKey, object] = field(default_factory=dict[RowKey, object])
    recalled: Mapping[str, object] = field(default_factory=dict[str, object])
    opened: Mapping[str, list[RowKey]] = field(default_factory=dict[str, list[RowKey]])


class Flights:
    """A ``Flights`` tracks all answers of one store that are being made, as far as this process knows,
    and decides which requests need the database. ``grants``: the claims (rights to make an answer) that
    are granted in memory only."""

    def __init__(self, grants: Grants) -> None:
        self._grants = grants
        self._by_key: dict[RowKey, Flight] = {}
        self.alone = False
        """True while this process has the exclusive lock, so that no other process uses the database."""
        self.due = inf
        """The next time (by ``time.monotonic``) at which a claim (the right to make an answer) must be
        renewed, or at which the database must be asked again for an answer that another process makes."""

    @property
    def are_over(self) -> bool:
        """Returns True if no answer is being made or requested."""
        return not self._by_key and not self._grants

    def board(self, wanted: Iterable[WantedWork], now: float) -> FlightBatch:
        """Returns a batch with the requests among ``wanted`` that need the database.

        A request for an answer that is already being made waits for this answer together with earlier
        requests. Other requests that do not need the database get their outcome in the batch. ``now``:
        the time by ``time.monotonic``.
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
        ``found``: the results of the transaction. ``now``: the time by ``time.monotonic``.

        Returns the keys of claims (rights to make an answer) that were granted although no caller waits
        for them any more. The caller must release these, so that others can make the answers.
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
        """Returns the digests of the questions in this batch for which claims (rights to make an answer)
        could be granted in memory after their stored keys have been read. If other processes use the
        database too, returns no digests, because other processes cannot see claims in memory."""
        questions = (
            {flight.first.question.digest for flight in batch.wanted} if self.alone else set[str]()
        )
        return {question for question in questions if self._grants.is_new(question)}

    def closed(self) -> list[Wish]:
        """Makes the database grant all claims (rights to make an answer) from now on, instead of
        granting them in memory. Returns the claims granted in memory that are still held; the caller
        must write them to the database before another process begins to use it."""
        self.alone = False
        return self._grants.close()

    def claimed(self, wishes: Iterable[Wish], now: float) -> None:
        """Records that these claims (rights to make an answer), which were in memory only, now have rows
        in the database. From now on they are renewed, because rows expire."""
        for wish in wishes:
            flight = self._by_key.setdefault(wish.key, Flight(wish, [], held=True))
            self._wake_at(flight, now + wish.lease / _RENEWALS)
            self._grants.end(wish.key)

    def failed(self, batch: FlightBatch, error: StoreFailed, now: float) -> None:
        """Ends the flights (answers that are being made) of a batch whose transaction failed. All callers
        that wait for them get ``error`` as their outcome. ``now``: the time by ``time.monotonic``."""
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
        # If other callers of this process wait for the answer, one of them gets the claim, and the row
        # of the claim stays in the database.
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
        """Gives the claim for the answer of ``flight`` (the right to make this answer) to the caller that
        has waited longest for it. Returns False if no caller waits."""
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
