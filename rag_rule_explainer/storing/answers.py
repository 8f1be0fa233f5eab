"""This module gets answers to one question from the store. If there is no answer, the caller gets a
claim: the right to make it."""

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
    """The QuestionAnswers give access to the stored answers to one question in one namespace."""

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
        """Returns the stored answer to an arrangement or, if there is none, a claim to make it. Other
        callers and processes then wait until the claim is settled.

        ``key``: that of the arrangement. ``ids``: those of its sources, which are stored too. ``sample``:
        the number of the answer, from 0 on. If another caller is making the answer, in this process or
        another, this waits until it is stored, or until that caller gives up or dies. A caller that is
        cancelled while it waits has no claim. Raises StoreFailed, and InvalidInput for a key with objects
        that have no meaning in other processes.
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
            # The claim may have been granted just before the cancellation. Only this coroutine could use
            # it, so it is released here.
            is_settled = future.done() and not future.cancelled() and not future.exception()
            if is_settled and future.result() is None:
                submit(Release(wish.key))
            raise
        return AnswerClaim(self._writer, wish) if row is None else _stored(self._writer, wish, row)


class AnswerClaim:
    """An AnswerClaim is the right to make one answer. Its holder must call ``put`` or ``release``, since
    other callers wait for that. A claim that is garbage-collected is released."""

    __slots__ = ("_settled", "_wish", "_writer")

    def __init__(self, writer: Writer, wish: Wish) -> None:
        self._writer = writer
        self._wish = wish
        self._settled = False

    async def put(self, answer: Answer, latency: float | None = None) -> Answer:
        """Stores the answer, waits until it is committed, and returns the answer that is now in the
        store.

        This is another answer if the claim had expired and another process was faster. It is returned as
        it will be read later: a ``value`` that JSON cannot encode is replaced by the result of
        ``as_json``. The answer is stored even if the caller is cancelled during the wait. Raises
        StoreFailed if it was not stored.
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
        """Gives the claim up, so that the next waiting caller gets it. Never blocks and raises no error.
        Does nothing if the claim was settled before."""
        if not self._settled:
            self._settled = True
            self._writer.submit(Release(self._wish.key))

    def __del__(self) -> None:
        self.release()


async def outcome_of(writer: Writer, ticket: Ticket) -> Any:
    """Sends a ticket to the writer, waits for its outcome and returns it. Raises StoreFailed."""
    writer.submit(ticket)  # pyright: ignore[reportArgumentType] -- every Ticket that is passed is a WantedWork
    return await ticket.future


def _stored(writer: Writer, wish: Wish, row: Any) -> StoredAnswer:
    content, latency = row
    return StoredAnswer(writer.database.decoded(unpacked_answer, content, wish.key[0]), latency)
