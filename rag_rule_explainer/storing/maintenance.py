"""This module counts the contents of a store, deletes old contents, and exports all contents."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Table, and_, delete, exists, func, select, true, tuple_

from ..errors import InvalidInput
from .address import Address
from .database import OUTSIDE_OPTIONS, Database, patiently
from .encoding import (
    packed,
    unpacked,
    unpacked_answer,
    unpacked_ids,
    unpacked_judgement,
    unpacked_number,
)
from .schema import answers, judgements, predicates, questions, version_of

Result = TypeVar("Result")

_DAY = 86_400.0
_PAGE = 500


@dataclass(frozen=True, slots=True)
class NamespaceInfo:
    """A ``NamespaceInfo`` counts what one namespace of a store contains.

    ``questions``: the questions with at least one answer. ``claims``: the answers that processes are
    making now. A process that uses the database alone does not store its claims, so they are not counted.
    ``oldest``, ``newest``: when the oldest and the newest answer or judgement was stored, in seconds
    since 1970; None if there is none.
    """

    namespace: str
    questions: int
    answers: int
    judgements: int
    claims: int
    oldest: float | None
    newest: float | None


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """A ``StoreInfo`` describes a store. ``schema``: the version of its tables. ``size``: the size of its
    file in bytes; None for a server. ``namespaces``: its contents, one entry for each namespace."""

    url: str
    schema: int
    size: int | None
    namespaces: tuple[NamespaceInfo, ...]


@dataclass(frozen=True, slots=True)
class Pruned:
    """A ``Pruned`` holds the numbers of deleted answers and judgements."""

    answers: int
    judgements: int


def info(url: str | os.PathLike[str]) -> StoreInfo:
    """Returns a description of the store at ``url``, with the number of answers and judgements in each
    namespace. Creates nothing: raises StoreFailed if there is no store."""
    database = _existing(url)

    def look(connection: Connection) -> StoreInfo:
        found = {name: _counted(connection, name, database) for name in _namespaces(connection)}
        named = [(database.decoded(unpacked, name), *counts) for name, counts in found.items()]
        schema = version_of(connection, database.shown) or 0
        return StoreInfo(
            database.shown, schema, _size(url), tuple(NamespaceInfo(*n) for n in sorted(named))
        )

    return _reading(database, look)


def prune(
    url: str | os.PathLike[str],
    namespace: str | None = None,
    older_than_days: float | None = None,
    *,
    everything: bool = False,
) -> Pruned:
    """Deletes answers and judgements from the store at ``url``, and returns their numbers.

    ``namespace``: delete only from this namespace. ``older_than_days``: delete only what was stored more
    than this number of days ago. ``everything``: True to delete everything; the other two parameters must
    then be None. An answer that a process is making now is not affected. Raises StoreFailed, and
    InvalidInput if the arguments do not say what to delete.
    """
    chosen = namespace is not None or older_than_days is not None
    if chosen == everything:
        raise InvalidInput(
            "nothing says what to prune; give a namespace, an age in days, or ask for everything"
            if everything is False
            else "everything is pruned whatever its namespace and age; leave those out, or everything"
        )
    if older_than_days is not None and not older_than_days >= 0:
        raise InvalidInput(f"older_than_days is {older_than_days!r}; give a number of days, at least 0")
    database = _existing(url)
    name = None if namespace is None else packed(namespace)
    before = None if older_than_days is None else database.now - older_than_days * _DAY
    with database.as_store_failed():
        pruned = patiently(lambda: _pruned(database, name, before))
        _shrink(database)
    return pruned


def export(url: str | os.PathLike[str], namespace: str | None = None) -> Iterator[dict[str, Any]]:
    """Returns an iterator over all answers and judgements in the store, each as a dict for JSON.

    ``namespace``: export only this namespace; None for all. The store is read page by page, so a large
    store does not need much memory. Raises StoreFailed if the database cannot be used.
    """
    database = _existing(url)
    name = None if namespace is None else packed(namespace)
    return _exported(database, name)


def _existing(url: str | os.PathLike[str]) -> Database:
    database = Database(Address.of(url))
    database.prepare(make=False)
    return database


def _reading(database: Database, read: Callable[[Connection], Result]) -> Result:
    with database.as_store_failed(), closing(database.connect()) as connection:
        return read(connection.execution_options(**OUTSIDE_OPTIONS))


def _size(url: str | os.PathLike[str]) -> int | None:
    address = Address.of(url)
    if address.dialect != "sqlite":
        return None
    files = (address.target, address.target + "-wal")
    return sum(os.path.getsize(file) for file in files if os.path.exists(file))  # noqa: PTH110, PTH202 -- ``file`` is a str


def _namespaces(connection: Connection) -> set[bytes]:
    subjects = select(questions.c.namespace).union(select(predicates.c.namespace))
    return set(connection.execute(subjects).scalars())


def _counted(connection: Connection, namespace: bytes, database: Database) -> tuple[Any, ...]:
    of_answers = (
        select(
            func.count(func.distinct(answers.c.question)),
            func.count(answers.c.answer),
            func.count().filter(answers.c.answer.is_(None), answers.c.expires > database.now),
            func.min(answers.c.stored),
            func.max(answers.c.stored),
        )
        .join_from(answers, questions, answers.c.question == questions.c.id)
        .where(questions.c.namespace == namespace)
    )
    of_judgements = (
        select(func.count(), func.min(judgements.c.stored), func.max(judgements.c.stored))
        .join_from(judgements, predicates, judgements.c.predicate == predicates.c.id)
        .where(predicates.c.namespace == namespace)
    )
    asked, answered, claimed, *times = connection.execute(of_answers).one()
    judged, *more_times = connection.execute(of_judgements).one()
    decoded = [database.decoded(unpacked_number, time) for time in (*times, *more_times)]
    known = [time for time in decoded if time is not None]
    return asked, answered, judged, claimed, min(known, default=None), max(known, default=None)


def _pruned(database: Database, namespace: bytes | None, before: float | None) -> Pruned:
    with closing(database.connect()) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            # Questions that no answer belongs to are deleted too. Without the lock, another process could
            # add an answer to such a question at the same moment.
            tables = ", ".join(table.name for table in (questions, predicates, answers, judgements))
            connection.exec_driver_sql(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE")
        dead = answers.c.answer.is_(None) & (answers.c.expires < database.now)
        connection.execute(delete(answers).where(dead))
        return Pruned(
            _deleted(connection, answers, questions, namespace, before, answers.c.answer.is_not(None)),
            _deleted(connection, judgements, predicates, namespace, before, true()),
        )


def _deleted(
    connection: Connection,
    table: Table,
    subjects: Table,
    namespace: bytes | None,
    before: float | None,
    condition: Any,
) -> int:
    """Deletes the selected rows of a table (answers or judgements) and returns their number. Also deletes
    the rows of ``subjects`` (questions or predicates) to which no row of the table belongs any more.

    ``namespace``, ``before``: select rows of this namespace, and rows stored before this time; None for
    no restriction. ``condition``: a further condition that selected rows must meet.
    """
    reference = table.c[subjects.name.removeprefix("rag_rules_").removesuffix("s")]
    if namespace is not None:
        named = select(subjects.c.id).where(subjects.c.namespace == namespace)
        condition = and_(condition, reference.in_(named))
    if before is not None:
        condition = and_(condition, table.c.stored < before)
    count = connection.execute(delete(table).where(condition)).rowcount
    connection.execute(delete(subjects).where(~exists().where(reference == subjects.c.id)))
    return count


def _shrink(database: Database) -> None:
    """Shrinks the file of a SQLite database, which would otherwise still contain the data of deleted
    rows. Does nothing for a server."""
    with closing(database.connect()) as connection:
        if connection.dialect.name == "sqlite":
            connection.execution_options(**OUTSIDE_OPTIONS)
            patiently(lambda: connection.exec_driver_sql("VACUUM"))
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def _exported(database: Database, namespace: bytes | None) -> Iterator[dict[str, Any]]:
    columns = (answers.c.arrangement, answers.c.sample, answers.c.ids, answers.c.answer)
    rest = (answers.c.latency, answers.c.stored, questions.c.namespace, questions.c.text)
    query = select(*columns, *rest).join_from(answers, questions, answers.c.question == questions.c.id)
    query = query.where(answers.c.answer.is_not(None))
    for row in _paged(database, query, (answers.c.arrangement, answers.c.sample), questions, namespace):
        with database.as_store_failed():
            record = _answer_record(row, database)
        yield record
    judged = select(judgements, predicates.c.namespace, predicates.c.text)
    judged = judged.join_from(judgements, predicates, judgements.c.predicate == predicates.c.id)
    for row in _paged(database, judged, (judgements.c.memo,), predicates, namespace):
        yield _judgement_record(row, database)


def _paged(
    database: Database, query: Any, key: tuple[Any, ...], subjects: Table, namespace: bytes | None
) -> Iterator[Row[Any]]:
    if namespace is not None:
        query = query.where(subjects.c.namespace == namespace)
    query, last = query.order_by(*key).limit(_PAGE), None
    while True:
        page_query = query if last is None else query.where(tuple_(*key) > last)
        page = _reading(database, lambda connection, page=page_query: connection.execute(page).all())
        yield from page
        if len(page) < _PAGE:
            return
        last = tuple(page[-1])[: len(key)]


def _answer_record(row: Row[Any], database: Database) -> dict[str, Any]:
    decoded = database.decoded
    return {
        "kind": "answer",
        "namespace": decoded(unpacked, row.namespace),
        "question": decoded(unpacked, row.text),
        "arrangement": str(row.arrangement),
        "sample": int(row.sample),
        "ids": list(decoded(unpacked_ids, row.ids)),
        "answer": asdict(decoded(unpacked_answer, row.answer, str(row.arrangement))),
        "latency": decoded(unpacked_number, row.latency),
        "stored": decoded(unpacked_number, row.stored),
    }


def _judgement_record(row: Row[Any], database: Database) -> dict[str, Any]:
    decoded = database.decoded
    judgement = decoded(unpacked_judgement, row.judgement, str(row.memo))
    return {
        "kind": "judgement",
        "namespace": decoded(unpacked, row.namespace),
        "predicate": decoded(unpacked, row.text),
        "memo": str(row.memo),
        "verdict": judgement.verdict.value,
        "reason": judgement.reason,
        "stored": decoded(unpacked_number, row.stored),
    }
