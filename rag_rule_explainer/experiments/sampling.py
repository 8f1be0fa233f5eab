"""Several answers to every subset of many questions' sources: one new sample a round, each paid once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from ..errors import BaselineFailed, RagRuleError
from ..lattice import Mask
from ..probing import threads
from ..probing.bill import Bill
from ..probing.limiter import Limiter
from ..probing.limits import LimitReached
from ..probing.prober import Prober
from ..probing.reply import Reply
from ..probing.retries import Retries
from ..probing.shelf import Shelf
from ..reader import NO_ANSWER
from ..settings import Settings
from ..sources import Arrangement, SourceSet
from ..verdicts import Answer
from .examples import Example
from .models import Examined

INTERRUPTED = "interrupted"
"""Why nothing more is asked after Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question. ``sources``: what subsets are made of, the first one being the highest bit."""

    example: Example
    sources: SourceSet

    @property
    def masks(self) -> range:
        """All subsets."""
        return self.sources.lattice.masks()

    @property
    def necessary(self) -> Mask:
        """The subset of the necessary sources."""
        return self.sources.mask_of(self.example.necessary)

    def arrangement(self, mask: Mask) -> Arrangement:
        """What is shown of a subset."""
        return Arrangement.of(self.sources, mask)


@dataclass(slots=True, eq=False)
class Sampling:
    """The samples that one model gives. For one event loop, and to be run once.

    ``settings``: ``timeout``, ``retries``, ``limits`` and the ``store``, in the model's namespace.
    ``bill`` says afterwards what was spent. ``told``: of every answer.
    """

    model: Examined
    asked: Sequence[Asked]
    samples: int
    settings: Settings
    limiter: Limiter
    told: Callable[[], object]
    bill: Bill = field(init=False)
    stop_reason: str = ""
    _replies: dict[tuple[int, Mask], list[Reply]] = field(init=False)
    _probers: list[Prober] = field(init=False, default_factory=list[Prober])
    _error: RagRuleError | None = None
    _failures_in_a_row: int = 0

    def __post_init__(self) -> None:
        self.bill = Bill(self.settings.limits)
        places = range(len(self.asked))
        self._replies = {(place, mask): [] for place in places for mask in self.asked[place].masks}
        nobody = Reply(Answer(NO_ANSWER, note="answered without the application"))
        for place in places:
            self._replies[place, 0] = [nobody] * self.samples

    def stop(self, reason: str) -> None:
        """Asks for nothing more, nor tries again; what is in flight is still awaited."""
        self.stop_reason = self.stop_reason or reason
        for prober in self._probers:
            prober.stop(reason)

    async def run(self) -> Mapping[tuple[int, Mask], Sequence[Reply]]:
        """The replies by the question's place and the subset, one for each sample: an answer, or an error
        where it failed for good. Fewer where there was a stop.

        Nobody is asked about no sources, which are answered with N/A. Raises BaselineFailed where as many
        calls in a row fail as ``limits.failures`` puts up with, StoreFailed, and errors of this package.
        """
        await self._open()
        try:
            for number in range(self.samples):
                jobs = iter([key for key in self._replies if key[1]])
                async with anyio.create_task_group() as workers:
                    for _ in range(self.limiter.size):
                        workers.start_soon(self._work, jobs, number)
                if self.stop_reason:
                    break
        finally:
            for prober in self._probers:
                prober.close()
        if self._error is not None:
            raise self._error
        return self._replies

    async def _open(self) -> None:
        settings, store = self.settings, self.settings.store
        # A server may be far away.
        opened = None if store is None else await threads.shared().run(store.open)
        for each in self.asked:
            question = each.example.question
            prober = Prober(
                question,
                self.model.replay,
                sources=each.sources.sources,
                limiter=self.limiter,
                bill=self.bill,
                retries=Retries.of(settings.retries),
                timeout=settings.timeout,
                accepts=("length",),
            )
            if opened is not None:
                # The same place as an explanation's, so that each finds what the other has paid for.
                prober.shelf = Shelf(self.bill, remember=False, stored=opened.answers(question))
            self._probers.append(prober)

    async def _work(self, jobs: Iterator[tuple[int, Mask]], number: int) -> None:
        for place, mask in jobs:
            if self.stop_reason:
                return
            arrangement = self.asked[place].arrangement(mask)
            try:
                reply = await self._reply(arrangement, number, self._probers[place])
            except LimitReached as limit:
                self.stop(str(limit))
                return
            except RagRuleError as error:
                # Raised once nobody is at it any more: others may be paid for by now, and stored.
                self._error = self._error or error
                self.stop(str(error))
                return
            self._replies[place, mask].append(reply)
            self.told()

    async def _reply(self, arrangement: Arrangement, number: int, prober: Prober) -> Reply:
        reply = await prober.sample(arrangement, number)
        self._failures_in_a_row = 0 if reply.cause is None else self._failures_in_a_row + 1
        most = self.settings.limits.failures
        if most is not None and self._failures_in_a_row >= most:
            raise BaselineFailed(
                f"the last {self._failures_in_a_row} calls of {self.model.name} all failed; check that "
                f"its endpoint is up, its name and its key: {reply.error}"
            )
        return reply
