"""This module defines the tables of a store. It creates them, and migrates tables of an older version."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    inspect,
    select,
    update,
)

from ..errors import StoreFailed
from . import postgres_functions as functions

SchemaStep: TypeAlias = Callable[[Connection], None]
"""A function that migrates the tables from one version to the next."""

STEPS: tuple[SchemaStep, ...] = ()
"""The functions that migrate the tables: the first from version 1 to 2, the second from 2 to 3, and so
on. A released function must never change, because some stores have already been migrated by it."""

_PREFIX = "rag_rules_"
_LOCK = 7_241_860_313  # the number of a lock: only one process at a time may create tables

_metadata = MetaData()
_key: Any = Text().with_variant(Text(collation="C"), "postgresql")
_serial: Any = BigInteger().with_variant(Integer(), "sqlite")
_seconds: Any = Float(53)

versions = Table(f"{_PREFIX}version", _metadata, Column("version", Integer, nullable=False))

questions = Table(
    f"{_PREFIX}questions",
    _metadata,
    Column("id", _serial, primary_key=True),
    Column("digest", _key, nullable=False, unique=True),
    Column("namespace", LargeBinary, nullable=False),
    Column("text", LargeBinary, nullable=False),
)
"""The questions that have answers. ``digest`` is the digest of the namespace and the question."""

predicates = Table(
    f"{_PREFIX}predicates",
    _metadata,
    Column("id", _serial, primary_key=True),
    Column("digest", _key, nullable=False, unique=True),
    Column("namespace", LargeBinary, nullable=False),
    Column("text", LargeBinary, nullable=False),
)
"""The predicates that have judgements. ``text`` is the name of the predicate. ``digest`` is the digest of
the namespace and this name."""

answers = Table(
    f"{_PREFIX}answers",
    _metadata,
    Column("arrangement", _key, primary_key=True),
    Column("sample", Integer, primary_key=True, autoincrement=False),
    Column("question", BigInteger, nullable=False),
    Column("ids", LargeBinary, nullable=False),
    Column("owner", Text),
    Column("expires", _seconds),
    Column("answer", LargeBinary),
    Column("latency", _seconds),
    Column("stored", _seconds),
)
"""The answers and the claims (rights to make an answer). ``arrangement`` is the digest of the namespace,
the question, and the sources in their order.

A row without an answer is a claim: ``owner``, a store that some process opened, is making this answer. No
other process should make it until the time ``expires``.
"""

judgements = Table(
    f"{_PREFIX}judgements",
    _metadata,
    Column("memo", _key, primary_key=True),
    Column("predicate", BigInteger, nullable=False),
    Column("judgement", LargeBinary, nullable=False),
    Column("stored", _seconds, nullable=False),
)
"""The judgements. ``memo`` is the digest of the namespace, the name of the predicate, and the memo key of
the judged case (a cache key that only cases with the same judgement share)."""


def migrate(connection: Connection, shown: str, steps: Sequence[SchemaStep] = STEPS) -> None:
    """Creates the tables if there are none, or migrates tables of an older version. Works in the open
    transaction of ``connection``. Raises StoreFailed for tables of a newer version, and for a SQLite file
    of a different application. ``shown``: the path or URL of the store, for messages. ``steps``: the
    functions that migrate the tables, each from one version to the next."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    current = len(steps) + 1
    version = version_of(connection, shown)
    if version is None:
        _metadata.create_all(connection, checkfirst=False)
        if connection.dialect.name == "postgresql":
            for statement in functions.CREATE:
                connection.exec_driver_sql(statement)
        connection.execute(versions.insert().values(version=current))
        return
    if version > current:
        raise StoreFailed(
            f"the store {shown} was made by a newer version of this package (schema {version}, this one "
            f"knows {current}); update rag-rule-explainer, or give another store"
        )
    for step in steps[version - 1 :]:
        step(connection)
    if version != current:
        connection.execute(update(versions).values(version=current))


def version_of(connection: Connection, shown: str) -> int | None:
    """Returns the version of the store's tables; None if there are no tables yet. Raises StoreFailed if
    the version cannot be read, and for a SQLite file of a different application. ``shown``: the path or
    URL of the store, for messages."""
    names = inspect(connection).get_table_names()
    if versions.name not in names:
        if names and connection.dialect.name == "sqlite":
            raise StoreFailed(
                f"the file {shown} holds tables of something else ({', '.join(sorted(names)[:3])}); "
                "give the store a file of its own"
            )
        return None
    version = connection.execute(select(versions.c.version)).scalar()
    if type(version) is not int or version < 1:
        raise StoreFailed(
            f"the store {shown} has no version; restore it from a copy, or give another store"
        )
    return version
