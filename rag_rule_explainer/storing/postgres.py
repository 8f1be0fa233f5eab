"""The statements that run for every probe, in the way that is fastest on PostgreSQL.

They go to the driver itself: SQLAlchemy's part of a statement would take as long as its own. Rows travel
within the text of the statement, column by column: with parameters, drivers written in Python take long
for each, and go to the server and back several times. So that nothing in a text needs to be quoted, all
that comes from outside is in hexadecimal digits. Rows are taken in the order of their keys, and claims
leave alone what is there, so that two processes never wait for each other in a circle.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from .rows import AnswerRow, ClaimRow, Key

_CLAIM = (
    "INSERT INTO rag_rules_answers (arrangement, sample, question, ids, owner, expires)"
    " SELECT given.key, given.sample, questions.id, decode(given.ids, 'hex'),"
    " convert_from(decode('%s', 'hex'), 'UTF8'), given.expires"
    " FROM unnest('{%s}'::text[], '{%s}'::int[], '{%s}'::text[], '{%s}'::text[], '{%s}'::float8[])"
    " AS given(key, sample, question, ids, expires)"
    ' JOIN rag_rules_questions AS questions ON questions.digest = given.question COLLATE "C"'
    " WHERE NOT EXISTS (SELECT FROM rag_rules_answers AS answers"
    ' WHERE answers.arrangement = given.key COLLATE "C" AND answers.sample = given.sample)'
    ' ORDER BY given.key COLLATE "C", given.sample'
    " ON CONFLICT DO NOTHING"
)
_PUT = (
    "INSERT INTO rag_rules_answers AS answers"
    " (arrangement, sample, question, ids, answer, latency, stored)"
    " SELECT given.key, given.sample, questions.id, decode(given.ids, 'hex'),"
    " decode(given.answer, 'hex'), given.latency, %r"
    " FROM unnest("
    "'{%s}'::text[], '{%s}'::int[], '{%s}'::text[], '{%s}'::text[], '{%s}'::text[], '{%s}'::float8[])"
    " AS given(key, sample, question, ids, answer, latency)"
    ' JOIN rag_rules_questions AS questions ON questions.digest = given.question COLLATE "C"'
    ' ORDER BY given.key COLLATE "C", given.sample'
    " ON CONFLICT (arrangement, sample) DO UPDATE"
    " SET answer = excluded.answer, latency = excluded.latency, stored = excluded.stored,"
    " owner = NULL, expires = NULL WHERE answers.answer IS NULL"
)
_COMMITTED = "WITH %s SELECT %s, set_config('synchronous_commit', '%s', true)"
_READ = (
    "SELECT a.arrangement, a.sample, a.owner, a.expires, a.answer, a.latency"
    " FROM unnest('{%s}'::text[], '{%s}'::int[]) AS given(key, sample)"
    ' JOIN rag_rules_answers AS a ON a.arrangement = given.key COLLATE "C" AND a.sample = given.sample'
)
_RECALL = (
    "SELECT j.memo, j.judgement FROM unnest('{%s}'::text[]) AS given(memo)"
    ' JOIN rag_rules_judgements AS j ON j.memo = given.memo COLLATE "C"'
)


def at_once(
    connection: Connection, puts: Sequence[AnswerRow], claims: Sequence[ClaimRow], owner: str, now: float
) -> bool:
    """Puts answers and makes claims in one round trip; True iff they are all there now, and committed."""
    parts = {"put": _put(puts, now) if puts else "", "claimed": _claim(claims, owner) if claims else ""}
    done = ", ".join(f"{name} AS ({part} RETURNING 1)" for name, part in parts.items() if part)
    count = " + ".join(f"(SELECT count(*) FROM {name})" for name, part in parts.items() if part)  # noqa: S608
    # Nothing is lost with a claim but what its answer costs, and that only where the server crashes.
    statement = _COMMITTED % (done, count, "on" if puts else "off")
    driver: Any = connection.connection.dbapi_connection
    driver.autocommit = True
    try:
        return _run(connection, statement).fetchone()[0] == len(puts) + len(claims)
    finally:
        if not connection.invalidated:
            driver.autocommit = False


def claim(connection: Connection, rows: Sequence[ClaimRow], owner: str) -> int:
    """Inserts claims where there is no row yet; how many."""
    return _run(connection, _claim(rows, owner)).rowcount


def put(connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
    """Puts answers where there is none yet; how many. A question that has no row gets none."""
    return _run(connection, _put(rows, now)).rowcount


def read(connection: Connection, keys: Sequence[Key]) -> Sequence[Any]:
    """The rows of these keys that are there."""
    return _run(connection, _READ % _keys(keys)).fetchall()


def recall(connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
    """The judgements of these memos that are there."""
    return _run(connection, _RECALL % _list(memos)).fetchall()


def _claim(rows: Sequence[ClaimRow], owner: str) -> str:
    return _CLAIM % (
        owner.encode().hex(),
        *_keys([row.key for row in rows]),
        _list(row.question for row in rows),
        _list(row.ids.hex() for row in rows),
        _list(repr(row.expires) for row in rows),
    )


def _put(rows: Sequence[AnswerRow], now: float) -> str:
    wishes = [row.wish for row in rows]
    return _PUT % (
        now,
        *_keys([wish.key for wish in wishes]),
        _list(wish.question.digest for wish in wishes),
        _list(wish.ids.hex() for wish in wishes),
        _list(row.answer.hex() for row in rows),
        _list("NULL" if row.latency is None else repr(float(row.latency)) for row in rows),
    )


def _keys(keys: Sequence[Key]) -> tuple[str, str]:
    return _list(arrangement for arrangement, _ in keys), _list(f"{sample:d}" for _, sample in keys)


def _list(values: Iterable[str]) -> str:
    return ",".join(values)


def _run(connection: Connection, statement: str) -> Any:
    """The driver's cursor; raises what SQLAlchemy raises, but for the statement, which holds answers."""
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
