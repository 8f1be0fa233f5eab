"""This module has the statements for SQLite that run for every probe, written to be as fast as possible.

The statements go directly to the driver, and raise the driver's errors. SQLAlchemy would need more time
than SQLite itself, which has the rows in memory.
"""

import json
import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from sqlalchemy import Connection

from .rows import AnswerRow, ClaimRow, RowKey

FEWEST = 1
"""The writer need not collect several requests for one transaction, because a commit is fast in
SQLite."""

_CLAIM = (
    "INSERT INTO rag_rules_answers (arrangement, sample, question, ids, owner, expires)"
    " SELECT ?, ?, id, ?, ?, ? FROM rag_rules_questions WHERE digest = ?"
    " ON CONFLICT DO NOTHING"
)
_QUESTIONS = (
    "SELECT q.digest, q.id FROM json_each(?) AS wanted"
    " CROSS JOIN rag_rules_questions AS q ON q.digest = wanted.value"
)
_INSERT = "INSERT INTO rag_rules_answers (arrangement, sample, question, ids, answer, latency, stored)"
_UNLESS_ANSWERED = (
    " ON CONFLICT (arrangement, sample) DO UPDATE"
    " SET answer = excluded.answer, latency = excluded.latency, stored = excluded.stored,"
    " owner = NULL, expires = NULL WHERE rag_rules_answers.answer IS NULL"
)
_PUT = _INSERT + " VALUES (?, ?, ?, ?, ?, ?, ?)" + _UNLESS_ANSWERED
_MOST_AT_ONCE = 100
"""The maximum number of rows in one statement. Older versions of SQLite accept at most 999 parameters,
and each row needs seven."""
# SQLite may assume that the table is small and scan all of it. CROSS JOIN makes it find each key by the
# index instead.
_READ = (
    "SELECT a.arrangement, a.sample, a.owner, a.expires, a.answer, a.latency FROM json_each(?) AS wanted"
    " CROSS JOIN rag_rules_answers AS a ON a.arrangement = json_extract(wanted.value, '$[0]')"
    " AND a.sample = json_extract(wanted.value, '$[1]')"
)
_RECALL = (
    "SELECT j.memo, j.judgement FROM json_each(?) AS wanted"
    " CROSS JOIN rag_rules_judgements AS j ON j.memo = wanted.value"
)


def claim(connection: Connection, rows: Sequence[ClaimRow], owner: str) -> int:
    """Inserts a claim (the right to make an answer) for each key that has neither an answer nor a claim
    in the database. Returns the number of inserted claims. ``rows``: the claims. ``owner``: the name of
    the opened store that gets them."""
    values = [(*row.key, row.ids, owner, row.expires, row.question) for row in rows]
    return driver_connection(connection).executemany(_CLAIM, values).rowcount


def put(connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
    """Stores each answer whose key has no answer in the database. Returns the number of stored answers.
    Skips an answer if its question has no row in the table of questions. ``now``: the time that is stored
    with the answers."""
    driver = driver_connection(connection)
    wanted = {row.wish.question.digest for row in rows}
    ids = dict(driver.execute(_QUESTIONS, (json.dumps([*wanted]),)).fetchall())
    values = [
        (*wish.key, ids[wish.question.digest], wish.ids, row.answer, row.latency, now)
        for row in rows
        for wish in (row.wish,)
        if wish.question.digest in ids
    ]
    return driver.executemany(_PUT, values).rowcount if values else 0


def put_and_claim(
    connection: Connection,
    puts: Sequence[AnswerRow],
    claims: Sequence[ClaimRow],
    owner: str,  # noqa: ARG001 -- this function inserts no claims: they need several statements
    now: float,
) -> bool:
    """Stores answers by a single statement, during which other Python threads can run. Returns True iff
    all answers were stored. Stores nothing and returns False if there are ``claims`` (rights to make an
    answer), which need several statements, or too many answers for one statement."""
    if claims or len(puts) > _MOST_AT_ONCE:
        return False
    values: list[Any] = []
    for row in puts:
        key, question, ids, _ = row.wish
        values += (*key, question.digest, ids, row.answer, row.latency, now)
    return driver_connection(connection).execute(_put_at_once(len(puts)), values).rowcount == len(puts)


@cache
def _put_at_once(rows: int) -> str:
    given = ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * rows)
    return (
        f"{_INSERT} SELECT column1, column2, id, column4, column5, column6, column7"  # noqa: S608 -- only "?" marks are inserted
        f" FROM (VALUES {given}) CROSS JOIN rag_rules_questions ON digest = column3 WHERE true"
        + _UNLESS_ANSWERED
    )


def read(connection: Connection, keys: Sequence[RowKey]) -> Sequence[Any]:
    """Returns the existing rows for these keys. A row is an answer, or a claim (the right to make
    one)."""
    return driver_connection(connection).execute(_READ, (json.dumps(keys),)).fetchall()


def recall(connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
    """Returns the judgements that are stored under these keys, each with its key. ``memos``: the keys."""
    return driver_connection(connection).execute(_RECALL, (json.dumps(memos),)).fetchall()


def begin(connection: Connection) -> None:
    """Begins a transaction with the right to write. A transaction that gets this right only later, after
    it has read, may fail because another process has written meanwhile."""
    driver_connection(connection).execute("BEGIN IMMEDIATE")


def driver_connection(connection: Connection) -> sqlite3.Connection:
    """Returns the connection of Python's ``sqlite3`` that SQLAlchemy's connection uses."""
    return cast("sqlite3.Connection", connection.connection.dbapi_connection)
