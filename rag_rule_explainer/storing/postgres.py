"""This module has the statements for PostgreSQL that run for every probe, written to be as fast as
possible.

The statements go directly to the driver, because SQLAlchemy would need as much time as the statement
itself. The rows are written into the text of the statement, column by column, because drivers in Python
are slow with parameters and need several round trips for them. All data from outside is written in
hexadecimal digits, so no text needs quoting. Rows are locked in the order of their keys, so that two
processes never wait for each other for ever.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from .rows import AnswerRow, ClaimRow, RowKey

FEWEST = 32
"""The writer does at least this many requests in one transaction, or all in its queue if there are fewer.
A commit takes long on a server, so many requests should share one commit."""

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
    """Stores answers and inserts claims in one round trip to the server, and commits. Returns True iff
    all answers were stored and all claims were inserted. If it returns False, some answers or claims may
    be missing; the caller must then call ``put`` and ``claim`` with all of them. ``owner``: the name of
    the opened store that gets the claims (rights to make an answer). ``now``: the time that is stored
    with the answers."""
    parts = [_put(puts, now)] * bool(puts) + [_claim(claims, owner)] * bool(claims)
    # If there are only claims (rights to make an answer), the commit does not wait for the disk, which is
    # faster. If the server then crashes, a claim may be lost, and its answer is made twice.
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
    """Inserts a claim (the right to make an answer) for each key that has neither an answer nor a claim
    in the database. Returns the number of inserted claims. ``rows``: the claims. ``owner``: the name of
    the opened store that gets them."""
    return _run(connection, f"SELECT {_claim(rows, owner)}").fetchone()[0]


def put(connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
    """Stores each answer whose key has no answer in the database. Returns the number of stored answers.
    Skips an answer if its question has no row in the table of questions. ``now``: the time that is stored
    with the answers."""
    return _run(connection, f"SELECT {_put(rows, now)}").fetchone()[0]


def read(connection: Connection, keys: Sequence[RowKey]) -> Sequence[Any]:
    """Returns the existing rows for these keys. A row is an answer, or a claim (the right to make
    one)."""
    return _run(connection, _READ % _keys(keys)).fetchall()


def recall(connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
    """Returns the judgements that are stored under these keys, each with its key. ``memos``: the keys."""
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
    """Runs a statement and returns the driver's cursor. Raises errors of SQLAlchemy, whose texts do not
    show the statement, because the statement contains answers."""
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
