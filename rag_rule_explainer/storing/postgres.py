"""This module has PostgreSQL's statements that run for every probe, in their fastest form.

They go to the driver directly: SQLAlchemy's part would take as long as the statement. Rows are in the
text of the statement, column by column, since drivers in Python are slow with parameters and need several
round trips for them. All foreign data is hexadecimal, so that no text needs quoting. Rows are locked in
the order of their keys, so that two processes never deadlock.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from .rows import AnswerRow, ClaimRow, RowKey

FEWEST = 32
"""A transaction serves at least this number of requests, if so many wait: a commit takes long on a
server."""

_CLAIM = "rag_rules_claim('{%s}', '{%s}', '{%s}', '{%s}', '%s', '{%s}')"
_PUT = "rag_rules_put('{%s}', '{%s}', '{%s}', '{%s}', '{%s}', '{%s}', %r)"
_READ = (
    "SELECT a.arrangement, a.sample, a.owner, a.expires, a.answer, a.latency"
    " FROM unnest('{%s}'::text[], '{%s}'::int[]) AS given(key, sample)"
    ' JOIN rag_rules_answers AS a ON a.arrangement = given.key COLLATE "C" AND a.sample = given.sample'
)
_RECALL = (
    "SELECT j.memo, j.judgement FROM unnest('{%s}'::text[]) AS given(memo)"
    ' JOIN rag_rules_judgements AS j ON j.memo = given.memo COLLATE "C"'
)


def put_and_claim(
    connection: Connection, puts: Sequence[AnswerRow], claims: Sequence[ClaimRow], owner: str, now: float
) -> bool:
    """Puts answers and makes claims in one round trip; returns True iff all of them are there now and
    committed."""
    parts = [_put(puts, now)] * bool(puts) + [_claim(claims, owner)] * bool(claims)
    # A claim may be lost if the server crashes; that costs no more than one answer.
    durable = "on" if puts else "off"
    statement = f"SELECT {' + '.join(parts)}, set_config('synchronous_commit', '{durable}', true)"
    driver: Any = connection.connection.dbapi_connection
    driver.autocommit = True
    try:
        return _run(connection, statement).fetchone()[0] == len(puts) + len(claims)
    finally:
        if not connection.invalidated:
            driver.autocommit = False


def claim(connection: Connection, rows: Sequence[ClaimRow], owner: str) -> int:
    """Inserts claims for keys without a row, and returns their number."""
    return _run(connection, f"SELECT {_claim(rows, owner)}").fetchone()[0]


def put(connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
    """Stores answers for keys without one, and returns their number. Skips questions without a row."""
    return _run(connection, f"SELECT {_put(rows, now)}").fetchone()[0]


def read(connection: Connection, keys: Sequence[RowKey]) -> Sequence[Any]:
    """Returns the existing rows of these keys."""
    return _run(connection, _READ % _keys(keys)).fetchall()


def recall(connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
    """Returns the existing judgements of these memos."""
    return _run(connection, _RECALL % ",".join(memos)).fetchall()


def _claim(rows: Sequence[ClaimRow], owner: str) -> str:
    return _CLAIM % (
        *_keys([row.key for row in rows]),
        ",".join([row.question for row in rows]),
        ",".join([row.ids.hex() for row in rows]),
        owner.replace("'", "''"),
        ",".join([repr(row.expires) for row in rows]),
    )


def _put(rows: Sequence[AnswerRow], now: float) -> str:
    wishes = [row.wish for row in rows]
    return _PUT % (
        *_keys([wish.key for wish in wishes]),
        ",".join([wish.question.digest for wish in wishes]),
        ",".join([wish.ids.hex() for wish in wishes]),
        ",".join([row.answer.hex() for row in rows]),
        ",".join(["NULL" if row.latency is None else repr(float(row.latency)) for row in rows]),
        now,
    )


def _keys(keys: Sequence[RowKey]) -> tuple[str, str]:
    return ",".join([key for key, _ in keys]), ",".join([f"{sample:d}" for _, sample in keys])


def _run(connection: Connection, statement: str) -> Any:
    """Returns the driver's cursor. Raises the errors of SQLAlchemy without the statement, which holds
    answers."""
    driver: Any = connection.connection.dbapi_connection
    cursor = driver.cursor()
    try:
        cursor.execute(statement)
    except connection.dialect.loaded_dbapi.Error as error:
        is_lost = connection.dialect.is_disconnect(error, driver, cursor)
        if is_lost:
            connection.invalidate(error)
        raise DBAPIError(None, None, error, connection_invalidated=is_lost) from error
    return cursor
