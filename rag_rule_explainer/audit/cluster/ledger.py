"""This module counts in PostgreSQL the spending of all workers of an audit, and keeps the limits and
rates of the whole audit there. The limits and rates therefore hold for any number of machines, and also
after a restart of the process that began the audit."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ...allowed import called_as, plain_number
from ...errors import InvalidInput, StoreFailed
from ...probing.limits import LimitReached, Limits
from ...storing.address import Address
from ...storing.database import RESETS, Database, patiently
from ...storing.failures import is_broken, may_pass
from ..metering import SpentTogether
from .tables import create

Result = TypeVar("Result")

_MOST_AT_ONCE = 1000
_WRITTEN_SECONDS = 1.0
"""The maximum number of seconds until spent tokens are written to the database, if no run of the
application begins earlier."""


@called_as("Rates")
@dataclass(frozen=True, slots=True)
class Rates:
    """A ``Rates`` limits how fast a whole audit may go, over all of its workers. None means no limit.

    ``replays_per_minute``: the number of runs of the application that may begin in a minute; they begin
    at equal intervals. ``tokens_per_minute``: the number of tokens that may be spent in a minute, on
    average. What a run spends is known only when it has ended. The next run then waits until the average
    is within this rate again.

    Raises InvalidInput unless each is a number above 0 or None.
    """

    replays_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def __post_init__(self) -> None:
        for name in ("replays_per_minute", "tokens_per_minute"):
            given = plain_number(getattr(self, name))
            if given is not None and not (type(given) in {int, float} and 0 < given < inf):
                raise InvalidInput(f"{name} is {given!r}; give a number above 0, or None")


@dataclass(frozen=True, slots=True)
class LedgerPlan:
    """A ``LedgerPlan`` names the database record of an audit's spending, with its limits and rates. It
    can be sent to other processes.

    ``url``: the URL of a PostgreSQL database. ``audit``: the id of the audit, of letters, digits and
    ``-``. ``until``: the time by the server's clock after which no run begins, in seconds since 1970;
    None for no such time. It is used in place of the seconds in ``limits``, which are ignored.
    """

    url: str
    audit: str
    limits: Limits = field(default_factory=lambda: Limits(failures=None))
    rates: Rates = field(default_factory=Rates)
    until: float | None = None

    def __post_init__(self) -> None:
        if not self.audit.replace("-", "").isalnum() or not self.audit.isascii():
            raise InvalidInput(f"the id of an audit is {self.audit!r}; give letters, digits and '-'")
        if Address.of(self.url).dialect != "postgresql":
            raise InvalidInput(
                f"the store {Address.of(self.url).shown} is a file, which other machines cannot share; "
                "give postgresql://USER:PASSWORD@HOST/DATABASE"
            )


class Ledger:
    """A ``Ledger`` lets one process count and read the spending of an audit. It is the ``Meter`` of its
    workers.

    One thread asks the database for all runs that wait, in one round trip. Raises StoreFailed if the
    database cannot be used, and MissingExtra if its driver is not installed.
    """

    def __init__(self, plan: LedgerPlan) -> None:
        self.plan = plan
        self._database = Database(Address.of(plan.url))
        with self._database.as_store_failed():
            patiently(self._prepare, resets=RESETS)
        self._queue: SimpleQueue[Future[float] | None] = SimpleQueue()
        self._guard = threading.Lock()
        self._tokens, self._cost = 0, 0.0
        self._connection: Connection | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="rag-rule-ledger", daemon=True)
        self._thread.start()

    def begin(self) -> "Future[float]":
        """Counts one run of the application before it begins. The returned future gets the number of
        seconds to wait before the run may begin. A run is counted even if the worker dies before the run
        begins."""
        future: Future[float] = Future()
        if self._closing:
            future.set_exception(LimitReached("the audit was stopped"))
        else:
            self._queue.put(future)
        return future

    def spend(self, tokens: int, cost: float) -> None:
        """Adds tokens and cost that runs and judges have spent. The sum is written to the database within
        a second."""
        with self._guard:
            self._tokens += tokens
            self._cost += cost

    def after(self, seconds: float | None) -> float | None:
        """Returns the time that the server's clock will show after this number of seconds, for
        ``LedgerPlan.until``; None if ``seconds`` is None."""
        return None if seconds is None else self._database.now + seconds

    def spent(self) -> SpentTogether:
        """Returns what all workers have spent. Blocks. Raises StoreFailed if the database cannot be
        used."""
        return SpentTogether(
            *self._now("SELECT replays, tokens, cost FROM rag_rules_audits WHERE audit = :audit")
        )

    def stop(self, *, stopped: bool = True) -> None:
        """Makes all workers begin no further run of the application; with ``stopped=False``, lets them
        begin runs again. Blocks. Raises StoreFailed if the database cannot be used."""
        change = "UPDATE rag_rules_audits SET stopped = :stopped WHERE audit = :audit RETURNING 1"
        self._now(change, stopped=stopped)

    def close(self) -> None:
        """Writes the latest spending to the database, and refuses all further runs."""
        self._closing = True
        self._queue.put(None)
        self._thread.join(10.0)

    def _prepare(self) -> None:
        with self._database.connect() as connection, connection.begin():
            create(connection)
            insert = "INSERT INTO rag_rules_audits (audit) VALUES (:audit) ON CONFLICT DO NOTHING"
            connection.execute(text(insert), {"audit": self.plan.audit})

    def _now(self, statement: str, **values: object) -> Any:
        def asked() -> Any:
            with self._database.connect() as connection, connection.begin():
                return connection.execute(text(statement), {"audit": self.plan.audit, **values}).one()

        with self._database.as_store_failed():
            return tuple(patiently(asked, resets=RESETS))

    def _run(self) -> None:
        while True:
            waiting = self._next()
            if waiting or self._tokens or self._cost:
                self._serve(waiting)
            if self._closing and self._queue.empty():
                break
        if self._tokens or self._cost:
            # These tokens were added after the last write, before this thread noticed that the ledger is
            # being closed.
            self._serve([])
        if self._connection is not None:
            with suppress(SQLAlchemyError, OSError):
                self._connection.close()

    def _next(self) -> "list[Future[float]]":
        with suppress(Empty):
            found = [self._queue.get(timeout=_WRITTEN_SECONDS)]
            more = min(self._queue.qsize(), _MOST_AT_ONCE - 1)
            found += [self._queue.get_nowait() for _ in range(more)]
            return [each for each in found if each is not None and each.set_running_or_notify_cancel()]
        return []

    def _serve(self, waiting: "list[Future[float]]") -> None:
        with self._guard:
            tokens, cost = self._tokens, self._cost
            self._tokens, self._cost = 0, 0.0
        try:
            with self._database.as_store_failed():
                grant = patiently(partial(self._asked, len(waiting), tokens, cost), _may_come_back)
        except StoreFailed as error:
            with self._guard:
                self._tokens, self._cost = self._tokens + tokens, self._cost + cost
            # Every other run would meet the same error, so the audit ends, as after a limit.
            for future in waiting:
                future.set_exception(LimitReached(f"the audit was stopped: {error}"))
            return
        gap = _gap(self.plan.rates.replays_per_minute)
        for place, future in enumerate(waiting[: grant.granted]):
            future.set_result(grant.wait + place * gap)
        for future in waiting[grant.granted :]:
            future.set_exception(LimitReached(self._reason(grant)))

    def _asked(self, wanted: int, tokens: int, cost: float) -> "_Grant":
        caps, rates = self.plan.limits, self.plan.rates
        given = ", ".join(
            "NULL" if each is None else repr(each)
            for each in (
                wanted, tokens, float(cost), caps.replays, caps.tokens, caps.cost, self.plan.until,
                _gap(rates.replays_per_minute), _gap(rates.tokens_per_minute),
            )
        )  # fmt: skip
        statement = f"SELECT * FROM rag_rules_audit_begin('{self.plan.audit}', {given})"  # noqa: S608 -- the values are numbers or NULL, and the audit's id was checked
        row = self._committed(lambda connection: connection.exec_driver_sql(statement).one())
        if row[0] is None:
            raise StoreFailed(
                f"the account of the audit {self.plan.audit} is gone from {self._database.shown}; begin "
                "the audit anew"
            )
        return _Grant(*row)

    def _committed(self, work: Callable[[Connection], Result]) -> Result:
        try:
            if self._connection is None:
                connection = self._database.connect()
                self._connection = connection.execution_options(isolation_level="AUTOCOMMIT")
                # Each run of the application changes the same row, so the next run waits for the commit.
                # Commits are therefore not written to disk at once: they are fast, and a crash of the
                # server loses the counts of at most half a second.
                self._connection.exec_driver_sql("SET synchronous_commit = off")
            return work(self._connection)
        except BaseException:
            connection, self._connection = self._connection, None
            if connection is not None:
                with suppress(SQLAlchemyError, OSError):
                    connection.invalidate()
                    connection.close()
            raise

    def _reason(self, grant: "_Grant") -> str:
        caps = self.plan.limits
        if grant.is_stopped:
            return "the audit was stopped"
        if grant.is_late:
            return f"the audit's limit of {caps.seconds or 0:g} seconds is reached"
        if caps.tokens is not None and grant.tokens >= caps.tokens:
            return f"the audit's limit of {caps.tokens} tokens is reached ({grant.tokens} spent)"
        if caps.cost is not None and grant.cost >= caps.cost:
            return f"the audit's limit of {caps.cost:g} in cost is reached ({grant.cost:g} spent)"
        return f"the audit's limit of {caps.replays} replays is reached"


class _Grant(NamedTuple):
    """A ``_Grant`` is the reply of the database: how many runs may begin, after how many seconds, and
    what was spent by then."""

    granted: int
    wait: float
    replays: int
    tokens: int
    cost: float
    is_stopped: bool
    is_late: bool


def _may_come_back(error: Exception) -> bool:
    return (
        may_pass(error)
        or is_broken(error)
        or (isinstance(error, DBAPIError) and error.connection_invalidated)
    )


def _gap(per_minute: float | None) -> float:
    return 0.0 if per_minute is None else 60.0 / per_minute
