"""How many of the sources that rules name a method has found, by how many subsets it may ask about.

A method that gives scores is told how many sources to take: as many as there are, which no user is told.
Of sources with the same score it is as likely to take one as another. So that nothing depends on that
number, what it names in all is counted as well: each source with a score above 0.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

from rag_rule_explainer.experiments.paired import PairedComparison, paired_comparison
from rag_rule_explainer.experiments.rates import Rate, macro
from rag_rule_explainer.rules import RuleKind
from tests.benchmarks.peers import budgets, harder, ours, sets
from tests.benchmarks.peers.conditions import Condition, records

BUDGETS = (10, 20, 50, 100, 200, 500)
SIZE = 20
"""Sources of the conditions that are drawn."""
AT = 100
"""The budget at which methods are compared record by record, and at which all that they name counts."""
FEW = 10


@dataclass(frozen=True, slots=True)
class Curved:
    """``package``: what has to be installed for it, beside this project. ``most``: it is asked about so
    many records, the first ones."""

    name: str
    run: Callable[[budgets.Budgeted, int], budgets.Named]
    package: str = ""
    most: int | None = None


SAMPLED = Curved("this package", budgets.mined(ours.sampled))
METHODS = (
    SAMPLED,
    Curved('this package, `miner="grouped"`', budgets.mined(ours.grouped)),
    Curved("MARCO-style, takes it for monotone", budgets.marco),
    Curved("QuickXplain", budgets.one_set(sets.quickxplain)),
    Curved("picire, delta debugging", budgets.one_set(sets.delta_debugging), "picire"),
    Curved("LASSO on verdicts", budgets.lasso, "sklearn"),
    Curved("SHAP, permutation", budgets.shap_permutation, "shap"),
    # It takes seconds for a record, the others milliseconds.
    Curved("shapiq, ProxySPEX", budgets.proxy_spex, "shapiq", FEW),
    Curved("leave one out", budgets.leave_one_out),
)
OWN = tuple(method for method in METHODS if not method.package)
HOTPOTQA = "HotpotQA"
CONDITIONS = (HOTPOTQA, *(each.name for each in harder.HARDER))


@cache
def conditions(name: str, data: Path | None) -> Sequence[Condition]:
    """The records of a table. Without the folder of real data, HotpotQA has none."""
    if name != HOTPOTQA:
        (hard,) = (each for each in harder.HARDER if each.name == name)
        return hard.draws(SIZE)
    found = (records(data / f"hotpotqa_{split}.jsonl") for split in ("train", "dev")) if data else ()
    # A record whose answer needs no source has no rule that names one.
    return [each for some in found for each in some if named_of(each)]


def named_of(condition: Condition) -> frozenset[int]:
    """The sources that are to be found."""
    rules = condition.rules[RuleKind.RETENTION]
    return frozenset(unit for rule in rules for unit in condition.lattice.units(rule))


def among_first(scores: Sequence[float], wanted: frozenset[int], most: int) -> Fraction:
    """How many of the wanted ones are among so many with the highest scores. Those with none are not
    taken, and of those with the same score any is as likely."""
    found, left = Fraction(0), most
    for value in sorted({score for score in scores if score > 1e-9}, reverse=True):
        alike = {unit for unit, score in enumerate(scores) if abs(score - value) <= 1e-9}
        found += Fraction(len(alike & wanted) * min(left, len(alike)), len(alike))
        left -= min(left, len(alike))
    return found


@dataclass(frozen=True, slots=True)
class Point:
    """What a method says of one record with one budget."""

    found: Fraction
    rightly: int
    named: int
    wanted: int


def point(method: Curved, condition: Condition, budget: int, seed: int) -> Point:
    scores = method.run(budgets.Budgeted(condition, budget), seed)
    wanted = named_of(condition)
    named = {unit for unit, score in enumerate(scores) if score > 1e-9}
    found = among_first(scores, wanted, len(wanted))
    return Point(found, len(named & wanted), len(named), len(wanted))


@cache
def points(method: Curved, name: str, budget: int, data: Path | None) -> Sequence[Point]:
    """Each record with a seed of its own."""
    made = conditions(name, data)[: method.most]
    return [point(method, each, budget, seed) for seed, each in enumerate(made)]


def share(rate: Rate) -> str:
    if rate.value is None or rate.low is None or rate.high is None:
        return "-"
    return f"{rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}]"


def found_at(own: Iterable[Point]) -> Rate:
    """Precision at k, where k is how many there are to find: recall at k, too."""
    return macro((each.found.numerator, each.found.denominator * each.wanted) for each in own)


def curve(method: Curved, name: str, data: Path | None) -> list[str]:
    return [share(found_at(points(method, name, budget, data))) for budget in BUDGETS]


def all_named(method: Curved, name: str, data: Path | None) -> tuple[str, str]:
    """Precision and recall of all that it names at one budget. It may name nothing."""
    own = points(method, name, AT, data)
    precision = macro((each.rightly, each.named) for each in own)
    recall = macro((each.rightly, each.wanted) for each in own)
    return share(precision), share(recall)


def against(method: Curved, name: str, data: Path | None) -> PairedComparison:
    """The same records, by this package and by another method."""
    first, second = (
        {str(seed): float(each.found / each.wanted) for seed, each in enumerate(made)}
        for made in (points(SAMPLED, name, AT, data), points(method, name, AT, data))
    )
    return paired_comparison(first, second)
