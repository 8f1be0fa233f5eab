"""This module measures how well labels of necessary sources predict what a model does (the paper's future
work).

Labels say which sources of a question a model needs to answer it. Each question is answered from subsets
of a few of its sources: from all subsets, or from some. For each reply, the labels say whether all
necessary sources were shown. The benchmark counts how often the expected rules hold, how often the model
answers where it should not, and how often it ignores its instructions. The module ``replies`` defines the
kinds of answers, ``measures`` the counts and their limits, and ``rates`` the intervals.

Without sources, the model is not called: the answer is N/A, and counts only for the rules. With
``asks_nothing``, the model is called without sources too, and its reply counts as a reply.
"""

import random
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

from ..errors import InvalidInput
from ..lattice import Lattice, Mask
from ..predicates import Judge
from ..probing.limiter import Limiter
from ..rules import RuleKind
from ..settings import Settings
from ..sources import Source
from ..testing.reader import NO_ANSWER
from ..verdicts import Verdict
from .benchmark_rows import (
    DEVIATION_KEYS,
    REPLY_COLUMNS,
    BenchmarkQuestion,
    BenchmarkRow,
    OfQuestion,
    benchmark_rows,
    reply_record,
)
from .examples import Example, check_room
from .measures import counted_by_measure, held
from .models import Examined, check_distinct
from .outcome import FAILURES, ExperimentOutcome, Failure, written_to
from .replies import LabelledReply, ReplyKind, reply
from .running import Check, ProgressCallback, Silence, in_namespace, one_by_one, silence_on_questions
from .subsets import Answered, SubsetAsking

MOST_BENCHMARKED = 10
"""The maximum number of sources from which a question is answered; more sources would have too many
subsets."""


@dataclass(frozen=True, slots=True)
class BenchmarkPlan:
    """A ``BenchmarkPlan`` holds the options of the benchmark.

    ``sources``: the number of sources from which each question is answered: all necessary ones, then
    distractors (sources that are not necessary) until the number is reached. ``subsets``: the number of
    subsets that are replayed for each question, about half of them with all necessary sources; None for
    all subsets. ``asks_nothing``: True if the model is also called without sources.

    ``besides``: an answer says too much if it has at least this number of words (without articles)
    besides the words of the truth. ``seed``: the seed for drawing the subsets. ``distractors``: the seed
    for the order of the distractors; None for the published order. Raises InvalidInput for values out of
    range.
    """

    sources: int = 5
    subsets: int | None = None
    asks_nothing: bool = False
    besides: int = 2
    seed: int = 0
    distractors: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.sources <= MOST_BENCHMARKED:
            raise InvalidInput(f"sources is {self.sources!r}; give 1 to {MOST_BENCHMARKED}")
        if self.subsets is not None and self.subsets < 2:
            raise InvalidInput(
                f"subsets is {self.subsets!r}; give 2 or more, with all necessary sources and without"
            )
        if self.besides < 1:
            raise InvalidInput(f"besides is {self.besides!r}; give 1 or more")

    def masks(self, example: Example) -> tuple[Mask, ...] | None:
        """Returns the subsets to replay for a question, as masks over its first ``sources`` sources;
        None if all subsets are to be replayed."""
        lattice = Lattice(self.sources)
        if self.subsets is None or self.subsets >= len(lattice.masks()) - 1:
            return None
        necessary = necessary_of(example, lattice)
        having = list(lattice.supersets(necessary))
        lacking = [mask for mask in lattice.masks() if mask and mask & necessary != necessary]
        of_lacking = min(len(lacking), max(self.subsets - len(having), (self.subsets + 1) // 2))
        draw = random.Random(f"{self.seed} {example.id}")  # noqa: S311 -- the draw must be reproducible, and is no secret
        chosen = draw.sample(having, min(len(having), self.subsets - of_lacking))
        chosen += draw.sample(lacking, of_lacking)
        return (*((0,) if self.asks_nothing else ()), *sorted(chosen))


def necessary_of(example: Example, lattice: Lattice) -> Mask:
    """Returns the mask of the necessary sources. They come first among the sources of a question, so they
    are the first units."""
    return lattice.mask(range(len(example.necessary)))


@dataclass(slots=True)
class BenchmarkOutcome(ExperimentOutcome):
    """A ``BenchmarkOutcome`` holds the results of the benchmark.

    ``rows``: the measures of each model; empty after Ctrl-C. ``replies``: all replies. ``deviations``:
    the replies that are wrong or ignore the instructions. ``done``: the number of answered questions,
    summed over all models.
    """

    rows: list[BenchmarkRow] = written_to("benchmark.csv", BenchmarkRow)
    questions: list[BenchmarkQuestion] = written_to("benchmark_questions.csv", BenchmarkQuestion)
    replies: list[dict[str, Any]] = written_to("benchmark_replies.csv", REPLY_COLUMNS)
    deviations: list[dict[str, Any]] = written_to("deviations.jsonl", DEVIATION_KEYS)
    failures: list[Failure] = written_to(FAILURES, ("model", "temperature", "question_id", "reason"))


def measure_models(
    examples: Sequence[Example],
    models: Sequence[Examined],
    plan: BenchmarkPlan,
    settings: Settings,
    judge: Judge | None = None,
    progress: ProgressCallback | None = None,
) -> BenchmarkOutcome:
    """Returns the results of every model.

    Of the ``settings``, only ``concurrency``, ``timeout``, ``retries`` and the ``store`` are used; each
    model has its own namespace in the store. ``judge``: decides whether an answer agrees with the truth
    if their texts do not match nearly exactly; None for no judge. ``progress``: called after each
    question. If a subset of a question gets no answer, the question is a failure, and the benchmark
    continues with the next one.

    Raises InvalidInput for models with equal names and temperatures, and if a question has more
    necessary sources than are used. Raises BaselineFailed if a model answers nothing for several
    questions in a row, and StoreFailed.
    """
    check_distinct(models)
    check_room(examples, plan.sources)
    outcome = BenchmarkOutcome()
    asked = [_Asked(plan, _asking(model, plan, settings, judge), outcome) for model in models]
    jobs = [(each, example) for each in asked for example in examples]
    if one_by_one(jobs, lambda job, check: job[0].ask(job[1], check), outcome, progress):
        for each in asked:
            outcome.rows += benchmark_rows(each.model, each.counts)
    return outcome


def _asking(
    model: Examined, plan: BenchmarkPlan, settings: Settings, judge: Judge | None
) -> SubsetAsking:
    without = None if plan.asks_nothing else NO_ANSWER
    own, limiter = in_namespace(settings, model.namespace), Limiter(settings.concurrency)
    return SubsetAsking(model, own, limiter, judge, without)


@dataclass(slots=True)
class _Asked:
    """This class collects the replies of one model.

    ``counts``: for each question, the number of its necessary sources and the counts of its measures.
    ``silence``: ends the benchmark if the model stops answering.
    """

    plan: BenchmarkPlan
    asking: SubsetAsking
    outcome: BenchmarkOutcome
    counts: list[OfQuestion] = field(default_factory=list[OfQuestion])
    silence: Silence = field(init=False)

    def __post_init__(self) -> None:
        self.silence = silence_on_questions(self.model)

    @property
    def model(self) -> Examined:
        return self.asking.model

    def ask(self, example: Example, check: Check) -> None:
        sources = example.first(self.plan.sources, self.plan.distractors)
        masks = self.plan.masks(example)
        if masks is None:
            answered = self.asking.everything(example, sources)
        else:
            answered = self.asking.some(example, sources, masks)
        check()
        outcome, model = self.outcome, self.model
        outcome.charge(answered.calls, answered.stored, answered.judge_requests)
        wanted = Lattice(self.plan.sources).masks() if masks is None else masks
        missing = [mask for mask in wanted if not _is_answered(answered, mask)]
        if missing:
            probe = answered.probes.get(missing[0])
            reason = (probe.error if probe else "") or answered.incomplete or "no answer"
            outcome.failures.append(
                Failure(reason, example.id, model=model.name, temperature=model.temperature)
            )
        else:
            self._take(example, answered, wanted)
        self.silence.note(answered.incomplete, is_answered=answered.is_answered)

    def _take(self, example: Example, answered: Answered, masks: Sequence[Mask]) -> None:
        size, lattice = self.plan.sources, Lattice(self.plan.sources)
        necessary = necessary_of(example, lattice)
        found = {mask: answered.verdict(mask, size) for mask in masks}
        verdicts = {mask: verdict or Verdict.UNKNOWN for mask, verdict in found.items()}
        # By convention, the answer without sources is N/A, even if the model was not asked without
        # sources. N/A differs from the truth, so its verdict is BREAKS.
        verdicts.setdefault(0, Verdict.BREAKS)
        asked = [mask for mask in masks if mask or self.plan.asks_nothing]
        replies = [self._reply(example, answered, mask, verdicts[mask]) for mask in asked]
        retention, omission = (held(kind, lattice, necessary, verdicts) for kind in RuleKind)
        outcome, model, needed = self.outcome, self.model, len(example.necessary)
        self.counts.append((needed, counted_by_measure(replies, retention, omission)))
        counts = needed, len(masks), *astuple(retention), *astuple(omission)
        outcome.questions.append(BenchmarkQuestion(model.name, model.temperature, example.id, *counts))
        for each in replies:
            record = reply_record(model, example, each)
            outcome.replies.append(record)
            if each.deviates or (each.kind is not ReplyKind.RIGHT and not each.abstains):
                outcome.deviations.append(record)

    def _reply(self, example: Example, answered: Answered, mask: Mask, verdict: Verdict) -> LabelledReply:
        lattice, (answer,) = Lattice(self.plan.sources), answered.probes[mask].answers
        kept: list[Source] = [answered.sources[unit] for unit in lattice.units(mask)]
        judged = self.asking.judge is not None
        return reply(example, kept, answer, verdict, judged=judged, besides=self.plan.besides)


def _is_answered(answered: Answered, mask: Mask) -> bool:
    probe = answered.probes.get(mask)
    return probe is not None and bool(probe.answers)
