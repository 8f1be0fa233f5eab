"""This module defines types for the rows of the tables, and the interface of the statements that run for
every probe."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from sqlalchemy import Connection

RowKey: TypeAlias = tuple[str, int]
"""The key of an answer: the digest of its question and its arrangement (the ordered sources), and the
number of the answer if several answers are made from the same sources."""


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
    """A ``RowSubject`` is the question to which answers belong, or the predicate to which judgements
    belong. ``text``: the question, or the name of the predicate. ``digest``: the digest of namespace and
    text."""

    digest: str
    namespace: bytes
    text: bytes


class Wish(NamedTuple):
    """A ``Wish`` describes an answer that a caller wants to get or to make.

    ``ids``: the ids of the sources, encoded. ``lease``: the number of seconds after which a claim (the
    right to make the answer) expires, unless it is renewed.
    """

    key: RowKey
    question: RowSubject
    ids: bytes
    lease: float


class AnswerRow(Protocol):
    """An ``AnswerRow`` is an answer to be stored. ``wish``: identifies the answer. ``answer``: the
    encoded answer. ``latency``: the seconds that making the answer took; None if not measured."""

    wish: Wish
    answer: bytes
    latency: float | None


class HotStatements(Protocol):
    """This interface has the statements that run for every probe. Each kind of database has its own
    version of these statements, because they must be fast.

    ``FEWEST``: the writer does at least this many requests in one transaction, or all in its queue if
    there are fewer.
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
        """Tries to store answers and to insert claims in one transaction of its own. Returns True iff all
        answers were stored and all claims were inserted. If it returns False, some may be missing. The
        caller must then call ``put`` and ``claim`` with all answers and claims; both methods skip what
        the database already has.

        ``owner``: the name of the opened store that gets the claims. ``now``: the time that is stored
        with the answers.
        """
        ...

    def claim(self, connection: Connection, rows: Sequence[ClaimRow], owner: str) -> int:
        """Inserts a claim (the right to make an answer) for each key that has neither an answer nor a
        claim in the database. Returns the number of inserted claims. ``rows``: the claims. ``owner``: the
        name of the opened store that gets them."""
        ...

    def put(self, connection: Connection, rows: Sequence[AnswerRow], now: float) -> int:
        """Stores each answer whose key has no answer in the database. Returns the number of stored
        answers. Skips an answer if its question has no row in the table of questions. ``now``: the time
        that is stored with the answers."""
        ...

    def read(self, connection: Connection, keys: Sequence[RowKey]) -> Sequence[Any]:
        """Returns the existing rows for these keys. A row is an answer, or a claim (the right to make
        one)."""
        ...

    def recall(self, connection: Connection, memos: Sequence[str]) -> Sequence[Any]:
        """Returns the judgements that are stored under these keys, each with its key. ``memos``: the
        keys."""
        ...
