"""This module runs the only thread of a store that uses its database.

It does all queued requests in one transaction, commits, and only then sets the outcomes: no answer is
used before it is committed, and many answers share one commit.
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
from .requests import Release, StopWriting, Ticket, WantedWork, set_outcomes
from .rows import Wish
from .single_flight import FlightBatch, Flights, Landed
from .sole_writer import Stay
from .transaction import claim_all, perform


def _may_come_back(error: Exception) -> bool:
    # The database has worked before, so it may only be restarting.
    return may_pass(error) or is_broken(error)


class Writer:
    """A Writer is a thread that serves tickets until it is stopped or the process ends. ``commits``: the
    number of committed transactions. ``grants``: the claims that need no ticket."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.owner = new_owner()
        self.commits = 0
        self.grants = Grants()
        # SimpleQueue is reentrant: a destructor that runs during a put may put as well.
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
        """True until the writer is stopped."""
        return not self._stopped

    def submit(self, wanted: WantedWork) -> None:
        """Queues a request; thread-safe, never blocks. Raises StoreFailed after the writer was
        stopped."""
        if self._stopped and not isinstance(wanted, (Release, StopWriting)):
            raise StoreFailed(f"the store {self.database.shown} was closed; open it anew")
        self._queue.put(wanted)
        if self._stopped:
            self._refuse()

    def stop(self, seconds: float = 5.0) -> None:
        """Finishes the queued requests and closes the connection; waits for that at most ``seconds``."""
        self._queue.put(StopWriting())
        self._thread.join(seconds)
        retire(self.owner)

    def forked(self) -> None:
        """Stops the writer in a forked child, which has no writer's thread, and leaves the parent's lock
        alone."""
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
        """Fails the tickets that were queued after the stop."""
        left = [self._queue.get_nowait() for _ in range(self._queue.qsize())]
        late = [each for each in left if isinstance(each, Ticket)]
        # No error is made without a ticket: a claim may be dropped at the interpreter's shutdown, when
        # imports fail.
        if late:
            error = StoreFailed(f"the store {self.database.shown} was closed; open it anew")
            set_outcomes((each, error) for each in late)

    def _next(self) -> list[WantedWork]:
        """Returns queued requests; waits for the first one, or until a flight or a look is due."""
        due = min(self._flights.due, self._stay.due)
        timeout = None if due == inf else max(0.0, due - time.monotonic())
        try:
            wanted = [self._queue.get(timeout=timeout)]
            # Half of the regular callers are served at once; the others prepare their next requests
            # meanwhile.
            waiting = self._queue.qsize()
            batch_size = max(self.database.hot.FEWEST, (waiting + self._served + 2) // 2)
            wanted += [self._queue.get_nowait() for _ in range(min(batch_size - 1, waiting))]
            self._served = len(wanted)
        except Empty:
            return []
        self._stopped = any(isinstance(each, StopWriting) for each in wanted)
        return wanted

    def _look(self) -> None:
        now = time.monotonic()
        # The check avoids a system call for every commit, which would release the interpreter's lock.
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
                # Any error becomes the outcome of all tickets, and the thread continues.
                failure = failed(self.database.shown, error)
                failure.__cause__ = None if failure is error else error
                self._flights.failed(batch, failure, time.monotonic())
            else:
                unwanted = self._flights.landed(batch, landed, time.monotonic())
        for key in (*unwanted, *set_outcomes(batch.outcomes)):
            self._queue.put(Release(key))

    def _transaction(self, batch: FlightBatch) -> Landed:
        self._stay.begin()
        batch.openings = self._flights.openings(batch)
        return self._committed(partial(perform, batch))

    def _claim(self, wishes: list[Wish]) -> None:
        self._committed(partial(claim_all, wishes))

    def _committed(self, work: Callable[[Connection, Database, str], Result]) -> Result:
        """Returns the result of work that commits; reconnects after a failure."""
        if self._connection is None:
            self.database.check_there()  # connecting would make a new, empty file
            self._connection = self.database.connect()
        try:
            result = work(self._connection, self.database, self.owner)
            # This check comes after the commit, so that no answer in a deleted file is reported as
            # stored.
            self.database.check_there()
        except BaseException:
            # The connection may be unusable, so the next transaction opens a new one; closing ends the
            # open one.
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
