"""What is stated of a rule, measured on the rules that are printed.

Each candidate is tested on random subsets, and one in twenty that ought to fail passes. Those that pass
are printed, those that fail are not: so of the printed ones, more than one in twenty might be bad. How
many are depends on the conditions. ``python -m tests.mining.printed`` prints the table.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from rag_rule_explainer.checking.figures import wilson
from rag_rule_explainer.experiments.rates import Rate, rate_of
from rag_rule_explainer.lattice import Lattice, Mask
from rag_rule_explainer.mining import RuleSearch, Sampled, Transversal
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict
from tests.mining.blockers import Condition, blocked, violation

RETENTION = RuleKind.RETENTION
RUNS = 500


@dataclass(frozen=True)
class Family:
    """``made``: the number of sources and the condition of a run, by its seed."""

    name: str
    made: Callable[[int], tuple[int, Condition]]


def random_blockers(seed: int) -> tuple[int, Condition]:
    draw = random.Random(seed)
    size = draw.randint(8, 12)
    return size, blocked(draw, size)


def one_near_rule(_seed: int) -> tuple[int, Condition]:
    """A pair that fails on 5.6 % of its random subsets: just more than is stated."""
    return 12, lambda mask: mask & 0b11 == 0b11 and mask & 0b111100 != 0b000100


def many_near_rules(_seed: int) -> tuple[int, Condition]:
    """Six sources, each of which alone is nearly enough: the first of those that are there decides, and
    fails on a pattern of its own."""
    first, free = 6, 4

    def holds(mask: Mask) -> bool:
        there = next((unit for unit in range(first) if mask >> unit & 1), None)
        return there is not None and mask >> first & (1 << free) - 1 != PATTERNS[there]

    return first + free + 2, holds


def here_and_there(seed: int) -> tuple[int, Condition]:
    """A pair that fails on a scattered 8 % of all subsets: its true rules are many and large, and nearly
    every candidate is a near rule."""
    full, spoiled = (1 << 12) - 1, random.Random(seed).sample(range((1 << 12) - 1), round(0.08 * 2**12))
    broken = frozenset(spoiled)
    return 12, lambda mask: mask & 0b11 == 0b11 and (mask == full or mask not in broken)


PATTERNS = (0b0001, 0b1110, 0b0010, 0b1101, 0b0100, 0b1011)
FAMILIES = (
    Family("random rules with up to two blockers each", random_blockers),
    Family("a pair that fails on just more than 5 %", one_near_rule),
    Family("six sources that each fail on about 5 %", many_near_rules),
    Family("a pair that fails here and there, on 8 %", here_and_there),
)


@dataclass(frozen=True, slots=True)
class Printed:
    """Of one run: the tested rules that are printed, and how many of them fail on more than is stated."""

    rules: int
    bad: int


def printed(family: Family, sampled: Sampled, seed: int) -> Printed:
    size, holds = family.made(seed)
    lattice = Lattice(size)
    search = RuleSearch(Transversal(RETENTION, sampled, seed=seed), lattice)
    while (ask := search.next()) is not None:
        search.tell({ask.key: Verdict.of(holds(ask.key))})
    tested = [claim for claim in search.claims if claim.status == "tested"]
    shares = [violation(lattice, claim.antecedent, holds) for claim in tested]
    return Printed(len(tested), sum(share > sampled.max_violation for share in shares))


@cache
def all_printed(family: Family, sampled: Sampled, runs: int = RUNS) -> Sequence[Printed]:
    return [printed(family, sampled, seed) for seed in range(runs)]


def bad_rules(runs: Sequence[Printed]) -> Rate:
    """Of all printed rules."""
    return rate_of((run.bad, run.rules) for run in runs)


def bad_runs(runs: Sequence[Printed]) -> Rate:
    """Of all runs, those that print a bad rule."""
    count = sum(run.bad > 0 for run in runs)
    low, high = wilson(count, len(runs))
    return Rate(count / len(runs), low, high, count, len(runs), len(runs))


def table() -> Iterator[str]:
    heads = "bad ones, of all tested rules that are printed", "searches that print a bad one"
    yield f"| conditions | statement | {' | '.join(heads)} |"
    yield "|---|---|---|---|"
    for family in FAMILIES:
        for name, sampled in (("of each rule", Sampled()), ("of all, `jointly`", Sampled(jointly=True))):
            runs = all_printed(family, sampled)
            yield f"| {family.name} | {name} | {said(bad_rules(runs))} | {said(bad_runs(runs))} |"


def said(rate: Rate) -> str:
    if rate.value is None or rate.low is None or rate.high is None:
        return "-"
    between = f"[{100 * rate.low:.1f}, {100 * rate.high:.1f}]"
    return f"{rate.count} of {rate.of:,}: {100 * rate.value:.1f} % {between}"


if __name__ == "__main__":
    print(*table(), sep="\n")
