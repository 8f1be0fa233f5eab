"""The one thread of a store that talks to its database.

It takes whatever is queued, does it in one transaction, commits, and only then tells those who wait:
nobody uses an answer before it is committed, and many answers share one commit.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from math import inf
from queue import Empty, SimpleQueue

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from ..errors import StoreFailed
from .database import Database, patiently
from .failures import failed, is_broken, is_passing, leaves_the_session
from .flights import Batch, Flights, Landed
from .grants import Grants
from .owners import new_owner, retire
from .rows import Wish
from .stay import LOOK, Stay
from .tickets import Release, Stop, Ticket, Wanted, tell
from .transaction import claim_all, perform, put_at_once


def _may_come_back(error: Exception) -> bool:
    # It was there before, so this may be no more than a restart.
    return is_passing(error) or is_broken(error)


class Writer:
    """A thread that serves tickets, as long as the process lives or until it is stopped.

    ``commits``: how many transactions it has committed. ``grants``: what needs no ticket.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.owner = new_owner()
        self.commits = 0
        self.grants = Grants()
        # Unlike a lock, it may be put into by a destructor that runs in the midst of another put.
        self._queue: SimpleQueue[Wanted] = SimpleQueue()
        self._flights = Flights(self.grants)
        self._presence = database.presence()
        self._stay = Stay(self._presence, self._flights)
        self._connection: Connection | None = None
        self._stopped = False
        self._served = 0
        self._looked = 0.0
        self._thread = threading.Thread(target=self._run, name="rag-rule-store", daemon=True)
        self._thread.start()

    @property
    def serves(self) -> bool:
        """True until it is stopped."""
        return not self._stopped

    def submit(self, wanted: Wanted) -> None:
        """Queues it; thread-safe, never blocks. Raises StoreFailed after the writer was stopped."""
        if self._stopped and not isinstance(wanted, (Release, Stop)):
            raise StoreFailed(f"the store {self.database.shown} was closed; open it anew")
        self._queue.put(wanted)
        if self._stopped:
            self._refuse()

    def stop(self, seconds: float = 5.0) -> None:
        """Does what is queued, closes the connection, and waits for that, but not for long."""
        self._queue.put(Stop())
        self._thread.join(seconds)
        retire(self.owner)

    def forked(self) -> None:
        """In a child, where the thread is not: what is the parent's is let go of."""
        self._stopped = True
        self.grants.forked()
        self._presence.forked()
        if self._connection is not None:
            self.database.hot.forked(self._connection)

    def _run(self) -> None:
        try:
            while not self._stopped:
                self._look()
                self._serve(self._next())
        finally:
            self._stopped = True
            self._flights.closed()
            self._leave()
            self._refuse()

    def _refuse(self) -> None:
        """Tells those who came too late."""
        left = [self._queue.get_nowait() for _ in range(self._queue.qsize())]
        error = StoreFailed(f"the store {self.database.shown} was closed; open it anew")
        tell((each, error) for each in left if isinstance(each, Ticket))

    def _next(self) -> list[Wanted]:
        """What is queued; waits for something, or for the time at which there may be something to do."""
        due = self._flights.due
        if not self._stay.is_away or not self._flights.are_over:
            due = min(due, time.monotonic() + LOOK)
        timeout = None if due == inf else max(0.0, due - time.monotonic())
        try:
            wanted = [self._queue.get(timeout=timeout)]
            # Half of those who come again and again: while these are served, the others get ready.
            some = (self._queue.qsize() + 1 + self._served + 1) // 2
            wanted += [self._queue.get_nowait() for _ in range(min(some - 1, self._queue.qsize()))]
            self._served = len(wanted)
        except Empty:
            return []
        self._stopped = any(isinstance(each, Stop) for each in wanted)
        return wanted

    def _look(self) -> None:
        """Lets newcomers in, and leaves where nothing is to be done."""
        now = time.monotonic()
        # Not for every commit: any call to the system gives the interpreter's lock away.
        if now < self._looked + LOOK or (self._stay.is_away and self._flights.are_over):
            return
        self._looked = now
        try:
            with self._connected() as connection:
                self._stay.look(connection, self._claim)
                self._stay.leave_if_idle(connection)
        except (SQLAlchemyError, sqlite3.Error, OSError):
            return  # the next look tries again

    def _serve(self, wanted: list[Wanted]) -> None:
        batch = self._flights.board(wanted, time.monotonic())
        unwanted = []
        if batch.needs_database:
            self._stay.worked()
            try:
                landed = patiently(partial(self._transaction, batch), _may_come_back)
            except BaseException as error:
                # Whatever it is, those who wait are told, and the thread serves the next ones.
                told = failed(self.database.shown, error)
                told.__cause__ = error
                self._flights.failed(batch, told, time.monotonic())
            else:
                unwanted = self._flights.landed(batch, landed, time.monotonic())
        for key in (*unwanted, *tell(batch.told)):
            self._queue.put(Release(key))

    def _transaction(self, batch: Batch) -> Landed:
        with self._connected() as connection:
            if not self._flights.alone:
                batch.openings.clear()
            if put_at_once(batch, connection, self.database):
                landed = Landed()
            else:
                with connection.begin():
                    landed = perform(batch, connection, self.database, self.owner)
        self.commits += 1
        return landed

    def _claim(self, wishes: list[Wish]) -> None:
        with self._connected() as connection, connection.begin():
            claim_all(wishes, connection, self.database, self.owner)
        self.commits += 1

    @contextmanager
    def _connected(self) -> Generator[Connection, None, None]:
        """The connection, while this process is there; given up where it may be of no use any more."""
        if self._connection is None:
            self._connection = self.database.connect()
        try:
            if self._stay.is_away:
                self._stay.begin(self._connection, self._claim)
            yield self._connection
        except BaseException as error:
            if not leaves_the_session(error):
                self._disconnect()
            raise

    def _leave(self) -> None:
        connection = self._connection
        with contextlib.suppress(SQLAlchemyError, sqlite3.Error, OSError):
            if connection is not None and not self._stay.is_away:
                self._stay.leave(connection)
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        self._stay.interrupted()
        if connection is not None:
            try:
                connection.close()
            except (SQLAlchemyError, sqlite3.Error):
                connection.invalidate()
