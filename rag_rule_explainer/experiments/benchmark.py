"""How far a model can be explained by what labels call necessary (the paper's future work).

Of each question a few sources, the necessary ones first, and all their subsets or some of them. Of each
reply it is known whether all necessary sources were shown. From that: how often the rules that the labels
lead one to expect hold, how often there is an answer where there should be none, and how often the model
does not do as it was told. See ``replies`` for what an answer is, ``measures`` for what is counted and
what that cannot tell, ``rates`` for the intervals.

Without sources the answer is N/A and nobody is asked, unless that is wanted: rules are judged on it, and
it is in no other figure.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ..errors import BaselineFailed, InvalidInput
from ..lattice import Lattice, Mask
from ..predicates import Judge
from ..probing.limiter import Limiter
from ..reader import NO_ANSWER
from ..rules import RuleKind
from ..settings import Settings
from ..sources import Source
from ..verdicts import Verdict
from .benchmark_rows import (
    Failure,
    OfQuestion,
    QuestionRow,
    ReplyRow,
    Row,
    question_row,
    record,
    reply_row,
    rows_of,
)
from .examples import Example, check_room
from .interrupting import interruptions
from .measures import counted, held
from .models import Examined, check_told_apart
from .replies import Kind, Reply, reply
from .subsets import Answered, Asking

Told: TypeAlias = Callable[[int, int], object]

MOST_SOURCES = 10
_SILENT = 3
"""Questions in a row that a model may answer nothing about before it is taken to be down."""


@dataclass(frozen=True, slots=True)
class Plan:
    """``sources``: how many of each question. ``subsets``: how many of them are asked about, half of
    these drawn from those that retain all necessary sources and half from the others; None for all.
    ``asks_nothing``: whether the model is asked without sources as well. ``besides``: words beside the
    truth's, articles aside, from which on an answer is more than it. ``seed``: of what is drawn.
    ``distractors``: the seed that orders the distractors; None for the order as published.

    Raises InvalidInput for what there is not.
    """

    sources: int = 5
    subsets: int | None = None
    asks_nothing: bool = False
    besides: int = 2
    seed: int = 0
    distractors: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.sources <= MOST_SOURCES:
            raise InvalidInput(f"sources is {self.sources!r}; give 1 to {MOST_SOURCES}")
        if self.subsets is not None and self.subsets < 2:
            raise InvalidInput(
                f"subsets is {self.subsets!r}; give 2 or more, with all necessary sources and without"
            )
        if self.besides < 1:
            raise InvalidInput(f"besides is {self.besides!r}; give 1 or more")

    def masks(self, example: Example) -> tuple[Mask, ...] | None:
        """The subsets that are asked about, of the first sources; None for all."""
        lattice = Lattice(self.sources)
        if self.subsets is None or self.subsets >= len(lattice.masks()) - 1:
            return None
        necessary = necessary_of(example, lattice)
        having = list(lattice.supersets(necessary))
        lacking = [mask for mask in lattice.masks() if mask and mask & necessary != necessary]
        of_lacking = min(len(lacking), max(self.subsets - len(having), (self.subsets + 1) // 2))
        draw = random.Random(f"{self.seed} {example.id}")  # noqa: S311 -- reproducible
        chosen = draw.sample(having, min(len(having), self.subsets - of_lacking))
        chosen += draw.sample(lacking, of_lacking)
        return (*((0,) if self.asks_nothing else ()), *sorted(chosen))


def necessary_of(example: Example, lattice: Lattice) -> Mask:
    """The necessary sources, which are the first ones."""
    return lattice.mask(range(len(example.necessary)))


@dataclass(slots=True)
class Outcome:
    """What came of it. ``deviations``: the replies that deviate, or are wrong, with their texts.
    ``done``: questions, over all models; ``calls``: of the models in this run; ``stored``: answers that
    the store had. ``interrupted``: by Ctrl-C, so that there is more to do, and no rows."""

    rows: list[Row] = field(default_factory=list[Row])
    questions: list[QuestionRow] = field(default_factory=list[QuestionRow])
    replies: list[ReplyRow] = field(default_factory=list[ReplyRow])
    deviations: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    failures: list[Failure] = field(default_factory=list[Failure])
    done: int = 0
    calls: int = 0
    stored: int = 0
    judge_requests: int = 0
    interrupted: bool = False


def measure(
    examples: Sequence[Example],
    models: Sequence[Examined],
    plan: Plan,
    settings: Settings,
    judge: Judge | None = None,
    told: Told | None = None,
) -> Outcome:
    """Every row, model by model.

    ``settings``: ``concurrency``, ``timeout``, ``retries`` and the ``store``, whose namespace is replaced
    by each model's; the rest is the experiment's. A question with a subset that was not answered is a
    failure, and the others go on.

    Raises InvalidInput for models that cannot be told apart and for fewer sources than are necessary,
    BaselineFailed where a model answers nothing about several questions in a row, StoreFailed.
    """
    check_told_apart(models)
    check_room(examples, plan.sources)
    outcome, of = Outcome(), len(models) * len(examples)
    with interruptions() as interrupted:
        try:
            for model in models:
                asked = _Asked(model, plan, _asking(model, plan, settings, judge), outcome)
                for example in examples:
                    asked.ask(example)
                    if interrupted():
                        outcome.interrupted = True
                        return outcome
                    outcome.done += 1
                    if told is not None:
                        told(outcome.done, of)
                outcome.rows += rows_of(model, asked.counts)
        except KeyboardInterrupt:
            outcome.interrupted = True
    return outcome


def _asking(model: Examined, plan: Plan, settings: Settings, judge: Judge | None) -> Asking:
    store = settings.store
    own = None if store is None else replace(store, namespace=model.namespace)
    without = None if plan.asks_nothing else NO_ANSWER
    limiter = Limiter(settings.concurrency)
    return Asking(model, replace(settings, store=own), limiter, judge, without)


@dataclass(slots=True)
class _Asked:
    """One model, and what it said so far. ``counts``: by question, with how many sources it needs."""

    model: Examined
    plan: Plan
    asking: Asking
    outcome: Outcome
    counts: list[OfQuestion] = field(default_factory=list[OfQuestion])
    silent: int = 0

    def ask(self, example: Example) -> None:
        sources = example.first(self.plan.sources, self.plan.distractors)
        masks = self.plan.masks(example)
        if masks is None:
            answered = self.asking.everything(example, sources)
        else:
            answered = self.asking.some(example, sources, masks)
        outcome = self.outcome
        outcome.calls += answered.calls
        outcome.stored += answered.stored
        outcome.judge_requests += answered.judge_requests
        wanted = Lattice(self.plan.sources).masks() if masks is None else masks
        missing = [mask for mask in wanted if not _is_answered(answered, mask)]
        if missing:
            probe = answered.probes.get(missing[0])
            reason = (probe.error if probe else "") or answered.incomplete or "no answer"
            named = self.model.name, self.model.temperature
            outcome.failures.append(Failure(*named, example.id, reason))
        else:
            self._take(example, answered, wanted)
        self.silent = 0 if answered.is_answered else self.silent + 1
        if self.silent == _SILENT:
            raise BaselineFailed(
                f"{self.model.name} answered nothing about {_SILENT} questions in a row; check that its "
                f"endpoint is up, its name and its key: {answered.incomplete}"
            )

    def _take(self, example: Example, answered: Answered, masks: Sequence[Mask]) -> None:
        size, lattice = self.plan.sources, Lattice(self.plan.sources)
        necessary = necessary_of(example, lattice)
        found = {mask: answered.verdict(mask, size) for mask in masks}
        verdicts = {mask: verdict or Verdict.UNKNOWN for mask, verdict in found.items()}
        # Without sources it is N/A by convention, also where not all subsets are asked about.
        verdicts.setdefault(0, Verdict.BREAKS)
        asked = [mask for mask in masks if mask or self.plan.asks_nothing]
        replies = [self._reply(example, answered, mask, verdicts[mask]) for mask in asked]
        retention, omission = (held(kind, lattice, necessary, verdicts) for kind in RuleKind)
        outcome, model = self.outcome, self.model
        self.counts.append((len(example.necessary), counted(replies, retention, omission)))
        outcome.questions.append(question_row(model, example, len(masks), retention, omission))
        outcome.replies += [reply_row(model, example, each) for each in replies]
        outcome.deviations += [
            record(model, example, each)
            for each in replies
            if each.deviates or (each.kind is not Kind.RIGHT and not each.abstains)
        ]

    def _reply(self, example: Example, answered: Answered, mask: Mask, verdict: Verdict) -> Reply:
        lattice, (answer,) = Lattice(self.plan.sources), answered.probes[mask].answers
        kept: list[Source] = [answered.sources[unit] for unit in lattice.units(mask)]
        judged = self.asking.judge is not None
        return reply(example, kept, answer, verdict, judged=judged, besides=self.plan.besides)


def _is_answered(answered: Answered, mask: Mask) -> bool:
    probe = answered.probes.get(mask)
    return probe is not None and bool(probe.answers)
