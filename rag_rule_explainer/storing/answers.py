"""Answers to one question: taken from the store, or made by whoever holds the claim."""

import asyncio
from collections.abc import Hashable
from typing import Any

from ..errors import InvalidInput
from ..verdicts import Answer
from .digests import KeyDigests, NotStorable, digest
from .encoding import StoredAnswer, packed, packed_answer, packed_ids, storable, unpacked_answer
from .requests import Put, Release, Take, Ticket
from .rows import RowSubject, Wish
from .writer import Writer


class QuestionAnswers:
    """This class represents the answers to one question in one namespace."""

    def __init__(self, writer: Writer, namespace: str, question: str, lease: float) -> None:
        self._writer = writer
        self._lease = lease
        self._keys = KeyDigests(namespace, question)
        self._question = RowSubject(digest(namespace, question), packed(namespace), packed(question))

    @property
    def commits(self) -> int:
        """Returns how many transactions the store has committed in this process."""
        return self._writer.commits

    async def take(
        self, key: Hashable, ids: tuple[str, ...], sample: int = 0
    ) -> "StoredAnswer | AnswerClaim":
        """Returns the stored answer to an arrangement, or the claim to make it, which others know of
        before they come near.

        ``key``: the arrangement's; ``ids``: those it shows, for people; ``sample``: which of several
        answers to it. While somebody else makes the answer, in this process or another, waits for that:
        until it is there, or its maker gives up or is dead. Who is cancelled in here holds no claim.
        Raises StoreFailed, and InvalidInput for a key that means nothing outside this process.
        """
        try:
            wish = Wish((self._keys.of(key), sample), self._question, packed_ids(ids), self._lease)
        except NotStorable as error:
            raise InvalidInput(f"an arrangement cannot be stored under {key!r}: {error}") from error
        if self._writer.grants.grant(wish):
            return AnswerClaim(self._writer, wish)
        return await self._told(wish)

    async def _told(self, wish: Wish) -> "StoredAnswer | AnswerClaim":
        loop, submit = asyncio.get_running_loop(), self._writer.submit
        future: asyncio.Future[Any] = loop.create_future()
        try:
            row = await told_of(self._writer, Take(loop, future, wish, submit))
        except asyncio.CancelledError:
            # It may have been granted just before; nobody knows of that claim but this coroutine.
            is_told = future.done() and not future.cancelled() and not future.exception()
            if is_told and future.result() is None:
                submit(Release(wish.key))
            raise
        return AnswerClaim(self._writer, wish) if row is None else _stored(self._writer, wish, row)


class AnswerClaim:
    """This class represents the right, and the duty, to make one answer: settle it by ``put`` or by
    ``release``.

    Others wait for it. One that is dropped is released.
    """

    __slots__ = ("_settled", "_wish", "_writer")

    def __init__(self, writer: Writer, wish: Wish) -> None:
        self._writer = writer
        self._wish = wish
        self._settled = False

    async def put(self, answer: Answer, latency: float | None = None) -> Answer:
        """Stores the answer, and returns the one that stands, once that is committed.

        It is another one where the lease ran out and somebody was faster. It comes back as it will be
        read: equal, but for a ``value`` that is no JSON, of which what ``as_json`` says is kept.
        Who is cancelled in here has put it all the same. Raises StoreFailed where it was not stored.
        """
        answer = storable(answer)
        loop = asyncio.get_running_loop()
        put = Put(
            loop, loop.create_future(), self._wish, packed_answer(answer, self._wish.key[0]), latency
        )
        self._settled = True
        self._writer.submit(put)
        row = await put.future
        return answer if row is None else _stored(self._writer, self._wish, row).answer

    def release(self) -> None:
        """Lets the next one who wants the answer make it. Never blocks, never raises; once is enough."""
        if not self._settled:
            self._settled = True
            self._writer.submit(Release(self._wish.key))

    def __del__(self) -> None:
        self.release()


async def told_of(writer: Writer, ticket: Ticket) -> Any:
    """Returns what the writer tells of the ticket. Raises StoreFailed."""
    writer.submit(ticket)  # pyright: ignore[reportArgumentType] -- every ticket is wanted
    return await ticket.future


def _stored(writer: Writer, wish: Wish, row: Any) -> StoredAnswer:
    content, latency = row
    return StoredAnswer(writer.database.decoded(unpacked_answer, content, wish.key[0]), latency)
