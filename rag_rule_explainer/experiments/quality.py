"""This module measures how well a model answers the questions of a data set. If it answers most of them
wrongly, rules about its answers mean little.

Each question is answered three times: from all sources, from the necessary sources only, and from the
other sources only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from ..checking.figures import Share, share
from ..predicates.wording import equivalent
from ..probing.limiter import Limiter
from ..probing.loop import run_blocking
from ..settings import Settings
from ..sources import Source
from ..testing.reader import NO_ANSWER
from ..verdicts import Answer, Verdict
from .examples import Example
from .models import Examined
from .running import ProgressCallback, Silence, several_at_once
from .subsets import SubsetAsking, judgement_in, verified


class ShownSources(str, Enum):
    """A ``ShownSources`` says which of a question's sources the model is shown. These sources are always
    in the published order."""

    ALL = "all sources"
    NECESSARY = "necessary only"
    OTHERS = "without necessary"

    def of(self, example: Example) -> tuple[Source, ...]:
        """Returns the sources of one question that the model is shown."""
        if self is ShownSources.ALL:
            return example.sources
        wanted = self is ShownSources.NECESSARY
        return tuple([each for each in example.sources if (each.id in example.necessary) is wanted])


@dataclass(frozen=True, slots=True)
class GivenReply:
    """A ``GivenReply`` is one answer of the model to one question. ``shown``: the sources that the model
    was shown. ``answer``: None if there is none; ``failure`` then says why. ``exact``: True if the answer
    equals the truth by near-exact match."""

    example: Example
    shown: ShownSources
    answer: Answer | None
    exact: bool
    failure: str = ""

    @property
    def declined(self) -> bool:
        """Returns True iff the answer is N/A."""
        return self.answer is not None and equivalent(self.answer.text, NO_ANSWER)

    def record(self) -> dict[str, Any]:
        """Returns the reply as a JSON object."""
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
class QualityRow:
    """A ``QualityRow`` counts a model's answers to all questions from one choice of sources.

    ``questions``: the number of questions, which is the sum of ``exact`` (right by near-exact match),
    ``declined`` (N/A), ``other`` and ``failed`` (no answer). ``exact_share``: the share of exact answers
    among the answered questions, with its 95 % interval.
    """

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
        """Returns the share of exact answers among the questions that were answered."""
        return share(self.exact, self.questions - self.failed, "no question was answered")


def measure_quality(
    examples: Sequence[Example],
    model: Examined,
    settings: Settings,
    progress: ProgressCallback | None = None,
) -> list[GivenReply] | None:
    """Returns every answer, question by question; None after Ctrl-C. ``progress``: called after each
    answer.

    Of the ``settings``, only ``concurrency``, ``timeout``, ``retries``, ``limits.failures`` and the
    ``store`` are used. Raises StoreFailed, and BaselineFailed after ``limits.failures`` failures in a
    row.
    """
    asking = SubsetAsking(model, replace(settings, miner="exact"), Limiter(settings.concurrency))
    silence = Silence(model, settings.limits.failures, "the last {count} answers of {model} all failed")
    jobs = [(example, shown) for example in examples for shown in ShownSources if shown.of(example)]
    given, stopped = dict[int, GivenReply](), list[bool]()

    async def ask(job: tuple[int, tuple[Example, ShownSources]]) -> None:
        place, (example, shown) = job
        found = given[place] = await _given(asking, example, shown)
        silence.note(found.failure, is_answered=found.answer is not None)
        if progress is not None:
            progress(len(given), len(jobs))

    async def ask_all() -> None:
        await several_at_once(enumerate(jobs), ask, 2 * asking.limiter.size, lambda: stopped)

    run_blocking(ask_all, lambda: stopped.append(True))
    return None if stopped else [given[place] for place in sorted(given)]


async def _given(asking: SubsetAsking, example: Example, shown: ShownSources) -> GivenReply:
    sources = shown.of(example)
    explainer = asking.explainer(example, asking.settings)
    explanation = await verified(explainer, example, sources, sources)
    probes = explanation.probes
    if not probes or not probes[0].answers:
        error = probes[0].error if probes else explanation.stop_reason
        return GivenReply(example, shown, None, exact=False, failure=error or "no answer")
    exact = judgement_in(probes[0]).verdict is Verdict.HOLDS
    return GivenReply(example, shown, probes[0].answers[0], exact=exact)


def quality_rows(data: str, model: Examined, given: Sequence[GivenReply]) -> Iterator[QualityRow]:
    """Yields one row for each choice of sources. ``data``: the name of the data set. ``given``: all
    answers of the model."""
    for shown in ShownSources:
        own = [each for each in given if each.shown is shown]
        exact = sum(each.exact for each in own)
        declined = sum(each.declined and not each.exact for each in own)
        failed = sum(each.answer is None for each in own)
        other = len(own) - exact - declined - failed
        found = share(exact, len(own) - failed, "no question was answered")
        counts = len(own), exact, declined, other, failed
        yield QualityRow(data, model.name, shown.value, *counts, found.value, found.low, found.high)
