"""The one thread of a store that talks to its database.

It takes whatever is queued, does it in one transaction, commits, and only then tells those who wait:
nobody uses an answer before it is committed, and many answers share one commit.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from functools import partial
from math import inf
from queue import Empty, SimpleQueue

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from ..errors import StoreFailed
from .claim_owner import new_owner, retire
from .database import Database, Result, patiently
from .failures import failed, is_broken, may_pass
from .memory_claims import Grants
from .requests import Release, StopWriting, Ticket, WantedWork, tell
from .rows import Wish
from .single_flight import FlightBatch, Flights, Landed
from .sole_writer import Stay
from .transaction import claim_all, perform


def _may_come_back(error: Exception) -> bool:
    # It was there before, so this may be no more than a restart.
    return may_pass(error) or is_broken(error)


class Writer:
    """This class represents a thread that serves tickets, as long as the process lives or until it is
    stopped.

    ``commits``: how many transactions it has committed. ``grants``: what needs no ticket.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.owner = new_owner()
        self.commits = 0
        self.grants = Grants()
        # Unlike a lock, it may be put into by a destructor that runs in the midst of another put.
        self._queue: SimpleQueue[WantedWork] = SimpleQueue()
        self._flights = Flights(self.grants)
        self._presence = database.presence()
        self._stay = Stay(self._presence, self._flights, self._claim)
        self._connection: Connection | None = None
        self._stopped = False
        self._served = 0
        self._thread = threading.Thread(target=self._run, name="rag-rule-store", daemon=True)
        self._thread.start()

    @property
    def serves(self) -> bool:
        """True until it is stopped."""
        return not self._stopped

    def submit(self, wanted: WantedWork) -> None:
        """Queues it; thread-safe, never blocks. Raises StoreFailed after the writer was stopped."""
        if self._stopped and not isinstance(wanted, (Release, StopWriting)):
            raise StoreFailed(f"the store {self.database.shown} was closed; open it anew")
        self._queue.put(wanted)
        if self._stopped:
            self._refuse()

    def stop(self, seconds: float = 5.0) -> None:
        """Does what is queued, closes the connection, and waits for that, but not for long."""
        self._queue.put(StopWriting())
        self._thread.join(seconds)
        retire(self.owner)

    def forked(self) -> None:
        """In a child, where the thread is not: what is the parent's is let go of."""
        self._stopped = True
        self.grants.forked()
        self._stay.leave()

    def _run(self) -> None:
        try:
            while not self._stopped:
                self._look()
                self._serve(self._next())
        finally:
            self._stopped = True
            self._flights.closed()
            self._stay.leave()
            self._disconnect()
            self._refuse()

    def _refuse(self) -> None:
        """Tells those who came too late."""
        left = [self._queue.get_nowait() for _ in range(self._queue.qsize())]
        late = [each for each in left if isinstance(each, Ticket)]
        # No error without somebody to tell it: a claim may be dropped while the interpreter shuts down,
        # when what words an error can import nothing any more.
        if late:
            error = StoreFailed(f"the store {self.database.shown} was closed; open it anew")
            tell((each, error) for each in late)

    def _next(self) -> list[WantedWork]:
        """Returns what is queued; waits for something, or for the time at which there may be something to
        do."""
        due = min(self._flights.due, self._stay.due)
        timeout = None if due == inf else max(0.0, due - time.monotonic())
        try:
            wanted = [self._queue.get(timeout=timeout)]
            # Half of those who come again and again: while these are served, the others get ready.
            waiting = self._queue.qsize()
            some = max(self.database.hot.FEWEST, (waiting + self._served + 2) // 2)
            wanted += [self._queue.get_nowait() for _ in range(min(some - 1, waiting))]
            self._served = len(wanted)
        except Empty:
            return []
        self._stopped = any(isinstance(each, StopWriting) for each in wanted)
        return wanted

    def _look(self) -> None:
        now = time.monotonic()
        # Not for every commit: any call to the system gives the interpreter's lock away.
        if now >= self._stay.due:
            with contextlib.suppress(SQLAlchemyError, sqlite3.Error, OSError, StoreFailed):
                self._stay.look(now)

    def _serve(self, wanted: list[WantedWork]) -> None:
        batch = self._flights.board(wanted, time.monotonic())
        unwanted = []
        if batch.needs_database:
            self._stay.worked()
            try:
                landed = patiently(partial(self._transaction, batch), _may_come_back)
            except BaseException as error:
                # Whatever it is, those who wait are told, and the thread serves the next ones.
                told = failed(self.database.shown, error)
                told.__cause__ = None if told is error else error
                self._flights.failed(batch, told, time.monotonic())
            else:
                unwanted = self._flights.landed(batch, landed, time.monotonic())
        for key in (*unwanted, *tell(batch.told)):
            self._queue.put(Release(key))

    def _transaction(self, batch: FlightBatch) -> Landed:
        self._stay.begin()
        batch.openings = self._flights.openings(batch)
        return self._committed(partial(perform, batch))

    def _claim(self, wishes: list[Wish]) -> None:
        self._committed(partial(claim_all, wishes))

    def _committed(self, work: Callable[[Connection, Database, str], Result]) -> Result:
        """Does what is a transaction, or a few that come to one."""
        if self._connection is None:
            self.database.check_there()  # or it would be made anew, with nothing in it
            self._connection = self.database.connect()
        try:
            result = work(self._connection, self.database, self.owner)
            # Afterwards, so that nobody is told of an answer as stored that went nowhere.
            self.database.check_there()
        except BaseException:
            # It may be of no use any more; the next one tries with a new one. Nothing is said on it: what
            # is open there ends with it.
            self._disconnect(politely=False)
            raise
        self.commits += 1
        return result

    def _disconnect(self, *, politely: bool = True) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with contextlib.suppress(SQLAlchemyError, sqlite3.Error, OSError):
            if politely:
                connection.close()
                return
        with contextlib.suppress(SQLAlchemyError, sqlite3.Error, OSError):
            connection.invalidate()
            connection.close()
