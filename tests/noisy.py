"""How often an explanation is right where verdicts are wrong at random: the rules, and what they cost."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rag_rule_explainer import Explainer, Settings, Source, contains, same_answer
from tests.drawing import examples

Holds = Callable[[frozenset[int]], bool]


@dataclass(frozen=True)
class Truth:
    """A condition on the sources kept, of ``size``, and its minimal retention rules."""

    name: str
    holds: Holds
    rules: frozenset[frozenset[int]]
    size: int = 10

    def is_rule(self, antecedent: frozenset[int]) -> bool:
        """Whether it holds on every subset that retains it."""
        return any(rule <= antecedent for rule in self.rules)

    def among(self, size: int) -> "Truth":
        """The same among more sources, which do not matter."""
        return replace(self, name=f"{self.name}, n = {size}", size=size)


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


def study(truth: Truth, wrong: float, how: Settings, runs: int = 200, *, logged: bool = True) -> Outcome:
    """So many seeded runs, with that share of all verdicts turned around; of slow tests that ask one in
    so many of their cases, one in so many."""
    runs, exact, false, calls = examples(runs), 0, 0, 0
    for seed in range(runs):
        rules, cost = mined(truth, wrong, how, seed, logged=logged)
        exact += rules == truth.rules
        false += not all(map(truth.is_rule, rules))
        calls += cost
    return Outcome(exact / runs, false / runs, calls / runs)


def mined(
    truth: Truth, wrong: float, how: Settings, seed: int, *, logged: bool
) -> tuple[frozenset[frozenset[int]], int]:
    """The rules of one run, and its replays. Without a logged answer the baseline is asked for as well,
    as unreliably as everything else, and what matters is whether the answer stays the same."""
    draw, asked = random.Random(seed), 0

    async def replay(_question: str, sources: Sequence[Source]) -> str:
        nonlocal asked
        asked += 1
        holds = truth.holds(frozenset(int(source.id) for source in sources))
        return "yes" if holds != (draw.random() < wrong) else "no"

    settings = replace(how, rules="retention", concurrency=1, check_repeatable=False, seed=seed)
    explainer = Explainer(
        replay, settings=settings, predicate=contains("yes") if logged else same_answer()
    )
    sources = [Source(str(n), f"text {n}") for n in range(truth.size)]
    explanation = explainer.explain("?", sources, "yes" if logged else None)
    return frozenset(frozenset(map(int, rule.sources)) for rule in explanation.rules), asked
