"""This module keeps the application's replies to one question, in memory and, if there is one, in the
store."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast

from ..printable import with_article
from ..sources import Arrangement
from ..storing.encoding import StoredAnswer, keeps_its_form
from ..verdicts import Answer
from .budget import Budget
from .memo import Memo
from .reply import Reply

if TYPE_CHECKING:  # imported only for its types, since a search without a store needs no SQLAlchemy
    from ..storing.answers import QuestionAnswers

MOST_IN_MEMORY = 4096
"""If there is a store and this number of replies is in memory, all replies are dropped from memory,
because the store has them too. Without a store, all replies are kept."""

Make = Callable[[Arrangement], Awaitable[Reply]]


class AnswerMemory:
    """An ``AnswerMemory`` holds the replies to one question. Several searches can share an
    ``AnswerMemory``, so that they pay each reply only once. It belongs to one event loop.

    ``first``: the first reply to each arrangement (an ordered list of sources). ``numbered``: the later
    replies to an arrangement (its samples), by arrangement and number.
    """

    def __init__(self) -> None:
        self.first = Memo[Reply]()
        self.numbered = Memo[Reply]()


class AnswerCache:
    """This class keeps the replies to one question, so that the application makes each reply only once.
    It belongs to one event loop.

    ``remember``: False to keep no reply in memory. ``stored``: the store's answers to this question;
    None without a store. ``notes``: a list to which a text is added if some answers cannot be stored.
    ``memory``: the memory that several searches share; None to use a memory of its own.
    """

    def __init__(
        self,
        budget: Budget,
        *,
        remember: bool,
        stored: "QuestionAnswers | None" = None,
        notes: list[str] | None = None,
        memory: AnswerMemory | None = None,
    ) -> None:
        self._notes = [] if notes is None else notes
        self._budget = budget
        self._remember = remember
        self._stored = stored
        self._shared = memory
        self._replies = (memory or AnswerMemory()).first
        self.memory_alone = self._replies if remember and stored is None else None
        """The replies by the keys of their arrangements, if only the memory keeps them; else None. A
        caller that runs often uses this ``Memo`` itself, since the coroutine of ``reply`` takes time."""

    @property
    def is_shared(self) -> bool:
        """Returns True iff several searches, for several conditions, share the memory."""
        return self._shared is not None

    async def reply(self, arrangement: Arrangement, make: Make) -> Reply:
        """Returns the reply to an arrangement (an ordered list of sources). Calls ``make`` for it only if
        neither the memory nor the store has one. Raises StoreFailed, and the errors of ``make``."""
        if not self._remember:
            return await self._taken(arrangement, 0, make)
        key, replies = arrangement.key, self._replies
        if not replies.begin(key):
            known = await replies.settled(key)
            if known is not None:
                self._budget.reused += 1
                return known
        try:
            reply = await self._taken(arrangement, 0, make)
        except BaseException:
            replies.end(key, None)
            raise
        if self._stored is not None and len(replies.known) >= MOST_IN_MEMORY:
            replies.known.clear()
        replies.end(key, reply)
        return reply

    async def sample(self, arrangement: Arrangement, number: int, make: Make) -> Reply:
        """Returns one of several replies to the same arrangement (an ordered list of sources): the sample
        with this number, counted from 0. If the sample is not in the store, ``make`` makes it.

        If several searches share an ``AnswerMemory``, it keeps the samples as well. A sample is then
        looked up in the store only if it is not in this memory.
        """
        if self._shared is None:
            return await self._taken(arrangement, number, make)

        async def taken(arrangement: Arrangement) -> Reply:
            return await self._taken(arrangement, number, make)

        key = (arrangement.key, number)
        reply, known = await self._shared.numbered.get(key, taken, arrangement)
        self._budget.reused += known
        return reply

    async def offered(self, arrangement: Arrangement, answer: Answer) -> tuple[Answer, bool]:
        """Offers to the store an answer that the caller got without this cache.

        The store keeps it as sample 0, the first answer to the arrangement (an ordered list of sources),
        unless the store already has a sample 0. Returns the answer that is used from now on (the offered
        one, or the store's), and True iff it is the offered one.
        """
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
        if not keeps_its_form(reply.answer.value):
            # The store would change this value, and a condition could judge the changed value
            # differently. So the answer is not stored.
            taken.release()
            self._note(type(cast("object", reply.answer.value)))
            return reply
        return reply._replace(answer=await taken.put(reply.answer, reply.latency))

    def _note(self, kind: type) -> None:
        note = (
            f"answers whose value JSON cannot keep as it is (here {with_article(kind.__name__)}) are not "
            "stored, and are paid again in the next explanation; make the value a dict of plain values"
        )
        if note not in self._notes:
            self._notes.append(note)
