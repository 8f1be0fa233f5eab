"""The statements that run for every probe, in the way that is fastest on PostgreSQL.

All rows of a statement travel as one JSON text: drivers written in Python take long for each parameter,
and the statement is always the same. Rows are taken in the order of their keys, so that two processes
never wait for each other in a circle.
"""

import json
import os
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from .rows import AnswerRow, ClaimRow, Key

_CLAIM = (
    "INSERT INTO rag_rules_answers (arrangement, sample, question, ids, owner, expires)"
    " SELECT given.key, given.sample, questions.id, decode(given.ids, 'hex'), %s, given.expires"
    " FROM json_to_recordset(CAST(%s AS json))"
    " AS given(key text, sample int, question text, ids text, expires float8)"
    " JOIN rag_rules_questions AS questions ON questions.digest = given.question"
    ' ORDER BY given.key COLLATE "C", given.sample'
    " ON CONFLICT DO NOTHING"
)
_PUT = (
    "INSERT INTO rag_rules_answers AS answers"
    " (arrangement, sample, question, ids, answer, latency, stored)"
    " SELECT given.key, given.sample, questions.id, decode(given.ids, 'hex'),"
    " decode(given.answer, 'hex'), given.latency, %s"
    " FROM json_to_recordset(CAST(%s AS json))"
    " AS given(key text, sample int, question text, ids text, answer text, latency float8)"
    " JOIN rag_rules_questions AS questions ON questions.digest = given.question"
    ' ORDER BY given.key COLLATE "C", given.sample'
    " ON CONFLICT (arrangement, sample) DO UPDATE"
    " SET answer = excluded.answer, latency = excluded.latency, stored = excluded.stored,"
    " owner = NULL, expires = NULL WHERE answers.answer IS NULL"
)
_KEYS = (
    "SELECT arrangement, sample FROM rag_rules_answers"
    " WHERE arrangement >= %s AND arrangement < %s LIMIT %s"
)
_READ = (
    "SELECT a.arrangement, a.sample, a.owner, a.expires, a.answer, a.latency"
    " FROM json_to_recordset(CAST(%s AS json)) AS given(key text, sample int)"
    ' JOIN rag_rules_answers AS a ON a.arrangement = given.key COLLATE "C" AND a.sample = given.sample'
)
_RECALL = (
    "SELECT j.memo, j.judgement FROM json_array_elements_text(CAST(%s AS json)) AS given(memo)"
    ' JOIN rag_rules_judgements AS j ON j.memo = given.memo COLLATE "C"'
)


def claim(connection: Connection, rows: Sequence[ClaimRow], owner: str) -> int:
    """Inserts claims where there is no row yet; how many."""
    given = [
        {
            "key": row.key[0],
            "sample": row.key[1],
            "question": row.question,
            "ids": row.ids.hex(),
            "expires": row.expires,
        }
        for row in rows
    ]
    return connection.exec_driver_sql(_CLAIM, (owner, json.dumps(given))).rowcount


def put(connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
    """Puts answers where there is none yet; how many. A question that has no row gets none."""
    given = [
        {
            "key": row.wish.key[0],
            "sample": row.wish.key[1],
            "question": row.wish.question.digest,
            "ids": row.wish.ids.hex(),
            "answer": row.answer.hex(),
            "latency": row.latency,
        }
        for row in rows
    ]
    return connection.exec_driver_sql(_PUT, (now, json.dumps(given))).rowcount


def put_at_once(connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
    """The same as a transaction of its own, in one round trip."""
    # Said to the driver: SQLAlchemy would take several round trips to go back.
    driver: Any = connection.connection.dbapi_connection
    driver.autocommit = True
    try:
        return put(connection, rows, now)
    finally:
        if not connection.invalidated:
            connection.rollback()
            driver.autocommit = False


def forked(connection: Connection) -> None:
    """In a child: lets go of the parent's connection, which would outlive the parent, locks and all."""
    driver: Any = connection.connection.dbapi_connection
    inherited = driver.fileno() if hasattr(driver, "fileno") else driver._usock.fileno()
    # Not closed: who has the number later would be closed by what still believes to have it.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, inherited, inheritable=False)
    os.close(nowhere)


def keys(connection: Connection, prefix: str, most: int) -> Sequence[Any]:
    """The keys of rows that begin with the prefix, but no more than ``most``."""
    return connection.exec_driver_sql(_KEYS, (prefix, prefix + "g", most)).all()


def read(connection: Connection, keys: Sequence[Key]) -> Sequence[Any]:
    """The rows of these keys that are there."""
    given = [{"key": arrangement, "sample": sample} for arrangement, sample in keys]
    return connection.exec_driver_sql(_READ, (json.dumps(given),)).all()


def recall(connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
    """The judgements of these memos that are there."""
    return connection.exec_driver_sql(_RECALL, (json.dumps(memos),)).all()
