"""This module estimates the cost of an explanation before anything is spent.

The cost depends on the rules, which are not known before the search. So the estimate has three cases.
*Best*: omitting any single source breaks the condition. If the condition holds of the baseline's answer,
no search needs fewer replays than this. *Typical*: two sources decide together, and the others do not
matter. *Worst*: every subset must be replayed. No search needs more replays than this, apart from
retries.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...explanation.in_notebooks import InNotebooks
from ...printable import amount, printable
from ...settings import Settings
from ..plan import ByBatches, ByGroups, BySamples, MiningPlan
from .judge_cost import JudgeOutlay
from .outlay import FinalReplays, Material, Outlay, outlay_of
from .probe_counts import fewest, foreseen, sees_all


@dataclass(frozen=True, slots=True)
class Estimate(InNotebooks):
    """An ``Estimate`` holds the possible cost of explaining one answer, in the best, the typical and the
    worst case.

    ``sources``: the number of sources. ``prompt_tokens``: the tokens of the prompt with all sources.
    ``spent_tokens``: the tokens already spent to find the sources, for example to rewrite the question.
    ``assumptions``: sentences for the user that say what is assumed. ``judge``: the requests to a judge,
    which are not part of the three cases; None without a judge. ``requests``: the number of requests to
    models in one replay, without further requests that cannot be foreseen.
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
        remarks = (*self.assumptions, *([] if self.judge is None else [self.judge]))
        return "\n".join([f"{self.sources} sources", *table, *(f"({each})" for each in remarks)])


def estimated(material: Material, settings: Settings, plan: MiningPlan) -> Estimate:
    """Returns the estimate for these settings and this plan of mining. ``material``: data about the
    question and the sources, such as numbers of tokens."""
    size = len(material.source_tokens)
    one, two, everything = foreseen(size, settings, plan)
    if sees_all(plan):
        one = two = replace(everything, border=everything.subsets)
    least = outlay_of(fewest(size, settings, plan, pinned=material.pinned), material, settings, plan)
    most = outlay_of(everything, material, settings, plan, all_kinds=True, once_more=FinalReplays.MOST)
    courses = [
        outlay_of(one, material, settings, plan),
        outlay_of(two, material, settings, plan, once_more=FinalReplays.ONCE),
    ]
    # With votes, finding that a subset breaks the condition may need more replays than finding that it
    # holds. So the case with the fewest probes is not always the cheapest, and all cases are compared.
    best = min(least, *courses, most, key=lambda course: course.replays)
    typical, worst = min(courses[1], most, key=lambda course: course.replays), most
    return Estimate(
        sources=size,
        best=best,
        typical=typical,
        worst=worst,
        prompt_tokens=material.other_tokens + sum(material.source_tokens),
        spent_tokens=material.spent_tokens,
        assumptions=tuple(_assumptions(material, settings, plan, everything.subsets)),
        requests=material.shape.requests(size) if material.shape is not None else 1,
        judge=material.judge and material.judge.outlay(_answers(worst, settings), settings.prices),
    )


def _answers(worst: Outlay, settings: Settings) -> int:
    """Returns the maximum number of answers to be judged: one for each replay, and one for the setting
    ``answer_without_sources`` if the user has given it."""
    return worst.replays + (settings.answer_without_sources is not None)


def _assumptions(material: Material, settings: Settings, plan: MiningPlan, subsets: int) -> Sequence[str]:
    match plan.method:
        case ByBatches():
            every = ", both of one batch; each batch is mined by itself"
        case ByGroups():
            every = "; only groups that rules name are divided"
        case BySamples():
            every = "; each rule is tested on random subsets"
        case _:
            every = ", which takes every subset" * (len(settings.kinds) > 1)
    pace = f"{material.seconds_per_replay:g} s a replay, {settings.concurrency} at a time"
    judge = "" if material.judge is not None else ", no judge"
    typical = f"typical: one or two sources decide{every}"
    said = [
        f"{material.answer_tokens} tokens an answer, {pace}; no provider's cache, no retries{judge}",
        f"best and worst: the least and the most, whatever the rules are; {typical}",
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
    elif material.model is None and len(settings.prices) == 1:
        said.append(f"priced as {printable(next(iter(settings.prices)))}")
    if settings.store is not None:
        said.append("what the store has already costs nothing, and is not taken off")
    return [*said, *_of_the_run(material, plan, subsets), *material.notes]


def _of_the_run(material: Material, plan: MiningPlan, subsets: int) -> Iterable[str]:
    if material.shape is not None:
        most, cap = FinalReplays.MOST.runs(subsets, material.shape), plan.limits.replays
        repeats = most if cap is None else min(most, cap)
        yield (
            f"up to {repeats} of the worst are repeats, made if something changes between runs, such "
            "as a chat history or a cache"
        )
        asked = material.shape.requests(len(material.source_tokens))
        more = (
            "; an agent, which asks its model again after a search, makes more, and they are not counted "
            "here"
        )
        asks = f"{asked} model request{'s' * (asked != 1)} a replay"
        yield asks if material.shape.is_whole else f"{asks}{more}"
    if material.spent_tokens:
        yield f"{material.spent_tokens} tokens were spent to find the sources"
