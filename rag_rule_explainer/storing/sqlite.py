"""This module has SQLite's statements that run for every probe, in their fastest form.

They go to the driver directly, which raises its own errors: with the rows in memory, SQLAlchemy's part
would take longer than SQLite's.
"""

import json
import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from sqlalchemy import Connection

from .rows import AnswerRow, ClaimRow, RowKey

FEWEST = 1
"""A transaction serves at least this number of requests: a commit is fast here, so none waits for
others."""

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
"""The largest number of rows of a statement: older versions of SQLite take at most 999 parameters."""
# CROSS JOIN makes SQLite look each key up, whatever sizes it assumes.
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
    """Inserts claims for keys without a row, and returns their number."""
    values = [(*row.key, row.ids, owner, row.expires, row.question) for row in rows]
    return driver_connection(connection).executemany(_CLAIM, values).rowcount


def put(connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
    """Stores answers for keys without one, and returns their number. Skips questions without a row."""
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
    owner: str,  # noqa: ARG001 -- claims need a transaction of several statements
    now: float,
) -> bool:
    """Puts the answers, and returns True iff there are no claims, few answers, and all of them are there
    now. One statement does all, so that Python's lock is free until it is done."""
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
        f"{_INSERT} SELECT column1, column2, id, column4, column5, column6, column7"  # noqa: S608
        f" FROM (VALUES {given}) CROSS JOIN rag_rules_questions ON digest = column3 WHERE true"
        + _UNLESS_ANSWERED
    )


def read(connection: Connection, keys: Sequence[RowKey]) -> Sequence[Any]:
    """Returns the existing rows of these keys."""
    return driver_connection(connection).execute(_READ, (json.dumps(keys),)).fetchall()


def recall(connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
    """Returns the existing judgements of these memos."""
    return driver_connection(connection).execute(_RECALL, (json.dumps(memos),)).fetchall()


def begin(connection: Connection) -> None:
    """Begins a writing transaction, since a reading one may fail to become a writing one later."""
    driver_connection(connection).execute("BEGIN IMMEDIATE")


def driver_connection(connection: Connection) -> sqlite3.Connection:
    """Returns the driver's connection."""
    return cast("sqlite3.Connection", connection.connection.dbapi_connection)
