"""This module gets several answers (samples) from every subset of the sources of many questions. With a
store, no sample is paid for twice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from ..errors import RagRuleError
from ..lattice import Mask, Subset
from ..probing import threads
from ..probing.answer_cache import AnswerCache
from ..probing.budget import Budget
from ..probing.limiter import Limiter
from ..probing.limits import LimitReached
from ..probing.replayer import Replayer
from ..probing.reply import Reply
from ..probing.retries import Retries
from ..probing.sampler import Sampler
from ..settings import Settings
from ..sources import Arrangement, SourceSet
from ..testing.reader import NO_ANSWER
from ..verdicts import Answer
from .examples import Example
from .models import Examined
from .running import Silence, several_at_once

SubsetKey: TypeAlias = tuple[int, Mask]
"""The position of a question among all questions, and a subset of its sources as a mask."""
Replies: TypeAlias = Mapping[SubsetKey, Sequence[Reply]]


@dataclass(frozen=True, slots=True)
class SampledQuestion:
    """A ``SampledQuestion`` is one question of which all subsets of ``sources`` are sampled. In a mask of
    a subset, the first source is the highest bit."""

    example: Example
    sources: SourceSet

    @property
    def masks(self) -> range:
        """Returns all subsets of the sources, as masks."""
        return self.sources.lattice.masks()

    @property
    def necessary(self) -> Mask:
        """Returns the necessary sources of the example, as a mask."""
        return self.sources.mask_of(self.example.necessary)

    def arrangement(self, mask: int) -> Arrangement:
        """Returns the sources of a subset in the order of ``sources``. ``mask``: the subset."""
        return Arrangement.of(self.sources, Subset(mask))


@dataclass(slots=True, eq=False)
class Sampling:
    """A ``Sampling`` gets all samples of one model. It can be run only once, on one event loop.

    ``asked``: the questions. ``samples``: the number of samples of each subset. ``settings``: only
    ``timeout``, ``retries``, ``limits`` and the ``store``, in the model's namespace, are used.
    ``budget``: counts the spending. ``answered``: called after each answer.
    """

    model: Examined
    asked: Sequence[SampledQuestion]
    samples: int
    settings: Settings
    limiter: Limiter
    answered: Callable[[], object]
    budget: Budget = field(init=False)
    stop_reason: str = ""
    _replies: dict[SubsetKey, list[Reply]] = field(init=False)
    _samplers: list[Sampler] = field(init=False, default_factory=list[Sampler])
    _silence: Silence = field(init=False)

    def __post_init__(self) -> None:
        self.budget = Budget(self.settings.limits)
        most = self.settings.limits.failures
        self._silence = Silence(self.model, most, "the last {count} calls of {model} all failed")
        nobody = Reply(Answer(NO_ANSWER, note="answered without the application"))
        self._replies = {
            (place, mask): [] if mask else [nobody] * self.samples
            for place, each in enumerate(self.asked)
            for mask in each.masks
        }

    def stop(self, reason: str) -> None:
        """Prevents new calls and retries. ``run`` still waits for the calls that are running. ``reason``:
        the text that ``stop_reason`` then holds."""
        self.stop_reason = self.stop_reason or reason
        for sampler in self._samplers:
            sampler.replayer.stopper.stop(reason)

    async def run(self) -> Replies:
        """Returns the replies by question and subset. For each sample, there is a reply with an answer,
        or with the error that remained after all retries.

        After ``stop`` there are fewer replies. Without sources, the answer is N/A without a call. Raises
        BaselineFailed after ``limits.failures`` failures in a row, StoreFailed, and other errors of this
        package.
        """
        await self._open()
        try:
            for number in range(self.samples):
                jobs = [key for key in self._replies if key[1]]
                sample = partial(self._sample, number)
                await several_at_once(jobs, sample, self.limiter.size, lambda: self.stop_reason)
        finally:
            for sampler in self._samplers:
                sampler.replayer.close()
        return self._replies

    async def _open(self) -> None:
        settings, store = self.settings, self.settings.store
        # A database server may be slow, and must not block the event loop, so the store is opened in a
        # thread.
        opened = None if store is None else await threads.shared().run(store.open)
        for each in self.asked:
            question = each.example.question
            replayer = Replayer(
                question,
                self.model.replay,
                self.limiter,
                self.budget,
                Retries.of(settings.retries),
                settings.timeout,
                accepts=("length",),
            )
            # Answers are stored in the same form as by explanations, so that experiments and explanations
            # can use each other's answers.
            stored = None if opened is None else opened.answers(question)
            # Every sample must be an answer of its own, so answers of this run are not used again.
            cache = AnswerCache(self.budget, remember=False, stored=stored)
            self._samplers.append(Sampler(replayer, cache))

    async def _sample(self, number: int, key: SubsetKey) -> None:
        sampler, arrangement = self._samplers[key[0]], self.asked[key[0]].arrangement(key[1])
        try:
            reply = await sampler.sample(arrangement, number)
            self._silence.note(reply.error, is_answered=reply.cause is None)
        except LimitReached as limit:
            self.stop(str(limit))
            return
        except RagRuleError as error:
            self.stop(str(error))
            raise
        self._replies[key].append(reply)
        self.answered()
