"""What goes into the tables and comes out of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from sqlalchemy import Connection

RowKey: TypeAlias = tuple[str, int]
"""An arrangement's digest, and the number of the sample."""


class ClaimRow(NamedTuple):
    """Says that an answer is being made; ``question`` is a digest."""

    key: RowKey
    question: str
    ids: bytes
    expires: float


class RowSubject(NamedTuple):
    """This class represents a question that has answers, or a predicate that has judgements."""

    digest: str
    namespace: bytes
    text: bytes


class Wish(NamedTuple):
    """What somebody wants an answer to, or makes one to."""

    key: RowKey
    question: RowSubject
    ids: bytes
    lease: float


class AnswerRow(Protocol):
    """An answer to a wish."""

    wish: Wish
    answer: bytes
    latency: float | None


class HotStatements(Protocol):
    """What runs for every probe, written for one kind of database.

    ``FEWEST``: so many are served at once, where so many are there, before others have to wait.
    """

    FEWEST: int

    def at_once(
        self,
        connection: Connection,
        puts: Sequence[AnswerRow],
        claims: Sequence[ClaimRow],
        owner: str,
        now: float,
    ) -> bool:
        """Puts answers and makes claims in a transaction of its own; True iff they are all there now.

        Else there is more to do, in another transaction, which puts and claims them again.
        """
        ...

    def claim(self, connection: Connection, rows: Sequence[ClaimRow], owner: str) -> int:
        """Inserts claims where there is no row yet; how many."""
        ...

    def put(self, connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
        """Puts answers where there is none yet; how many. A question that has no row gets none."""
        ...

    def read(self, connection: Connection, keys: Sequence[RowKey]) -> Sequence[Any]:
        """Returns the rows of these keys that are there."""
        ...

    def recall(self, connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
        """Returns the judgements of these memos that are there."""
        ...
