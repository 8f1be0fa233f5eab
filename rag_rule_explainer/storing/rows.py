"""This module defines the rows of the tables, and the statements that run for every probe."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from sqlalchemy import Connection

RowKey: TypeAlias = tuple[str, int]
"""The digest of an arrangement, and the number of the sample."""


class ClaimRow(NamedTuple):
    """A ClaimRow marks an answer that is being made; ``question`` is a digest."""

    key: RowKey
    question: str
    ids: bytes
    expires: float


class RowSubject(NamedTuple):
    """A RowSubject is a question that has answers, or a predicate that has judgements."""

    digest: str
    namespace: bytes
    text: bytes


class Wish(NamedTuple):
    """A Wish names the answer that a caller requests, or makes."""

    key: RowKey
    question: RowSubject
    ids: bytes
    lease: float


class AnswerRow(Protocol):
    """An AnswerRow is an answer to a wish."""

    wish: Wish
    answer: bytes
    latency: float | None


class HotStatements(Protocol):
    """The HotStatements run for every probe; each kind of database has its own. ``FEWEST``: a transaction
    serves at least this number of requests, if so many wait."""

    FEWEST: int

    def put_and_claim(
        self,
        connection: Connection,
        puts: Sequence[AnswerRow],
        claims: Sequence[ClaimRow],
        owner: str,
        now: float,
    ) -> bool:
        """Puts answers and makes claims in a transaction of its own; returns True iff all of them are
        there now. Otherwise the caller must put and claim them again, in another transaction."""
        ...

    def claim(self, connection: Connection, rows: Sequence[ClaimRow], owner: str) -> int:
        """Inserts claims for keys without a row, and returns their number."""
        ...

    def put(self, connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
        """Stores answers for keys without one, and returns their number. Skips questions without a
        row."""
        ...

    def read(self, connection: Connection, keys: Sequence[RowKey]) -> Sequence[Any]:
        """Returns the existing rows of these keys."""
        ...

    def recall(self, connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
        """Returns the existing judgements of these memos."""
        ...
