"""This module draws samples: numbered answers to the same arrangement (an ordered list of sources).
Number 0 is the answer of a probe without a vote."""

from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import anyio

from ..predicates.wording import same_wording
from ..sources import Arrangement
from ..verdicts import Answer
from .answer_cache import AnswerCache
from .memo import Memo
from .replayer import Replayer
from .reply import Reply


class Modal(NamedTuple):
    """A ``Modal`` holds the most frequent ``answer`` among samples. ``other``: the first drawn answer
    with another wording; None if there is none."""

    answer: Answer
    other: Answer | None


@dataclass(frozen=True, slots=True, eq=False)
class Sampler:
    """A Sampler returns replies to arrangements (ordered lists of sources). It takes them from the cache
    if they are there, and else runs the application. It belongs to one event loop."""

    replayer: Replayer
    cache: AnswerCache
    _again: Memo[Reply] = field(default_factory=Memo[Reply])

    async def first(self, arrangement: Arrangement) -> Reply:
        """Returns sample 0, the reply of a probe without a vote. Raises LimitReached, and RagRuleError if
        the whole call must end."""
        return self.replayer.counting(await self.unchecked(arrangement))

    def unchecked(self, arrangement: Arrangement) -> Coroutine[Any, Any, Reply]:
        """Returns the coroutine of sample 0. If the answer of its reply has a finish reason, the caller
        must check the reply by ``Replayer.counting``. This method is no coroutine itself, which saves
        time in each probe."""
        return self.cache.reply(arrangement, self.replayer.run)

    async def sample(self, arrangement: Arrangement, number: int) -> Reply:
        """Returns the sample with this number, counted from 0: one of the answers to the same arrangement
        (an ordered list of sources). Raises the errors of ``first``."""
        if number == 0:
            return await self.first(arrangement)
        return self.replayer.counting(await self.cache.sample(arrangement, number, self.replayer.run))

    async def several(self, arrangement: Arrangement, first: int, count: int) -> list[Reply]:
        """Returns ``count`` samples from the number ``first`` on, which are drawn at the same time.
        Raises LimitReached after a stop, and the errors of ``first``."""
        self.replayer.stopper.check()
        if count == 1:
            return [await self._once(arrangement, first)]
        replies: dict[int, Reply] = {}
        failed: list[Exception] = []

        async def draw(number: int) -> None:
            try:
                replies[number] = await self._once(arrangement, number)
            except Exception as error:
                failed.append(error)

        async with anyio.create_task_group() as together:
            for number in range(first, first + count):
                together.start_soon(draw, number)
        if failed:
            raise failed[0]
        return [replies[number] for number in range(first, first + count)]

    async def modal(self, arrangement: Arrangement, most: int, *, every: bool = False) -> Modal | None:
        """Returns the most frequent answer among ``most`` samples; None if no sample has an answer.

        Answers that ``same_wording`` makes equal, such as in upper and lower case, count as one; the
        first of them is returned. Stops when the samples that were not drawn yet cannot change the
        result, unless ``every`` is True.
        """
        replies = await self.several(arrangement, 0, most) if every else []
        while True:
            answers = [reply.answer for reply in replies if reply.answer is not None]
            wordings = Counter(same_wording(answer.text) for answer in answers)
            first, second = [*(count for _, count in wordings.most_common(2)), 0, 0][:2]
            left = most - len(replies)
            # ``wanted`` is the smallest number of samples that decides the result if all of them agree.
            wanted = min(left, max(1, (left - (first - second)) // 2 + 1))
            if not left or first - second > left:
                break
            replies += await self.several(arrangement, len(replies), wanted)
        if not wordings:
            return None
        wording = max(wordings, key=lambda wording: wordings[wording])
        same = [answer for answer in answers if same_wording(answer.text) == wording]
        return Modal(same[0], next((answer for answer in answers if answer not in same), None))

    async def _once(self, arrangement: Arrangement, number: int) -> Reply:
        if number == 0:
            reply = await self.first(arrangement)
        else:
            make = partial(self.sample, number=number)
            reply, _ = await self._again.get((arrangement.key, number), make, arrangement)
        self.replayer.check_alive(reply)
        return reply
