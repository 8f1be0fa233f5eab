"""This module keeps the application's replies to one question, in memory and, if there is one, in the
store."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ..sources import Arrangement
from ..storing.encoding import StoredAnswer
from ..verdicts import Answer
from .budget import Budget
from .memo import Memo
from .reply import Reply

if TYPE_CHECKING:  # not imported at run time, since a search without a store needs no SQLAlchemy
    from ..storing.answers import QuestionAnswers

MOST_IN_MEMORY = 4096
"""With a store, the replies in memory are dropped when there are this many; the store still has them."""

Make = Callable[[Arrangement], Awaitable[Reply]]


class AnswerCache:
    """This class keeps the replies to one question, so that the application makes each of them only once.
    It belongs to one event loop.

    ``remember``: False to keep no reply in memory. ``stored``: the store's answers to this question; None
    without a store.
    """

    def __init__(
        self, budget: Budget, *, remember: bool, stored: "QuestionAnswers | None" = None
    ) -> None:
        self._budget = budget
        self._remember = remember
        self._stored = stored
        self._replies = Memo[Reply]()

    async def reply(self, arrangement: Arrangement, make: Make) -> Reply:
        """Returns the reply to an arrangement. Calls ``make`` for it only if neither the memory nor the
        store has one. Raises StoreFailed, and the errors of ``make``."""
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
        """Returns the reply to an arrangement that has this sample number, from 0 on. It is from the
        store or else made by ``make``; the replies in memory are not used."""
        return await self._taken(arrangement, number, make)

    async def offered(self, arrangement: Arrangement, answer: Answer) -> tuple[Answer, bool]:
        """Puts an answer that the caller has without a replay into the store as sample 0, if the store
        has none for the arrangement. Returns the answer that is in the store then, and True iff it is
        the caller's and not an earlier one."""
        first = Reply(answer)
        offered = False

        async def make(_: Arrangement) -> Reply:
            nonlocal offered
            offered = True
            return first

        reply = await self._taken(arrangement, 0, make)
        return reply.answer or answer, offered

    def remember(self, arrangement: Arrangement, reply: Reply) -> None:
        """Keeps in memory a reply that was made without this cache."""
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
