"""Answers to one question: taken from the store, or made by whoever holds the claim."""

import asyncio
from collections.abc import Hashable
from typing import Any

from ..errors import InvalidInput
from ..verdicts import Answer
from .digests import Keys, NotStorable, digest
from .encoding import StoredAnswer, packed, packed_answer, packed_ids, storable, unpacked_answer
from .rows import Subject
from .tickets import Put, Release, Take, Ticket
from .writer import Writer


class Answers:
    """The answers to one question in one namespace."""

    def __init__(self, writer: Writer, namespace: str, question: str, lease: float) -> None:
        self._writer = writer
        self._lease = lease
        self._keys = Keys(namespace, question)
        self._question = Subject(digest(namespace, question), packed(namespace), packed(question))

    @property
    def commits(self) -> int:
        """How many transactions the store has committed in this process."""
        return self._writer.commits

    async def take(self, key: Hashable, ids: tuple[str, ...], sample: int = 0) -> "StoredAnswer | Claim":
        """The stored answer to an arrangement, or the claim to make it, which is committed as well.

        ``key``: the arrangement's; ``ids``: those it shows, for people; ``sample``: which of several
        answers to it. While somebody else makes the answer, in this process or another, waits for that:
        until it is there, or its maker gives up or is dead. Who is cancelled in here holds no claim.
        Raises StoreFailed, and InvalidInput for a key that means nothing outside this process.
        """
        try:
            digits = self._keys.of(key)
        except NotStorable as error:
            raise InvalidInput(f"an arrangement cannot be stored under {key!r}: {error}") from error
        loop, submit = asyncio.get_running_loop(), self._writer.submit
        future: asyncio.Future[Any] = loop.create_future()
        take = Take(loop, future, (digits, sample), self._question, packed_ids(ids), self._lease, submit)
        try:
            row = await told(self._writer, take)
        except asyncio.CancelledError:
            # It may have been granted just before; nobody knows of that claim but this coroutine.
            is_told = future.done() and not future.cancelled() and not future.exception()
            if is_told and future.result() is None:
                submit(Release(take.key))
            raise
        return Claim(self._writer, take) if row is None else _stored(self._writer, row)


class Claim:
    """The right, and the duty, to make one answer: settle it by ``put`` or by ``release``.

    Others wait for it. One that is dropped is released.
    """

    __slots__ = ("_settled", "_take", "_writer")

    def __init__(self, writer: Writer, take: Take) -> None:
        self._writer = writer
        self._take = take
        self._settled = False

    async def put(self, answer: Answer, latency: float | None = None) -> Answer:
        """Stores the answer, and returns the one that stands, once that is committed.

        It is another one where the lease ran out and somebody was faster. It comes back as it will be
        read: equal, but for a ``value`` that is no JSON, of which what ``as_json`` says is kept.
        Who is cancelled in here has put it all the same. Raises StoreFailed where it was not stored.
        """
        answer = storable(answer)
        loop, take = asyncio.get_running_loop(), self._take
        put = Put(loop, loop.create_future(), take, packed_answer(answer), latency)
        self._settled = True
        row = await told(self._writer, put)
        return answer if row is None else _stored(self._writer, row).answer

    def release(self) -> None:
        """Lets the next one who wants the answer make it. Never blocks, never raises; once is enough."""
        if not self._settled:
            self._settled = True
            self._writer.submit(Release(self._take.key))

    def __del__(self) -> None:
        self.release()


async def told(writer: Writer, ticket: Ticket) -> Any:
    """What the writer tells of the ticket. Raises StoreFailed."""
    writer.submit(ticket)  # pyright: ignore[reportArgumentType] -- every ticket is wanted
    return await ticket.future


def _stored(writer: Writer, row: Any) -> StoredAnswer:
    content, latency = row
    return StoredAnswer(writer.database.decoded(unpacked_answer, content), latency)
