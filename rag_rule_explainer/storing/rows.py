"""This module defines types for the rows of the tables, and the interface of the statements that run for
every probe."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from sqlalchemy import Connection

RowKey: TypeAlias = tuple[str, int]
"""What identifies an answer: the digest of its arrangement, and the number of the sample."""


class ClaimRow(NamedTuple):
    """A ClaimRow is the row of a claim: it shows that some process is making an answer. ``question``: the
    digest of the question. ``ids``: the ids of the sources, encoded. ``expires``: when the claim ends."""

    key: RowKey
    question: str
    ids: bytes
    expires: float


class RowSubject(NamedTuple):
    """A RowSubject is what rows belong to: a question with its answers, or a predicate with its
    judgements."""

    digest: str
    namespace: bytes
    text: bytes


class Wish(NamedTuple):
    """A Wish says which answer a caller requests or makes. ``ids``: the ids of the sources, encoded.
    ``lease``: the seconds after which a claim to make it expires."""

    key: RowKey
    question: RowSubject
    ids: bytes
    lease: float


class AnswerRow(Protocol):
    """An AnswerRow is an answer to store, with the wish that it fulfils."""

    wish: Wish
    answer: bytes
    latency: float | None


class HotStatements(Protocol):
    """The HotStatements are the statements that run for every probe; each kind of database has its own.
    ``FEWEST``: the writer serves at least this number of requests in a transaction, if so many wait."""

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
        were stored or inserted. Otherwise the caller must do it by ``put`` and ``claim``, in another
        transaction."""
        ...

    def claim(self, connection: Connection, rows: Sequence[ClaimRow], owner: str) -> int:
        """Inserts a claim for each key that has no row yet. Returns the number of claims that were
        inserted."""
        ...

    def put(self, connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
        """Stores each answer whose key has none yet, and returns how many were stored. Skips an answer if
        its question has no row."""
        ...

    def read(self, connection: Connection, keys: Sequence[RowKey]) -> Sequence[Any]:
        """Returns the rows that exist for these keys: answers and claims."""
        ...

    def recall(self, connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
        """Returns the judgements that exist under these keys (memos), each with its key."""
        ...
