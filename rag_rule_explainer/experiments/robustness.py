"""This module compares the rules that a search finds with the rules that labels imply (paper,
*robustness*). Labels say which sources are necessary for the right answer.

Each subset of a few sources of a question is replayed several times, and each answer is a sample. A
subset counts as consistent with the truth if at least half of its samples are. This vote is held for the
first sample alone, for the first two samples, and so on. The Dual Rule Miner is run on the result of each
of these votes.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..checking.trial import JudgeTrial
from ..errors import BaselineFailed, InvalidInput
from ..lattice import Mask
from ..predicates import Judge, consistent_with
from ..predicates.judge.jury import jury_of
from ..probing.limiter import Limiter
from ..probing.limits import INTERRUPTED
from ..probing.loop import run_blocking
from ..rules import RuleKind
from ..settings import Settings
from ..sources import SourceSet
from ..verdicts import Answer, Case, Judgement, Verdict
from .examples import Example, check_room
from .judging import judged_answers
from .models import Examined, check_distinct
from .outcome import FAILURES, ExperimentOutcome, Failure, written_to
from .robustness_rows import RobustnessQuestion, RobustnessRow, row_of
from .running import ProgressCallback, in_namespace
from .sampling import Replies, SampledQuestion, Sampling, SubsetKey
from .scoring import Score, expected, mined, score
from .unexpected import SampledRules, Table, deviations

JUDGING = "experiments: judgements"
"""The name under which the store keeps judgements. All models share it, because the judge is the same for
all of them."""
MOST_SAMPLED = 8
"""The maximum number of sources of a question, because all of their subsets are replayed several
times."""
MOST_ROBUSTNESS_SAMPLES = 100


@dataclass(frozen=True, slots=True)
class RobustnessPlan:
    """A ``RobustnessPlan`` holds the options of the experiment.

    ``sources``: the number of sources of each question that are used: all necessary ones, then others
    until the number is reached. ``samples``: the number of answers from each subset. ``distractors``: the
    seed for the order of the other sources; None for the published order. Raises InvalidInput unless
    ``sources`` is 1 to 8 and ``samples`` is 1 to 100.
    """

    sources: int = 5
    samples: int = 10
    distractors: int | None = None

    def __post_init__(self) -> None:
        for name, most in (("sources", MOST_SAMPLED), ("samples", MOST_ROBUSTNESS_SAMPLES)):
            number = getattr(self, name)
            if not 1 <= number <= most:
                raise InvalidInput(f"{name} is {number!r}; give 1 to {most}")

    @property
    def counts(self) -> tuple[int, ...]:
        """Returns for how many samples a vote is held: for 1, for 2, and so on up to all."""
        return tuple(range(1, self.samples + 1))


@dataclass(slots=True)
class RobustnessOutcome(ExperimentOutcome):
    """A ``RobustnessOutcome`` holds the results of the experiment.

    ``rows``: the rows about all questions; empty if Ctrl-C ended the experiment. ``unexpected``: the
    unexpected and the missing rules, as ``unexpected.deviations`` yields them, with the model and its
    temperature. ``done``: the number of answers so far. ``of``: the number of all answers.
    ``failed_calls``: the model calls that failed after all retries.
    """

    rows: list[RobustnessRow] = written_to("robustness.csv", RobustnessRow)
    questions: list[RobustnessQuestion] = written_to("robustness_questions.csv", RobustnessQuestion)
    failures: list[Failure] = written_to(
        FAILURES, ("model", "temperature", "question_id", "samples", "reason")
    )
    unexpected: list[dict[str, Any]] = written_to("unexpected.jsonl")
    of: int = 0
    failed_calls: int = 0


def measure_robustness(
    examples: Sequence[Example],
    models: Sequence[Examined],
    plan: RobustnessPlan,
    settings: Settings,
    judge: Judge | None = None,
    progress: ProgressCallback | None = None,
) -> RobustnessOutcome:
    """Returns the results of every model. ``progress``: called after each answer.

    Of the ``settings``, only ``concurrency``, ``timeout``, ``retries``, ``limits.failures`` and the
    ``store`` are used; each model has its own namespace in the store. An answer is consistent with the
    truth if it matches nearly exactly, or else if the ``judge`` says so. All answers of a model to a
    question go to the judge in one request, except answers that seem to address the judge, which get
    requests of their own. No answer is judged twice. If a question lacks a verdict that the miner needs,
    it is a failure, and the experiment continues.

    Raises InvalidInput for models with equal names and temperatures, and if a question has more necessary
    sources than are used. Raises BaselineFailed if calls of a model, or of the judge, keep failing, and
    StoreFailed.
    """
    check_robustness(examples, models, plan)
    run = _Run(examples, models, plan, settings, judge, progress)
    try:
        run_blocking(run.measured, run.interrupt)
    except KeyboardInterrupt:
        run.outcome.interrupted = True
    return run.outcome


def check_robustness(
    examples: Sequence[Example], models: Sequence[Examined], plan: RobustnessPlan
) -> None:
    """Raises InvalidInput for input that ``measure_robustness`` would reject. A caller can check this
    before it spends anything."""
    check_room(examples, plan.sources)
    check_distinct(models)


@dataclass(slots=True)
class _Run:
    examples: Sequence[Example]
    models: Sequence[Examined]
    plan: RobustnessPlan
    settings: Settings
    judge: Judge | None
    progress: ProgressCallback | None
    outcome: RobustnessOutcome = field(default_factory=RobustnessOutcome)
    _sampling: Sampling | None = None
    _trial: JudgeTrial | None = None

    async def measured(self) -> None:
        asked = [
            SampledQuestion(each, SourceSet.of(each.first(self.plan.sources, self.plan.distractors)))
            for each in self.examples
        ]
        self.outcome.of = (
            sum(len(each.masks) - 1 for each in asked) * self.plan.samples * len(self.models)
        )
        limiter = Limiter(self.settings.concurrency)
        for model in self.models:
            replies = await self._replies(model, asked, limiter)
            tables = await self._tables(asked, replies)
            if self.outcome.interrupted:
                return
            self._count(model, tables)

    def interrupt(self) -> None:
        self.outcome.interrupted = True
        if self._sampling is not None:
            self._sampling.stop(INTERRUPTED)
        if self._trial is not None:
            self._trial.interrupt()

    def _advance(self) -> None:
        outcome = self.outcome
        outcome.done += 1
        if self.progress is not None:
            self.progress(outcome.done, outcome.of)

    async def _replies(
        self, model: Examined, asked: Sequence[SampledQuestion], limiter: Limiter
    ) -> Replies:
        settings, outcome = in_namespace(self.settings, model.namespace), self.outcome
        sampling = Sampling(model, asked, self.plan.samples, settings, limiter, self._advance)
        self._sampling = sampling
        if outcome.interrupted:
            sampling.stop(INTERRUPTED)
        try:
            return await sampling.run()
        finally:
            outcome.charge(sampling.budget.replays, sampling.budget.stored)
            outcome.failed_calls += sampling.budget.failures
            outcome.interrupted = outcome.interrupted or bool(sampling.stop_reason)

    async def _tables(self, asked: Sequence[SampledQuestion], replies: Replies) -> list[Table]:
        if self.outcome.interrupted:
            return []
        judged = await self._judgements(asked, replies)

        def samples(key: SubsetKey) -> list[SampledRules]:
            return [
                SampledRules(
                    reply.answer, judged.get((key, n)) or Judgement(Verdict.UNKNOWN, reply.error)
                )
                for n, reply in enumerate(replies[key])
            ]

        return [
            Table(each, {mask: samples((place, mask)) for mask in each.masks})
            for place, each in enumerate(asked)
        ]

    async def _judgements(
        self, asked: Sequence[SampledQuestion], replies: Replies
    ) -> Mapping[tuple[SubsetKey, int], Judgement]:
        cases = {
            (key, number): self._case(asked[key[0]], key[1], reply.answer)
            for key, several in replies.items()
            for number, reply in enumerate(several)
            if reply.answer is not None
        }
        trial = self._trial = JudgeTrial(in_namespace(self.settings, JUDGING))
        # Several answers share a request to the judge, because otherwise the experiment would be too
        # expensive. This is safe, because answers to HotpotQA are not hostile to the judge.
        batch = max(len(each.masks) for each in asked) * self.plan.samples
        jury = None if self.judge is None else jury_of(self.judge, None, 1, batch)
        predicates = [consistent_with(each.example.answer, judge=jury) for each in asked]
        items = await trial.judged((predicates[key[0]], case) for (key, _), case in cases.items())
        self.outcome.judge_requests += trial.budget.judge_requests
        if trial.stop_reason and not self.outcome.interrupted:
            raise BaselineFailed(f"the judge gives no verdicts: {trial.stop_reason}")
        order = list(cases)
        return {order[place]: item.judgement for item in items for place in item.places}

    @staticmethod
    def _case(asked: SampledQuestion, mask: Mask, answer: Answer) -> Case:
        kept, everything = asked.arrangement(mask).sources, asked.sources.sources
        return Case(asked.example.question, Answer(asked.example.answer), answer, kept, everything)

    def _count(self, model: Examined, tables: Sequence[Table]) -> None:
        scores = defaultdict[tuple[RuleKind, int], list[Score]](list)
        failed = defaultdict[int, int](int)
        named = {"model": model.name, "temperature": model.temperature}
        for table in tables:
            example, resolved = table.asked.example, list[int]()
            for count in self.plan.counts:
                reason = self._scored(model, table, count, scores)
                if reason:
                    failed[count] += 1
                    whose = example.id, "", model.name, model.temperature, count
                    self.outcome.failures.append(Failure(reason, *whose))
                else:
                    resolved.append(count)
            self.outcome.unexpected += [{**named, **each} for each in deviations(table, resolved)]
            if self.judge is not None:
                self.outcome.judged += judged_answers(self.judge, model, example, table.judged())
        self.outcome.rows += [
            row_of(model, kind, count, scores[kind, count], failed[count])
            for kind in RuleKind
            for count in self.plan.counts
        ]

    def _scored(
        self,
        model: Examined,
        table: Table,
        count: int,
        scores: Mapping[tuple[RuleKind, int], list[Score]],
    ) -> str:
        """Mines the rules from the votes of the first ``count`` samples in ``table``, which has the
        samples of one question. Adds a score for each kind of rule to ``scores``, and returns an empty
        text. If a verdict is missing, adds nothing and returns the reason."""
        asked = table.asked
        found = mined(table.votes(count))
        if found.unresolved:
            return _why(table, found.unresolved, count)
        for kind in RuleKind:
            wanted = expected(kind, asked.sources.lattice, asked.necessary)
            scored = score(wanted, found.rules[kind])
            scores[kind, count].append(scored)
            subject = model.name, model.temperature, asked.example.id, kind, count
            counts = scored.expected, scored.found, scored.right, scored.precision, scored.recall
            self.outcome.questions.append(RobustnessQuestion(*subject, *counts))
        return ""


def _why(table: Table, unresolved: Sequence[Mask], count: int) -> str:
    first = table.samples[unresolved[0]][:count]
    reason = next(
        (each.judgement.reason for each in first if each.judgement.verdict is Verdict.UNKNOWN), ""
    )
    some = "a subset that is" if len(unresolved) == 1 else f"{len(unresolved)} subsets that are"
    return f"no verdict on {some} needed{f': {reason}' if reason else ''}"
