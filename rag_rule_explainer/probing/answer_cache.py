"""Answers that are on the cache already: in memory by arrangement, and in the store, if there is one."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ..sources import Arrangement
from ..storing.encoding import StoredAnswer
from ..verdicts import Answer
from .budget import Budget
from .memo import Memo
from .reply import Reply

if TYPE_CHECKING:  # a search without a store loads no SQLAlchemy
    from ..storing.answers import QuestionAnswers

MOST_IN_MEMORY = 4096
"""Answers that are kept in memory as well where there is a store to read the others from."""

Make = Callable[[Arrangement], Awaitable[Reply]]


class AnswerCache:
    """This class represents the replies to one question, each made once. For one event loop.

    ``remember=False`` keeps none in memory. ``stored``: the store's answers to the question.
    """

    def __init__(
        self, budget: Budget, *, remember: bool, stored: "QuestionAnswers | None" = None
    ) -> None:
        self._budget = budget
        self._remember = remember
        self._stored = stored
        self._replies = Memo[Reply]()

    async def reply(self, arrangement: Arrangement, make: Make) -> Reply:
        """Returns the reply, made where it is not there. Raises what ``make`` raises, and StoreFailed."""
        if not self._remember:
            return await self._taken(arrangement, 0, make)
        key, replies = arrangement.key, self._replies
        if not replies.begin(key):
            known = await replies.settled(key)
            if known is not None:
                self._budget.reused += 1
                return known
        try:
            reply = await (
                make(arrangement) if self._stored is None else self._taken(arrangement, 0, make)
            )
        except BaseException:
            replies.end(key, None)
            raise
        if self._stored is not None and len(replies.known) >= MOST_IN_MEMORY:
            replies.known.clear()
        replies.end(key, reply)
        return reply

    async def sample(self, arrangement: Arrangement, number: int, make: Make) -> Reply:
        """Returns the reply of that number to an arrangement that is asked about several times, from 0
        on."""
        return await self._taken(arrangement, number, make)

    async def offered(self, arrangement: Arrangement, answer: Answer) -> tuple[Answer, bool]:
        """Returns the first answer to an arrangement, and whether it is this one, come by without a
        replay."""
        first = Reply(answer)
        offered = False

        async def make(_: Arrangement) -> Reply:
            nonlocal offered
            offered = True
            return first

        reply = await self._taken(arrangement, 0, make)
        return reply.answer or answer, offered

    def remember(self, arrangement: Arrangement, reply: Reply) -> None:
        """Keeps a reply that was come by otherwise."""
        if self._remember:
            self._replies.known[arrangement.key] = reply

    async def _taken(self, arrangement: Arrangement, number: int, make: Make) -> Reply:
        if self._stored is None:
            return await make(arrangement)
        taken = await self._stored.take(arrangement.key, arrangement.ids, number)
        if isinstance(taken, StoredAnswer):
            self._budget.stored += 1
            return Reply(taken.answer, taken.latency)
        try:
            reply = await make(arrangement)
        except BaseException:
            taken.release()
            raise
        if reply.answer is None:
            taken.release()
            return reply
        return reply._replace(answer=await taken.put(reply.answer, reply.latency))
