"""This module does the work of one transaction of the writer (the thread that uses the database).
Answers are stored before other answers are looked up, so a request finds an answer that is stored in the
same transaction."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

from . import statements
from .claim_owner import is_dead
from .database import Database
from .digests import beginning
from .encoding import Corrupted, unpacked_number
from .failures import corrupted
from .memory_claims import MOST_READ
from .requests import Put
from .rows import ClaimRow, RowKey, Wish
from .schema import questions
from .single_flight import FlightBatch, Landed

_FARTHEST = 2 * 86_400.0
"""The longest time in seconds for which a claim (the right to make an answer) can be valid: twice the
longest lease, because clocks may differ. A claim that would be valid for longer is damaged, and is
ignored."""


def perform(batch: FlightBatch, connection: Connection, database: Database, owner: str) -> Landed:
    """Does the work of a batch of requests in one transaction, commits it, and returns the results. If
    the connection breaks, so that it is not known whether the commit succeeded, the caller may call this
    again for the same batch. ``owner``: the opened store that gets the claims."""
    now = database.now
    claims = [_claim_row(flight.first, now) for flight in batch.wanted]
    only_common = not batch.needs_more_than_puts_and_claims
    if only_common and database.hot.put_and_claim(connection, batch.puts, claims, owner, now):
        return Landed()
    with connection.begin():
        return _performed(batch, claims, connection, database, owner, now)


def claim_all(wishes: Sequence[Wish], connection: Connection, database: Database, owner: str) -> None:
    """Writes claims (rights to make an answer) that were in memory only to the database, and commits
    them. ``owner``, an opened store, is already making these answers. Skips a key that already has an
    answer or a claim in the database."""
    now = database.now
    claims = [_claim_row(wish, now) for wish in wishes]
    with connection.begin():
        if database.hot.claim(connection, claims, owner) < len(claims):
            statements.register(connection, questions, [wish.question for wish in wishes])
            database.hot.claim(connection, claims, owner)


def _performed(
    batch: FlightBatch,
    claims: Sequence[ClaimRow],
    connection: Connection,
    database: Database,
    owner: str,
    now: float,
) -> Landed:
    standing = _put(batch.puts, connection, database, now) if batch.puts else {}
    if batch.released:
        statements.release(connection, batch.released, owner)
    if batch.remembers:
        statements.insert_judgements(
            connection, [(each.memo, each.predicate, each.judgement) for each in batch.remembers], now
        )
    wishes = [flight.first for flight in batch.wanted]
    taken = _claim(wishes, claims, connection, database, owner) if wishes else {}
    if batch.renewed:
        expiring = [(flight.key, now + flight.first.lease) for flight in batch.renewed]
        statements.renew(connection, expiring, owner)
    memos = [recall.memo for recall in batch.recalls]
    recalled = dict(map(tuple, database.hot.recall(connection, memos))) if memos else {}
    opened = {
        question: statements.keys(connection, beginning(question), MOST_READ)
        for question in batch.openings
    }
    return Landed(standing, taken, recalled, opened)


def _put(
    puts: Sequence[Put], connection: Connection, database: Database, now: float
) -> dict[RowKey, object]:
    if database.hot.put(connection, puts, now) == len(puts):
        return {}
    # Some answers were not stored, because another process stored one first, or the question was
    # deleted.
    ours = {put.wish.key: put.answer for put in puts}
    found = _read(connection, database, ours)
    vanished = [put for put in puts if put.wish.key not in found]
    if vanished:
        statements.register(connection, questions, [put.wish.question for put in vanished])
        database.hot.put(connection, vanished, now)
        found = _read(connection, database, ours)
    return {
        key: _answer_of(row, database) for key, row in found.items() if bytes(row[4] or b"") != ours[key]
    }


def _claim(
    wishes: Sequence[Wish],
    rows: Sequence[ClaimRow],
    connection: Connection,
    database: Database,
    owner: str,
) -> dict[RowKey, object]:
    if database.hot.claim(connection, rows, owner) == len(rows):
        return {}
    claims = {row.key: row for row in rows}
    found = _read(connection, database, claims)
    missing = [wish for wish in wishes if wish.key not in found]
    if missing:
        # Claims (rights to make an answer) for new questions could not be inserted, because these
        # questions have no rows yet. So their rows are inserted first, and then the claims again.
        statements.register(connection, questions, [wish.question for wish in missing])
        database.hot.claim(connection, [claims[wish.key] for wish in missing], owner)
        found |= _read(connection, database, [wish.key for wish in missing])
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


def _read(connection: Connection, database: Database, keys: Iterable[RowKey]) -> dict[RowKey, Any]:
    return {(row[0], row[1]): row for row in database.hot.read(connection, list(keys))}


def _claim_row(wish: Wish, now: float) -> ClaimRow:
    return ClaimRow(wish.key, wish.question.digest, wish.ids, now + wish.lease)
