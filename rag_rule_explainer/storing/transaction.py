"""One transaction: answers first, so that who wants one that is put in the same one finds it."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

from . import statements
from .database import Database
from .encoding import Corrupted, unpacked_number
from .failures import corrupted
from .flights import Batch, Flight, Landed
from .owners import is_dead
from .rows import AnswerRow, ClaimRow, Key
from .schema import questions
from .tickets import Put, Take

_FARTHEST = 2 * 86_400.0
"""Seconds; no lease that this package grants ends later than that, whatever the clocks say."""


def perform(batch: Batch, connection: Connection, database: Database, owner: str) -> Landed:
    """Does what the batch wants. Safe to do twice, where it is not known whether it was committed."""
    now = database.now
    standing = _put(batch.puts, connection, database, now) if batch.puts else {}
    if batch.released:
        statements.release(connection, batch.released, owner)
    if batch.remembers:
        statements.remember(
            connection, [(each.memo, each.predicate, each.judgement) for each in batch.remembers], now
        )
    taken = _claim(batch.wanted, connection, database, owner) if batch.wanted else {}
    if batch.renewed:
        expiring = [(flight.key, now + flight.first.lease) for flight in batch.renewed]
        statements.renew(connection, expiring, owner)
    memos = [recall.memo for recall in batch.recalls]
    recalled = dict(map(tuple, database.hot.recall(connection, memos))) if memos else {}
    return Landed(standing, taken, recalled)


def _put(
    puts: Sequence[Put], connection: Connection, database: Database, now: float
) -> dict[Key, object]:
    rows = [AnswerRow(put.take.key, put.answer, put.latency) for put in puts]
    if database.hot.put(connection, rows, now) == len(rows):
        return {}
    # Others were faster, or the rows were pruned.
    ours = {put.take.key: put for put in puts}
    found = _read(connection, database, ours)
    vanished = [put for key, put in ours.items() if key not in found]
    if vanished:
        statements.register(connection, questions, [put.take.question for put in vanished])
        again = [(AnswerRow(p.take.key, p.answer, p.latency), _claim_row(p.take, now)) for p in vanished]
        statements.store_again(connection, again, now)
        found |= _read(connection, database, [put.take.key for put in vanished])
    return {
        key: _answer_of(row, database)
        for key, row in found.items()
        if bytes(row[4] or b"") != ours[key].answer
    }


def _claim(
    wanted: Sequence[Flight], connection: Connection, database: Database, owner: str
) -> dict[Key, object]:
    now = database.now
    claims = {flight.key: _claim_row(flight.first, now) for flight in wanted}
    if database.hot.claim(connection, list(claims.values()), owner) == len(claims):
        return {}
    found = _read(connection, database, claims)
    missing = [flight.first for flight in wanted if flight.key not in found]
    if missing:
        # The first answers to their questions: a claim refers to its question's row.
        statements.register(connection, questions, [take.question for take in missing])
        database.hot.claim(connection, [claims[take.key] for take in missing], owner)
        found |= _read(connection, database, [take.key for take in missing])
    return {
        key: row
        for key, row in (
            (key, _taken(found[key], claims[key], connection, database, owner)) for key in found
        )
        if row is not _OURS
    }


_OURS = object()


def _taken(row: Any, claim: ClaimRow, connection: Connection, database: Database, owner: str) -> object:
    _, _, holder, expires, answer, _ = row
    if answer is not None:
        return _answer_of(row, database)
    if holder == owner:
        return _OURS
    if not isinstance(holder, str) or not isinstance(expires, (int, float)):
        return corrupted(database.shown, "a claim that is nobody's")
    alive = database.now < expires < database.now + _FARTHEST
    if alive and not is_dead(holder):
        return None
    return _OURS if statements.take_over(connection, claim, holder, expires, owner) else None


def _answer_of(row: Any, database: Database) -> object:
    try:
        return row[4], unpacked_number(row[5])
    except Corrupted as error:
        return corrupted(database.shown, str(error))


def _read(connection: Connection, database: Database, keys: Iterable[Key]) -> dict[Key, Any]:
    return {(row[0], row[1]): row for row in database.hot.read(connection, list(keys))}


def _claim_row(take: Take, now: float) -> ClaimRow:
    return ClaimRow(take.key, take.question.digest, take.ids, now + take.lease)
