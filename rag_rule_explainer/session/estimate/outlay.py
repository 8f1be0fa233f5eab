"""This module computes the cost of one case of an estimate from the number of its probes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from sys import float_info
from typing import NamedTuple

from ...predicates import Predicate, unwrapped
from ...probing.prices import ANY_MODEL, Price, Prices, price_of
from ...settings import Settings
from ...sources import SourceSet
from ..plan import MOST_AGAIN, MOST_PROMOTING, MOST_REWOUND, MiningPlan
from .assumptions import Assumptions, RunShape
from .judge_cost import JudgePlan, judge_plan
from .options import EstimateOptions
from .probe_counts import Probes


@dataclass(frozen=True, slots=True)
class Outlay:
    """An ``Outlay`` holds the cost of one case of an estimate: the best, the typical or the worst.
    ``replays``: the number of runs of the application. ``cost``: the price of the tokens; None if no
    price is known. ``seconds``: the expected duration, with several replays at the same time."""

    replays: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    seconds: float

    @property
    def tokens(self) -> int:
        """Returns the number of all tokens: input and output."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Material:
    """A ``Material`` holds the quantities from which an estimate is computed. All of them are known or
    assumed before the search for rules.

    ``source_tokens``: for each unit (a source, or tied sources, which are always kept together), its
    tokens in a prompt. ``other_tokens``: the tokens of the rest of the prompt. ``answer_tokens``: the
    assumed tokens of an answer. ``asked_before``, ``written_before``: the tokens of the requests that
    every run makes before this prompt, and of the replies to them. ``pinned``: True if some sources are
    always retained.
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
        """Returns the quantities for this question and these sources. The application is not run.
        ``stored``: True if there is a store for judgements. ``predicates``: the conditions. ``options``:
        the options of the estimate."""
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


class FinalReplays(Enum):
    """``FinalReplays`` says how many replays are repeated after the search.

    ``NEVER``: none. ``ONCE``: one, as for an application that keeps no state between its runs. ``MOST``:
    as many as for an application that may keep state, up to all replays.
    """

    NEVER = "never"
    ONCE = "once"
    MOST = "most"

    def runs(self, subsets: int, shape: RunShape) -> int:
        """Returns the number of replays that are repeated. ``subsets``: the number of probed subsets.
        ``shape``: the requests to models in one run."""
        if self is FinalReplays.MOST:
            promoting = (1 + min(MOST_PROMOTING, subsets)) * shape.holds_out
            # at worst, every subset but the full one is repeated
            rewound = max(min(MOST_REWOUND, subsets), subsets - 1)
            return min(MOST_AGAIN, subsets) + rewound + promoting
        return int(self is FinalReplays.ONCE)


def outlay_of(
    probes: Probes,
    material: Material,
    settings: Settings,
    plan: MiningPlan,
    *,
    all_kinds: bool = False,
    once_more: FinalReplays = FinalReplays.NEVER,
) -> Outlay:
    """Returns the cost of a search that makes these probes. ``all_kinds``: True if both kinds of rule
    need all of these probes. Each probe is then made once for each kind, unless both kinds share their
    answers. ``once_more``: how many replays are repeated at the end, to check that the application still
    behaves in the same way. ``material``: the tokens of the prompts and the answers."""
    runs = _runs(probes, material, settings, plan, all_kinds=all_kinds, once_more=once_more)
    size, replays = len(material.source_tokens), runs.replays
    mean = Fraction(sum(material.source_tokens), size) if size else Fraction(0)
    # Fractions are used, because the number of subsets of many sources is too large for a float.
    shown = runs.before * size + Fraction(probes.shown) * Fraction(runs.mined, max(1, probes.subsets))
    shown -= size * runs.spared
    # ``asking`` is the number of requests that show documents. If the application shows its documents one
    # at a time, there is a request for each shown document, otherwise one for each replay.
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
    rounds = runs.before + max(
        probes.depth - 1, -(-max(0, replays - runs.before) // settings.concurrency)
    )
    return Outlay(replays, input_tokens, output_tokens, cost, _seconds(rounds, material))


class _Runs(NamedTuple):
    """A ``_Runs`` counts the runs of the application in one case of an estimate (best, typical or worst).

    ``before``: the runs outside the search for rules: the first run, and the checks before and after the
    search. ``mined``: the replays of the search. ``spared``: 1 if the first run also gives the search its
    answer from all sources, which saves a replay; else 0.
    """

    before: int
    mined: int
    spared: int

    @property
    def replays(self) -> int:
        """Returns the number of all replays."""
        return self.before + self.mined - self.spared


def _runs(
    probes: Probes,
    material: Material,
    settings: Settings,
    plan: MiningPlan,
    *,
    all_kinds: bool,
    once_more: FinalReplays,
) -> _Runs:
    shared = settings.reuse_answers or settings.noise.votes
    times = len(settings.kinds) if all_kinds and not shared else 1
    needed, cap = times * probes.replays(settings.noise), plan.limits.replays
    before = 1 + (settings.check_repeatable and not settings.noise.votes and cap != 1)
    if material.shape is not None and (settings.check_repeatable or settings.noise.votes):
        again = once_more.runs(probes.subsets, material.shape)
        before += again if cap is None else min(again, max(0, cap - before))
    mined = needed if cap is None else min(needed, max(0, cap - before))
    return _Runs(before, mined, int(shared and mined == needed and probes.with_full))


def _seconds(rounds: int, material: Material) -> float:
    try:
        return min(rounds * material.seconds_per_replay, float_info.max)
    # The number is too large for a float if there are more than a thousand sources and replays have no
    # limit.
    except OverflowError:
        return float_info.max


def _price(model: str | None, prices: Prices | None) -> Price | None:
    if not prices:
        return None
    if model is None:
        return next(iter(prices.values())) if len(prices) == 1 else prices.get(ANY_MODEL)
    return price_of(model, prices)
