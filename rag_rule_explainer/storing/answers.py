"""This module gets the stored answers to one question. If an answer is not stored, the caller gets a
*claim*: the right to make this answer, which only one caller has at a time."""

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
    """A ``QuestionAnswers`` gives access to the stored answers to one question. The object sees only
    answers of one namespace. A namespace is a name for one version of one application."""

    def __init__(self, writer: Writer, namespace: str, question: str, lease: float) -> None:
        self._writer = writer
        self._lease = lease
        self._keys = KeyDigests(namespace, question)
        self._question = RowSubject(digest(namespace, question), packed(namespace), packed(question))

    @property
    def commits(self) -> int:
        """Returns the number of transactions that the store has committed in this process."""
        return self._writer.commits

    async def take(
        self, key: Hashable, ids: tuple[str, ...], sample: int = 0
    ) -> "StoredAnswer | AnswerClaim":
        """Returns the stored answer to the question from an arrangement (a list of sources in their
        order). If there is none, returns a claim to make the answer.

        The caller that gets the claim must call ``put`` or ``release`` of the claim. Until then, all
        other callers that want this answer wait, in this process and in others. A caller that waits gets
        the answer when it is stored. If the caller with the claim gives up or dies instead, one of the
        waiting callers gets the claim. A caller that is cancelled while it waits gets no claim.

        ``key``: the key of the arrangement, made of its sources. ``ids``: the ids of its sources, which
        are stored with the answer. ``sample``: the number of the answer, from 0, if several answers are
        made from the same sources. Raises StoreFailed, and InvalidInput for a key with objects that have
        no meaning in other processes.
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
            # The claim (the right to make the answer) may have been granted just before the cancellation.
            # No other code knows of the claim, so it is released at once.
            is_settled = future.done() and not future.cancelled() and not future.exception()
            if is_settled and future.result() is None:
                submit(Release(wish.key))
            raise
        return AnswerClaim(self._writer, wish) if row is None else _stored(self._writer, wish, row)


class AnswerClaim:
    """An ``AnswerClaim`` is the right to make one answer. The caller that has the claim must call ``put``
    or ``release``, because other callers wait for one of these calls. A claim that is garbage-collected
    is released."""

    __slots__ = ("_settled", "_wish", "_writer")

    def __init__(self, writer: Writer, wish: Wish) -> None:
        self._writer = writer
        self._wish = wish
        self._settled = False

    async def put(self, answer: Answer, latency: float | None = None) -> Answer:
        """Stores the answer, waits until it is committed, and returns the answer that is now in the
        store.

        The right to make the answer may have expired before this call. If another process has then stored
        its own answer first, the answer of that process is returned. The result has the form in which it
        will be read from the store: a ``value`` that JSON cannot encode is replaced by the result of
        ``as_json``. The answer is stored even if the caller is cancelled during the wait. Raises
        StoreFailed if the answer was not stored.

        ``latency``: the seconds that making the answer took, which are stored too; None if not measured.
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
        """Gives up the claim (the right to make the answer), so that the caller that has waited longest
        gets it. Never blocks and raises no error. Does nothing after ``put``, or if the claim was already
        given up."""
        if not self._settled:
            self._settled = True
            self._writer.submit(Release(self._wish.key))

    def __del__(self) -> None:
        self.release()


async def outcome_of(writer: Writer, ticket: Ticket) -> Any:
    """Sends a request to the writer (the thread that uses the database), waits for the outcome and
    returns it. Raises StoreFailed if the request failed. ``ticket``: the request."""
    writer.submit(ticket)  # pyright: ignore[reportArgumentType] -- every Ticket that is passed is a WantedWork
    return await ticket.future


def _stored(writer: Writer, wish: Wish, row: Any) -> StoredAnswer:
    content, latency = row
    return StoredAnswer(writer.database.decoded(unpacked_answer, content, wish.key[0]), latency)
