"""What goes into the tables and comes out of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from sqlalchemy import Connection

Key: TypeAlias = tuple[str, int]
"""An arrangement's digest, and the number of the sample."""


class ClaimRow(NamedTuple):
    """Says that an answer is being made; ``question`` is a digest."""

    key: Key
    question: str
    ids: bytes
    expires: float


class AnswerRow(NamedTuple):
    """An answer for a row that is there."""

    key: Key
    answer: bytes
    latency: float | None


class Subject(NamedTuple):
    """A question that has answers, or a predicate that has judgements."""

    digest: str
    namespace: bytes
    text: bytes


class HotStatements(Protocol):
    """What runs for every probe, written for one kind of database."""

    def claim(self, connection: Connection, rows: Sequence[ClaimRow], owner: str) -> int:
        """Inserts claims where there is no row yet; how many."""
        ...

    def put(self, connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
        """Puts answers where there is a row without one; how many."""
        ...

    def read(self, connection: Connection, keys: Sequence[Key]) -> Sequence[Any]:
        """The rows of these keys that are there."""
        ...

    def recall(self, connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
        """The judgements of these memos that are there."""
        ...
