"""The statements that run for every probe, in the way that is fastest on SQLite: many rows in C.

They go to the driver itself, which raises its own errors: with the rows in memory, SQLAlchemy's part of a
statement would take longer than SQLite's.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import Connection

from .rows import AnswerRow, ClaimRow, Key

_CLAIM = (
    "INSERT INTO rag_rules_answers (arrangement, sample, question, ids, owner, expires)"
    " SELECT ?, ?, id, ?, ?, ? FROM rag_rules_questions WHERE digest = ?"
    " ON CONFLICT DO NOTHING"
)
_PUT = (
    "UPDATE rag_rules_answers SET answer = ?, latency = ?, stored = ?, owner = NULL, expires = NULL"
    " WHERE arrangement = ? AND sample = ? AND answer IS NULL"
)
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
    """Puts answers where there is a row without one; how many."""
    values = [(row.answer, row.latency, now, *row.key) for row in rows]
    return driver_connection(connection).executemany(_PUT, values).rowcount


def read(connection: Connection, keys: Sequence[Key]) -> Sequence[Any]:
    """The rows of these keys that are there."""
    return driver_connection(connection).execute(_READ, (json.dumps(keys),)).fetchall()


def recall(connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
    """The judgements of these memos that are there."""
    return driver_connection(connection).execute(_RECALL, (json.dumps(memos),)).fetchall()


def begin(connection: Connection) -> None:
    """Begins a writing transaction: one that only turns into one later may find that it cannot."""
    driver_connection(connection).execute("BEGIN IMMEDIATE")


def driver_connection(connection: Connection) -> sqlite3.Connection:
    """What SQLAlchemy's connection stands for."""
    return cast("sqlite3.Connection", connection.connection.dbapi_connection)
