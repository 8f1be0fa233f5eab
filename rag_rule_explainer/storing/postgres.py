"""The statements that run for every probe, in the way that is fastest on PostgreSQL.

All rows of a statement travel as one JSON text: drivers written in Python take long for each parameter,
and the statement is always the same. Rows are taken in the order of their keys, so that two processes
never wait for each other in a circle.
"""

import json
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
    "UPDATE rag_rules_answers AS answers"
    " SET answer = decode(given.answer, 'hex'), latency = given.latency, stored = %s,"
    " owner = NULL, expires = NULL"
    " FROM json_to_recordset(CAST(%s AS json))"
    " AS given(key text, sample int, answer text, latency float8)"
    ' WHERE answers.arrangement = given.key COLLATE "C" AND answers.sample = given.sample'
    " AND answers.answer IS NULL"
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
    """Puts answers where there is a row without one; how many."""
    given = [
        {"key": row.key[0], "sample": row.key[1], "answer": row.answer.hex(), "latency": row.latency}
        for row in rows
    ]
    return connection.exec_driver_sql(_PUT, (now, json.dumps(given))).rowcount


def read(connection: Connection, keys: Sequence[Key]) -> Sequence[Any]:
    """The rows of these keys that are there."""
    given = [{"key": arrangement, "sample": sample} for arrangement, sample in keys]
    return connection.exec_driver_sql(_READ, (json.dumps(given),)).all()


def recall(connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
    """The judgements of these memos that are there."""
    return connection.exec_driver_sql(_RECALL, (json.dumps(memos),)).all()
