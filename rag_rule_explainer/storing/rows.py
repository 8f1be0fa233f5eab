"""This module defines types for the rows of the tables. It also defines the interface of the
statements that run for every probe."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from sqlalchemy import Connection

RowKey: TypeAlias = tuple[str, int]
"""The key of an answer: the digest of the arrangement of its sources, and the number of the sample."""


class ClaimRow(NamedTuple):
    """A ``ClaimRow`` is the row of a claim, which shows that some process is making an answer.

    ``question``: the digest of the question. ``ids``: the ids of the sources, encoded. ``expires``: the
    time at which the claim ends.
    """

    key: RowKey
    question: str
    ids: bytes
    expires: float


class RowSubject(NamedTuple):
    """A ``RowSubject`` is what rows belong to: the question of answers, or the predicate of
    judgements."""

    digest: str
    namespace: bytes
    text: bytes


class Wish(NamedTuple):
    """A ``Wish`` describes an answer that a caller requests or makes.

    ``ids``: the ids of the sources, encoded. ``lease``: the number of seconds after which a claim to make
    the answer expires, unless it is renewed.
    """

    key: RowKey
    question: RowSubject
    ids: bytes
    lease: float


class AnswerRow(Protocol):
    """An ``AnswerRow`` is an answer to be stored. ``wish``: the request that it fulfils."""

    wish: Wish
    answer: bytes
    latency: float | None


class HotStatements(Protocol):
    """This interface has the statements that run for every probe. Each kind of database has its own
    version.

    ``FEWEST``: the writer does at least this number of requests in one transaction, if so many are in its
    queue.
    """

    FEWEST: int

    def put_and_claim(
        self,
        connection: Connection,
        puts: Sequence[AnswerRow],
        claims: Sequence[ClaimRow],
        owner: str,
        now: float,
    ) -> bool:
        """Stores answers and inserts claims in a transaction of its own. Returns True iff all of them
        were stored or inserted. Otherwise the caller must call ``put`` and ``claim`` for them in
        another transaction."""
        ...

    def claim(self, connection: Connection, rows: Sequence[ClaimRow], owner: str) -> int:
        """Inserts a claim for each key that has no row yet. Returns the number of inserted claims."""
        ...

    def put(self, connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
        """Stores each answer whose key has no answer yet. Returns the number of stored answers. An
        answer is skipped if its question has no row."""
        ...

    def read(self, connection: Connection, keys: Sequence[RowKey]) -> Sequence[Any]:
        """Returns the existing rows for these keys. A row is an answer or a claim."""
        ...

    def recall(self, connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
        """Returns the judgements that exist under these keys, each with its key. ``memos``: the
        digests under which the judgements are stored."""
        ...
