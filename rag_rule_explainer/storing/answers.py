"""This module takes answers to one question from the store, or claims the right to make them."""

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
    """The QuestionAnswers are the stored answers to one question in one namespace."""

    def __init__(self, writer: Writer, namespace: str, question: str, lease: float) -> None:
        self._writer = writer
        self._lease = lease
        self._keys = KeyDigests(namespace, question)
        self._question = RowSubject(digest(namespace, question), packed(namespace), packed(question))

    @property
    def commits(self) -> int:
        """The number of transactions that the store has committed in this process."""
        return self._writer.commits

    async def take(
        self, key: Hashable, ids: tuple[str, ...], sample: int = 0
    ) -> "StoredAnswer | AnswerClaim":
        """Returns the stored answer to an arrangement, or a claim to make it, which all other callers
        see.

        ``key``: the arrangement's; ``ids``: those of its sources, for readers of the store; ``sample``:
        the number of the answer. While another caller makes the answer, in this process or another, this
        waits until the answer is stored, or until its maker gives up or dies. A caller that is cancelled
        here holds no claim. Raises StoreFailed, and InvalidInput for a key with objects that mean nothing
        outside this process.
        """
        try:
            wish = Wish((self._keys.of(key), sample), self._question, packed_ids(ids), self._lease)
        except NotStorable as error:
            raise InvalidInput(f"an arrangement cannot be stored under {key!r}: {error}") from error
        if self._writer.grants.grant(wish):
            return AnswerClaim(self._writer, wish)
        return await self._taken_by_writer(wish)

    async def _taken_by_writer(self, wish: Wish) -> "StoredAnswer | AnswerClaim":
        loop, submit = asyncio.get_running_loop(), self._writer.submit
        future: asyncio.Future[Any] = loop.create_future()
        try:
            row = await outcome_of(self._writer, Take(loop, future, wish, submit))
        except asyncio.CancelledError:
            # The claim may have been granted just before the cancellation, and only this coroutine knows
            # of it.
            is_settled = future.done() and not future.cancelled() and not future.exception()
            if is_settled and future.result() is None:
                submit(Release(wish.key))
            raise
        return AnswerClaim(self._writer, wish) if row is None else _stored(self._writer, wish, row)


class AnswerClaim:
    """An AnswerClaim is the right, and the duty, to make one answer: settle it by ``put`` or by
    ``release``. Other callers wait for the answer. A claim that is garbage-collected is released."""

    __slots__ = ("_settled", "_wish", "_writer")

    def __init__(self, writer: Writer, wish: Wish) -> None:
        self._writer = writer
        self._wish = wish
        self._settled = False

    async def put(self, answer: Answer, latency: float | None = None) -> Answer:
        """Stores the answer, and returns the stored one, once it is committed.

        That is another answer if the lease ran out and another process was faster. It is returned as it
        will be read: a ``value`` that is no JSON is replaced by that of ``as_json``. The answer is stored
        even if the caller is cancelled here. Raises StoreFailed if it was not stored.
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
        """Gives the claim to the next waiting caller. Never blocks, never raises; later calls do
        nothing."""
        if not self._settled:
            self._settled = True
            self._writer.submit(Release(self._wish.key))

    def __del__(self) -> None:
        self.release()


async def outcome_of(writer: Writer, ticket: Ticket) -> Any:
    """Returns the writer's outcome of the ticket. Raises StoreFailed."""
    writer.submit(ticket)  # pyright: ignore[reportArgumentType] -- every Ticket here is WantedWork
    return await ticket.future


def _stored(writer: Writer, wish: Wish, row: Any) -> StoredAnswer:
    content, latency = row
    return StoredAnswer(writer.database.decoded(unpacked_answer, content, wish.key[0]), latency)
