"""The statements that run for every probe, in the way that is fastest on SQLite: many rows in C.

They go to the driver itself, which raises its own errors: with the rows in memory, SQLAlchemy's part of a
statement would take longer than SQLite's.
"""

import json
import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from sqlalchemy import Connection

from .rows import AnswerRow, ClaimRow, RowKey

FEWEST = 1
"""A commit takes no longer than Python takes for a few of those who were served by the one before."""

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
"""Rows of one statement: older versions of SQLite take no more than 999 parameters."""
# CROSS JOIN: SQLite is to look every key up, whatever it thinks of the sizes.
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
    """Inserts claims where there is no row yet; how many."""
    values = [(*row.key, row.ids, owner, row.expires, row.question) for row in rows]
    return driver_connection(connection).executemany(_CLAIM, values).rowcount


def put(connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
    """Puts answers where there is none yet; how many. A question that has no row gets none."""
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


def at_once(
    connection: Connection,
    puts: Sequence[AnswerRow],
    claims: Sequence[ClaimRow],
    owner: str,  # noqa: ARG001 -- of claims, which take a transaction of several statements
    now: float,
) -> bool:
    """Returns True iff there were only answers to put, not too many, and they are all there now, and
    committed.

    In one step, so that Python's lock is free until it is done.
    """
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
    """Returns the rows of these keys that are there."""
    return driver_connection(connection).execute(_READ, (json.dumps(keys),)).fetchall()


def recall(connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
    """Returns the judgements of these memos that are there."""
    return driver_connection(connection).execute(_RECALL, (json.dumps(memos),)).fetchall()


def begin(connection: Connection) -> None:
    """Begins a writing transaction: one that only turns into one later may find that it cannot."""
    driver_connection(connection).execute("BEGIN IMMEDIATE")


def driver_connection(connection: Connection) -> sqlite3.Connection:
    """Returns what SQLAlchemy's connection stands for."""
    return cast("sqlite3.Connection", connection.connection.dbapi_connection)
