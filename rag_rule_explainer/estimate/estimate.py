"""This module estimates the cost of an explanation before anything is spent.

The rules are not known beforehand, so the estimate has three cases. *Best*: every single omission breaks
the condition; if the condition holds of the baseline's answer, no search takes less. *Typical*: two
sources decide together, and the others do not matter. *Worst*: every subset is needed; no search takes
more, except for retries.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from sys import float_info

from ..predicates import Predicate, unwrapped
from ..printable import amount
from ..probing.prices import ANY_MODEL, Price, Prices, price_of
from ..session.plan import MOST_AGAIN, MOST_REWOUND, ByBatches, ByGroups, BySamples, MiningPlan
from ..settings import Settings
from ..sources import SourceSet
from .assumptions import Assumptions, RunShape
from .judge_cost import JudgeOutlay, JudgePlan, judge_plan
from .options import EstimateOptions
from .probe_counts import Probes, fewest, foreseen, sees_all


@dataclass(frozen=True, slots=True)
class Outlay:
    """An ``Outlay`` holds the cost of one case. ``cost``: None without a price."""

    replays: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    seconds: float

    @property
    def tokens(self) -> int:
        """Returns the sum of input and output tokens."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Estimate:
    """An ``Estimate`` holds the best, typical and worst case of explaining one answer by ``sources``
    sources.

    ``prompt_tokens``: tokens of the prompt with all sources. ``spent_tokens``: tokens already spent to
    find the sources, for example to rewrite the question. ``assumptions``: the assumptions, in words.
    ``judge``: the requests to a judge, which the three cases do not include; None without a judge.
    ``requests``: the requests to models in one replay that can be foreseen; there may be more.
    """

    sources: int
    best: Outlay
    typical: Outlay
    worst: Outlay
    prompt_tokens: int
    spent_tokens: int = 0
    assumptions: tuple[str, ...] = ()
    judge: JudgeOutlay | None = None
    requests: int = 1

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("", "replays", "tokens in", "tokens out", "cost", "seconds")]
        for name, course in (("best", self.best), ("typical", self.typical), ("worst", self.worst)):
            cost = "?" if course.cost is None else amount(course.cost, 4)
            counts = (course.replays, course.input_tokens, course.output_tokens)
            rows.append((name, *map(amount, counts), cost, amount(course.seconds)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = ("  ".join(map(str.rjust, row, widths)).rstrip() for row in rows)
        told = (*self.assumptions, *([] if self.judge is None else [self.judge]))
        return "\n".join([f"{self.sources} sources", *table, *(f"({each})" for each in told)])


@dataclass(frozen=True, slots=True)
class Material:
    """A ``Material`` holds the known quantities before mining.

    ``source_tokens``: the tokens of each unit in a prompt. ``other_tokens``: the tokens of the rest of
    the prompt. ``asked_before``, ``written_before``: the tokens of earlier requests in every run, and of
    their replies. ``pinned``: True if some sources are always retained.
    """

    source_tokens: Sequence[int]
    other_tokens: int
    answer_tokens: int
    seconds_per_replay: float
    model: str | None = None
    spent_tokens: int = 0
    notes: tuple[str, ...] = ()
    judge: JudgePlan | None = None
    asked_before: int = 0
    written_before: int = 0
    shape: RunShape | None = None
    pinned: bool = False

    @classmethod
    def of(
        cls,
        question: str,
        sources: SourceSet,
        predicates: Iterable[Predicate],
        options: EstimateOptions,
        *,
        stored: bool,
    ) -> "Material":
        """Returns the quantities that can be counted without a run. ``stored``: True if judgements are
        stored."""
        assuming, prompt, shape = options.assuming or Assumptions(), options.prompt, options.shape
        count = assuming.count_tokens
        counted = [sum(count(source.passage) for source in unit) for unit in sources.units]
        other = count(question) + sum(count(s.passage) for s in sources if s.id in sources.pinned)
        if prompt is not None:
            other = max(other, count(prompt) - sum(counted))
        judge = judge_plan(
            dict.fromkeys(unwrapped(each)[0] for each in predicates),
            question,
            count_tokens=count,
            answer_tokens=assuming.answer_tokens,
            stored=stored,
        )
        return cls(
            counted,
            other,
            assuming.answer_tokens,
            assuming.seconds_per_replay,
            assuming.model,
            options.spent_tokens,
            tuple(options.notes),
            judge=judge if judge.conditions else None,
            asked_before=sum(map(count, shape.asked_before)) if shape else 0,
            written_before=sum(map(count, shape.written_before)) if shape else 0,
            shape=shape,
            pinned=bool(sources.pinned),
        )


def estimated(material: Material, settings: Settings, plan: MiningPlan) -> Estimate:
    """Returns the three cases for these settings and this plan."""
    size = len(material.source_tokens)
    one, two, everything = foreseen(size, settings, plan)
    if sees_all(plan):
        one = two = replace(everything, border=everything.subsets)
    least = _course(fewest(size, settings, plan, pinned=material.pinned), material, settings, plan)
    most = _course(everything, material, settings, plan, all_kinds=True, once_more=True)
    courses = [_course(count, material, settings, plan) for count in (one, two)]
    # With votes, a verdict that breaks at once may take more replays than one that holds.
    best = min(least, *courses, most, key=lambda course: course.replays)
    typical, worst = min(courses[1], most, key=lambda course: course.replays), most
    return Estimate(
        sources=size,
        best=best,
        typical=typical,
        worst=worst,
        prompt_tokens=material.other_tokens + sum(material.source_tokens),
        spent_tokens=material.spent_tokens,
        assumptions=tuple(_assumptions(material, settings, plan)),
        requests=material.shape.requests(size) if material.shape is not None else 1,
        judge=material.judge and material.judge.outlay(_answers(worst, settings), settings.prices),
    )


def _course(
    probes: Probes,
    material: Material,
    settings: Settings,
    plan: MiningPlan,
    *,
    all_kinds: bool = False,
    once_more: bool = False,
) -> Outlay:
    """Returns the cost of probing these subsets.

    ``all_kinds``: without shared answers, each kind probes these subsets itself. ``once_more``: the
    application is run again at the end, to check that its behaviour has not changed.
    """
    size = len(material.source_tokens)
    mean = Fraction(sum(material.source_tokens), size) if size else Fraction(0)
    shared = settings.reuse_answers or settings.noise.votes
    times = len(settings.kinds) if all_kinds and not shared else 1
    asked, cap = times * probes.replays(settings.noise), plan.limits.replays
    before = 1 + (settings.check_repeatable and not settings.noise.votes and cap != 1)
    last = (
        once_more and material.shape is not None and (settings.check_repeatable or settings.noise.votes)
    )
    most = min(MOST_AGAIN, probes.subsets) + min(MOST_REWOUND, probes.subsets)
    again = most if last else 0
    before += again if cap is None else min(again, max(0, cap - before))
    mined = asked if cap is None else min(asked, max(0, cap - before))
    replays = before + mined
    # The first run answers the full set, so that a shared cache saves that probe.
    replays -= 1 if shared and mined == asked and probes.with_full else 0
    # Fractions are exact; the subsets of many sources exceed the range of a float.
    shown = before * size + Fraction(probes.shown) * Fraction(mined, max(1, probes.subsets))
    shown -= size if replays < before + mined else 0
    # Requests that show documents: one per document, or one for all documents.
    shape = material.shape
    asking = max(shown, Fraction(replays)) if shape is not None and shape.one_at_a_time else replays
    input_tokens = round(replays * material.asked_before + asking * material.other_tokens + shown * mean)
    output_tokens = round(replays * material.written_before + asking * material.answer_tokens)
    price = _price(material.model, settings.prices)
    cost = (
        None
        if price is None
        else price.of({"input_tokens": input_tokens, "output_tokens": output_tokens})
    )
    rounds = before + max(probes.depth - 1, -(-max(0, replays - before) // settings.concurrency))
    return Outlay(replays, input_tokens, output_tokens, cost, _seconds(rounds, material))


def _seconds(rounds: int, material: Material) -> float:
    try:
        return min(rounds * material.seconds_per_replay, float_info.max)
    except OverflowError:  # more than a thousand sources without a cap
        return float_info.max


def _answers(worst: Outlay, settings: Settings) -> int:
    """Returns the most answers that may have to be judged."""
    return worst.replays + (settings.answer_without_sources is not None)


def _price(model: str | None, prices: Prices | None) -> Price | None:
    if not prices:
        return None
    if model is None:
        return next(iter(prices.values())) if len(prices) == 1 else prices.get(ANY_MODEL)
    return price_of(model, prices)


def _assumptions(material: Material, settings: Settings, plan: MiningPlan) -> Sequence[str]:
    match plan.method:
        case ByBatches():
            every = ", both of one batch, and each batch is mined by itself; best: one source does"
        case ByGroups():
            every = ", and only groups that rules name are divided; best: one source does"
        case BySamples():
            every = ", and each rule is tested on random subsets; best: one source does"
        case _ if len(settings.kinds) > 1:
            every = ", and the two kinds of rule then need every subset"
        case _:
            every = ""
    pace = f"{material.seconds_per_replay:g} s a replay, {settings.concurrency} at a time"
    judge = "" if material.judge is not None else ", no judge"
    said = [
        f"{material.answer_tokens} tokens an answer, {pace}; no provider's cache, no retries{judge}",
        f"typical: two sources decide together{every}",
    ]
    if settings.noise.votes:
        said.append(f"{settings.noise.wording}; where samples agree but for the worst case")
    if plan.limits.replays is not None:
        plural = "s" * (plan.limits.replays != 1)
        said.append(f"stops after {plan.limits.replays} replay{plural}")
    if not settings.reuse_answers:
        said.append(
            "worst: up to twice as many, as reuse_answers=False replays what both kinds need for each"
        )
    if settings.prices is None:
        said.append("no prices, so no cost: pass prices={model: Price(...)} (--price MODEL=IN,OUT)")
    if settings.store is not None:
        said.append("what the store has already costs nothing, and is not taken off")
    return [*said, *_of_the_run(material), *material.notes]


def _of_the_run(material: Material) -> Iterable[str]:
    if material.shape is not None:
        asked = material.shape.requests(len(material.source_tokens))
        yield (
            f"{asked} model request{'s' * (asked != 1)} a replay, and more where the application goes on "
            "asking or retrieving once a model was shown a document, as an agent does: not followed here"
        )
    if material.spent_tokens:
        yield f"{material.spent_tokens} tokens were spent to find the sources"
