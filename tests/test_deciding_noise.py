"""Where answers vary: how often a decision is wrong, against the chance that is printed with it."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from rag_rule_explainer import Answer, Explainer, Noise, RuleKind, Sampled, Settings, Source, contains
from rag_rule_explainer.explanation.deciding import MAX_ERROR, Decision, decide_any_rule, decide_rule
from tests.drawing import examples

WRONG = 0.2
"""As many answers come out wrong as ``Noise(margin=0.3)`` allows for."""
RUNS = 300


@dataclass(frozen=True)
class Fickle:
    """An application, and whether a rule of at most ``most`` sources makes it say yes."""

    name: str
    size: int
    holds: Callable[[frozenset[int]], bool]
    most: int
    is_so: bool
    asked: tuple[int, ...]


APPLICATIONS = (
    Fickle("a pair", 5, lambda t: {1, 3} <= t, 2, True, (1, 3)),
    Fickle("one more than asked for", 5, lambda t: {1, 3, 4} <= t, 2, False, (1, 3)),
    Fickle("a lone subset breaks", 5, lambda t: {1, 3} <= t != frozenset({1, 3, 4}), 2, False, (1, 3)),
)
MANY = Fickle("subsets of nine break", 10, lambda t: 0 in t and len(t) != 9, 1, False, (0,))
"""Of the random subsets that are drawn, 5.9 % break: hardly more than the 5 % that a test allows."""
EVERY = Settings(miner="exact", noise=Noise(samples=15, vote="every"))
BORDER = Settings(miner="exact", noise=Noise(samples=9))
TESTED = Settings(miner=Sampled(jointly=True), noise=Noise(samples=9))


def decided(application: Fickle, how: Settings, seed: int) -> tuple[Decision, Decision, bool]:
    """Whether there is a rule, whether the one asked about is one, and whether one is reported."""
    draw = random.Random(seed)

    async def replay(_question: str, sources: Sequence[Source]) -> str:
        holds = application.holds(frozenset(int(source.id) for source in sources))
        return "yes" if holds != (draw.random() < WRONG) else "no"

    fields = {"rules": "retention", "concurrency": 1, "check_repeatable": False, "seed": seed}
    settings = Settings.of(how, fields)  # type: ignore[arg-type] -- values of all kinds
    sources = [Source(str(number), f"text {number}") for number in range(application.size)]
    explainer = Explainer(replay, settings=settings, predicate=contains("yes"))
    explanation = explainer.explain("?", sources, Answer("yes"))
    kind = RuleKind.RETENTION
    return (
        decide_any_rule(explanation, kind, max_size=application.most),
        decide_rule(explanation, kind, map(str, application.asked)),
        any(len(rule.sources) <= application.most for rule in explanation.rules),
    )


@pytest.mark.spread(slow=3)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("application", "how"),
    [(each, how) for each in APPLICATIONS for how in (EVERY, BORDER)] + [(MANY, TESTED)],
    ids=lambda each: each.name if isinstance(each, Fickle) else each.noise.wording,
)
def test_a_decision_is_wrong_as_seldom_as_is_printed(application: Fickle, how: Settings) -> None:
    any_rule, one_rule, naive = 0, 0, 0
    for seed in range(RUNS):
        first, second, reported = decided(application, how, seed)
        any_rule += first.holds not in {None, application.is_so}
        one_rule += second.holds not in {None, application.is_so}
        naive += reported != application.is_so
        for decision in (first, second):
            assert decision.error <= MAX_ERROR
            assert (decision.assuming != "") == (decision.error > 0)
    print(f"\n{application.name}, {how.noise.wording}: wrong {any_rule}, {one_rule}; as reported {naive}")
    assert any_rule <= MAX_ERROR * RUNS
    assert one_rule <= MAX_ERROR * RUNS


@pytest.mark.slow
def test_enough_votes_decide() -> None:
    for application in APPLICATIONS:
        outcomes = [decided(application, EVERY, seed)[:2] for seed in range(examples(100))]
        decisions = [each.holds is not None for pair in outcomes for each in pair]
        assert sum(decisions) >= 0.85 * len(decisions)
