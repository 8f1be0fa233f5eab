"""How often an explanation is right where verdicts are wrong at random: the rules, and what they cost."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_rule_explainer import Explainer, Noise, Source, contains

Holds = Callable[[frozenset[int]], bool]
SIZE = 10
SOURCES = [Source(str(n), f"text {n}") for n in range(SIZE)]


@dataclass(frozen=True)
class Truth:
    """A condition on the sources kept, and its minimal retention rules."""

    name: str
    holds: Holds
    rules: frozenset[frozenset[int]]

    def is_rule(self, antecedent: frozenset[int]) -> bool:
        """By definition: on every subset that retains it."""
        free = [n for n in range(SIZE) if n not in antecedent]
        return all(
            self.holds(antecedent | {n for place, n in enumerate(free) if extra >> place & 1})
            for extra in range(1 << len(free))
        )


def _rules(*rules: Sequence[int]) -> frozenset[frozenset[int]]:
    return frozenset(map(frozenset, rules))


PAIR = Truth("a pair", lambda t: {2, 6} <= t, _rules((2, 6)))
THREE = Truth("three rules", lambda t: {0, 1} <= t or 3 in t or {5, 8} <= t, _rules((0, 1), (3,), (5, 8)))
BLOCKED = Truth("a blocker (C)", lambda t: {2, 6} <= t and not (4 in t and 7 not in t), _rules((2, 6, 7)))
LONE = Truth(
    "a lone violating subset",
    lambda t: {2, 6} <= t and t != frozenset({1, 2, 4, 6, 9}),
    _rules((0, 2, 6), (2, 3, 6), (2, 5, 6), (2, 6, 7), (2, 6, 8)),
)
TRUTHS = (PAIR, THREE, BLOCKED, LONE)


@dataclass(frozen=True)
class Outcome:
    """Shares of the runs with exactly the true rules and with a false one, and their mean replays."""

    exact: float
    false: float
    calls: float


def study(truth: Truth, wrong: float, noise: Noise, runs: int = 200) -> Outcome:
    """So many seeded runs of the exact miner, with that share of all verdicts turned around."""
    exact = false = calls = 0
    for seed in range(runs):
        rules, cost = mined(truth, wrong, noise, seed)
        exact += rules == truth.rules
        false += not all(map(truth.is_rule, rules))
        calls += cost
    return Outcome(exact / runs, false / runs, calls / runs)


def mined(truth: Truth, wrong: float, noise: Noise, seed: int) -> tuple[frozenset[frozenset[int]], int]:
    """The rules of one run, and its replays."""
    draw, asked = random.Random(seed), 0

    async def replay(_question: str, sources: Sequence[Source]) -> str:
        nonlocal asked
        asked += 1
        holds = truth.holds(frozenset(int(source.id) for source in sources))
        return "yes" if holds != (draw.random() < wrong) else "no"

    explanation = Explainer(
        replay,
        predicate=contains("yes"),
        rules="retention",
        miner="exact",
        concurrency=1,
        noise=noise,
        check_repeatable=False,
    ).explain("?", SOURCES, "yes")
    return frozenset(frozenset(map(int, rule.sources)) for rule in explanation.rules), asked
