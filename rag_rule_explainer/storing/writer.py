"""This module runs the writer of a store: the only thread of this process that writes to its database.

The writer does many requests from its queue in one transaction, commits it, and only then sets the
outcomes of the requests. So no answer is used before it is committed, and many answers share the cost of
one commit.
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
    # The connection worked before. If it is lost, the server may be restarting, and a retry may succeed.
    return may_pass(error) or is_broken(error)


class Writer:
    """A ``Writer`` is a thread that does the requests in its queue, until it is stopped or the process
    ends.

    ``owner``: the name under which the writer has claims (rights to make an answer). ``commits``: the
    number of its committed transactions. ``grants``: grants claims in memory, so that they need no
    request.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.owner = new_owner()
        self.commits = 0
        self.grants = Grants()
        # A destructor, which releases a claim (the right to make an answer), may run in the middle of a
        # ``put()`` of this queue. SimpleQueue allows a ``put()`` within a ``put()``.
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
        """Returns True until the writer is stopped. While it is True, the writer accepts requests."""
        return not self._stopped

    def submit(self, wanted: WantedWork) -> None:
        """Puts a request into the queue, without waiting for its outcome. This method is thread-safe and
        never blocks. Raises StoreFailed if the writer was stopped, but never for a ``Release`` or
        ``StopWriting``."""
        if self._stopped and not isinstance(wanted, (Release, StopWriting)):
            raise StoreFailed(f"the store {self.database.shown} was closed; open it anew")
        self._queue.put(wanted)
        if self._stopped:
            self._refuse()

    def stop(self, seconds: float = 5.0) -> None:
        """Makes the writer do the requests in its queue, close the connection and end. Waits at most
        ``seconds`` for this."""
        self._queue.put(StopWriting())
        self._thread.join(seconds)
        retire(self.owner)

    def forked(self) -> None:
        """Stops the writer in a forked child, in which its thread does not exist. The child has inherited
        the open file of the parent's lock. The child only closes its copy of this file, so that the
        parent keeps the lock."""
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
        """Sets an error as the outcome of the requests that are in the queue after the writer has
        stopped."""
        left = [self._queue.get_nowait() for _ in range(self._queue.qsize())]
        late = [each for each in left if isinstance(each, Ticket)]
        # The error is created only if it is needed. While the interpreter shuts down, claims are still
        # released, but the modules that the error needs can no longer be imported.
        if late:
            error = StoreFailed(f"the store {self.database.shown} was closed; open it anew")
            set_outcomes((each, error) for each in late)

    def _next(self) -> list[WantedWork]:
        """Waits for a request, and returns it together with others from the queue. Returns an empty list
        if no request came before it is time to renew a claim (the right to make an answer) or to check
        for other processes."""
        due = min(self._flights.due, self._stay.due)
        timeout = None if due == inf else max(0.0, due - time.monotonic())
        try:
            wanted = [self._queue.get(timeout=timeout)]
            # Each caller has a request in the queue, or had a request in the last transaction. So the sum
            # of both numbers is about the number of callers. One transaction takes the requests of half
            # of the callers. Meanwhile, the other half can prepare their next requests.
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
        # ``look`` makes a system call, which releases the interpreter's lock and costs time. So ``look``
        # is called only when it is due, and not for every commit.
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
                # Every error becomes the outcome of the batch's requests, so that no caller waits for
                # ever. The thread continues with the next batch.
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
        """Does work that ends with a commit, and returns its result. Makes a new connection if there
        is none, for example after an error."""
        if self._connection is None:
            self.database.check_there()  # connecting to a deleted file would create an empty one
            self._connection = self.database.connect()
        try:
            result = work(self._connection, self.database, self.owner)
            # The check comes after the commit, because the file may be deleted at any time before it. So
            # an answer in a deleted file is never reported as stored.
            self.database.check_there()
        except BaseException:
            # The connection may be unusable now. Closing it also ends its transaction, and the next
            # transaction makes a new connection.
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
