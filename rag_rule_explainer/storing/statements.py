"""This module has the statements that run rarely. These statements are written with SQLAlchemy, so that
one version works with every supported kind of database."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from .rows import ClaimRow, RowKey, RowSubject
from .schema import answers, judgements, predicates

_at_key = (answers.c.arrangement == bindparam("key")) & (answers.c.sample == bindparam("number"))
_claimed = _at_key & (answers.c.owner == bindparam("holder")) & answers.c.answer.is_(None)

_RELEASE = delete(answers).where(_claimed)
_RENEW = update(answers).where(_claimed).values(expires=bindparam("until"))
_TAKE_OVER = (
    update(answers)
    .where(_claimed & (answers.c.expires == bindparam("expired")))
    .values(owner=bindparam("heir"), expires=bindparam("until"))
)


def register(connection: Connection, table: Table, subjects: Iterable[RowSubject]) -> None:
    """Inserts a row for each subject (a question or a predicate) that has no row yet. ``table``: the
    table of questions or of predicates, to which the ``subjects`` belong."""
    rows = [subject._asdict() for subject in sorted(set(subjects))]
    connection.execute(_insert(connection, table).on_conflict_do_nothing(), rows)


def insert_judgements(
    connection: Connection, rows: Sequence[tuple[str, RowSubject, bytes]], now: float
) -> None:
    """Inserts judgements. If the store already has a judgement under a key, the old judgement stays.
    ``rows``: for each judgement its key, its predicate and its content. ``now``: the time that is stored
    with them."""
    register(connection, predicates, [subject for _, subject, _ in rows])
    wanted = {subject.digest for _, subject, _ in rows}
    found = select(predicates.c.digest, predicates.c.id).where(predicates.c.digest.in_(wanted))
    ids = dict(map(tuple, connection.execute(found)))
    values = [
        {"memo": memo, "predicate": ids[subject.digest], "judgement": judgement, "stored": now}
        for memo, subject, judgement in sorted(rows)
    ]
    connection.execute(_insert(connection, judgements).on_conflict_do_nothing(), values)


def release(connection: Connection, keys: Sequence[RowKey], owner: str) -> None:
    """Deletes the claims (rights to make an answer) that ``owner``, an opened store, has for these keys.
    Claims of other owners stay."""
    connection.execute(_RELEASE, [_bound(key, holder=owner) for key in sorted(keys)])


def renew(connection: Connection, expiring: Sequence[tuple[RowKey, float]], owner: str) -> None:
    """Gives more time to claims (rights to make an answer) of ``owner``, an opened store. Claims of other
    owners are unchanged. ``expiring``: each key with the new time at which its claim expires."""
    connection.execute(
        _RENEW, [_bound(key, holder=owner, until=until) for key, until in sorted(expiring)]
    )


def take_over(connection: Connection, row: ClaimRow, holder: str, expired: float, heir: str) -> bool:
    """Gives a claim (the right to make an answer) to a new owner, because the process of its old owner
    has ended or the claim has expired. An owner is a store that a process has opened. Returns False and
    changes nothing if the row of the claim has changed since it was read.

    ``row``: the key, and the new time at which the claim expires. ``holder``, ``expired``: the old owner
    and the old time, as they were read. ``heir``: the new owner.
    """
    bound = _bound(row.key, holder=holder, expired=expired, heir=heir, until=row.expires)
    return connection.execute(_TAKE_OVER, bound).rowcount == 1


def keys(connection: Connection, prefix: str, most: int) -> list[RowKey]:
    """Returns the keys of the stored answers and claims (rights to make an answer) of one question, but
    at most ``most`` of them. ``prefix``: the beginning that the digests in these keys have in common."""
    # "g" comes after all hexadecimal digits, so this range has exactly the keys with the prefix.
    begin_so = answers.c.arrangement.between(prefix, prefix + "g")
    found = connection.execute(
        select(answers.c.arrangement, answers.c.sample).where(begin_so).limit(most)
    )
    return [(arrangement, sample) for arrangement, sample in found]


def _bound(key: RowKey, **more: Any) -> dict[str, Any]:
    return {"key": key[0], "number": key[1], **more}


def _insert(connection: Connection, table: Table) -> Any:
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table)
