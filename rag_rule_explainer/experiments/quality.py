"""How good a model is at the questions themselves, without which its rules cannot be read.

Each question is asked three times: on all sources, on the necessary ones only, and without these.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeAlias

import anyio

from ..checking.figures import Share, share
from ..errors import BaselineFailed
from ..explainer import Explainer
from ..predicates import consistent_with
from ..predicates.wording import equivalent
from ..probing.limiter import Limiter
from ..probing.loop import run_blocking
from ..probing.replaying import Baseline
from ..reader import NO_ANSWER
from ..rules import RuleKind
from ..settings import Settings
from ..sources import Source
from ..verdicts import Answer, Verdict
from .examples import Example
from .models import Examined

Told: TypeAlias = Callable[[int, int], object]
"""Is told how many answers there are, and of how many."""


class Shown(str, Enum):
    """Which of a question's sources a model is shown, in the order in which they were published."""

    ALL = "all sources"
    NECESSARY = "necessary only"
    OTHERS = "without necessary"

    def of(self, example: Example) -> tuple[Source, ...]:
        """Those of one question."""
        if self is Shown.ALL:
            return example.sources
        wanted = self is Shown.NECESSARY
        return tuple([each for each in example.sources if (each.id in example.necessary) is wanted])


@dataclass(frozen=True, slots=True)
class Given:
    """One answer; ``answer`` is None where there is none, and ``failure`` says why. ``exact``: it is the
    truth by near-exact match; ``declined``: it is N/A."""

    example: Example
    shown: Shown
    answer: Answer | None
    exact: bool
    failure: str = ""

    @property
    def declined(self) -> bool:
        """Whether it says that there is no answer."""
        return self.answer is not None and equivalent(self.answer.text, NO_ANSWER)

    def record(self) -> dict[str, Any]:
        """As JSON can say it."""
        return {
            "question_id": self.example.id,
            "shown": self.shown.value,
            "question": self.example.question,
            "truth": self.example.answer,
            "answer": None if self.answer is None else self.answer.text,
            "finish_reason": None if self.answer is None else self.answer.finish_reason,
            "exact": self.exact,
            "failure": self.failure,
        }


@dataclass(frozen=True, slots=True)
class Row:
    """What a model answers, shown such sources. ``questions`` = ``exact`` + ``declined`` + ``other`` +
    ``failed``; the share of exact ones is of those that were answered, with its 95 % interval."""

    data: str
    model: str
    shown: str
    questions: int
    exact: int
    declined: int
    other: int
    failed: int
    exact_share: float | None
    exact_low: float | None
    exact_high: float | None

    @property
    def share(self) -> Share:
        """The share of exact answers."""
        return share(self.exact, self.questions - self.failed, "no question was answered")


def measured(
    examples: Sequence[Example], model: Examined, settings: Settings, told: Told | None = None
) -> list[Given] | None:
    """Every answer, question by question; None where Ctrl-C ended it before there were all.

    ``settings``: ``concurrency``, ``timeout``, ``retries``, ``limits.failures`` and the ``store``. Raises
    StoreFailed, and BaselineFailed where as many answers in a row fail as are put up with.
    """
    work = _Work(model, settings, told)
    jobs = [(example, shown) for example in examples for shown in Shown if shown.of(example)]
    given = run_blocking(lambda: work.all(jobs), work.interrupt)
    if work.down:
        raise BaselineFailed(
            f"the last {work.failures_in_a_row} answers of {model.name} all failed; check that its "
            f"endpoint is up, its name and its key: {work.down}"
        )
    return None if work.interrupted else given


def rows_of(data: str, model: Examined, given: Sequence[Given]) -> Iterator[Row]:
    """A row for each choice of sources."""
    for shown in Shown:
        own = [each for each in given if each.shown is shown]
        exact = sum(each.exact for each in own)
        declined = sum(each.declined and not each.exact for each in own)
        failed = sum(each.answer is None for each in own)
        other = len(own) - exact - declined - failed
        found = share(exact, len(own) - failed, "no question was answered")
        counts = len(own), exact, declined, other, failed
        yield Row(data, model.name, shown.value, *counts, found.value, found.low, found.high)


class _Work:
    def __init__(self, model: Examined, settings: Settings, told: Told | None) -> None:
        self.model, self.told = model, told
        self.settings = replace(
            settings, miner="exact", check_repeatable=False, answer_without_sources=NO_ANSWER
        )
        self.limiter = Limiter(settings.concurrency)
        self.interrupted = False
        self.down, self.failures_in_a_row = "", 0

    def interrupt(self) -> None:
        """Begins with nothing more; what is in flight is awaited."""
        self.interrupted = True

    async def all(self, jobs: Sequence[tuple[Example, Shown]]) -> list[Given]:
        given = dict[int, Given]()
        width = anyio.CapacityLimiter(2 * self.limiter.size)

        async def one(place: int, example: Example, shown: Shown) -> None:
            async with width:
                if self.interrupted or self.down:
                    return
                given[place] = await self.given(example, shown)
                self._notice(given[place])
            if self.told is not None:
                self.told(len(given), len(jobs))

        async with anyio.create_task_group() as group:
            for place, job in enumerate(jobs):
                group.start_soon(one, place, *job)
        return [given[place] for place in sorted(given)]

    def _notice(self, given: Given) -> None:
        if given.answer is not None:
            self.failures_in_a_row = 0
            return
        self.failures_in_a_row += 1
        most = self.settings.limits.failures
        if most is not None and self.failures_in_a_row >= most:
            self.down = given.failure

    async def given(self, example: Example, shown: Shown) -> Given:
        sources = shown.of(example)
        predicate = consistent_with(example.answer)
        explainer = Explainer(
            self.model.replay,
            predicate=predicate,
            settings=self.settings.accepting(length=True),
            limiter=self.limiter,
        )
        # A rule that names all sources speaks of one subset, which is what is to be asked about.
        verified = await explainer.averify(
            [source.id for source in sources],
            RuleKind.RETENTION,
            example.question,
            sources,
            Baseline(Answer(example.answer)),
        )
        probes = verified.explanation.probes
        if not probes or not probes[0].answers:
            error = probes[0].error if probes else verified.explanation.stop_reason
            return Given(example, shown, None, exact=False, failure=error or "no answer")
        verdict = probes[0].verdicts[RuleKind.RETENTION].verdict
        return Given(example, shown, probes[0].answers[0], exact=verdict is Verdict.HOLDS)
