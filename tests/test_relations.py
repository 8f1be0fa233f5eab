"""Rules of one condition are called absolute or relative by the definition of the other kind."""

import random
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Explanation, Noise, Source, equals
from rag_rule_explainer.rules import RuleKind
from tests.representing import some

Holding = Collection[frozenset[str]]
"""The subsets on which the condition holds."""


def subsets_of(names: str) -> list[frozenset[str]]:
    return [frozenset(each) for size in range(len(names) + 1) for each in combinations(names, size)]


def share(kind: RuleKind, named: frozenset[str], holding: Holding, names: str) -> float:
    """Of the subsets that such a rule speaks about, on how many the condition holds."""
    about = [
        each
        for each in subsets_of(names)
        if (each >= named if kind is RuleKind.RETENTION else not each & named)
    ]
    return sum(each in holding for each in about) / len(about)


def explained(holding: Holding, names: str, **settings: Any) -> Explanation:
    def replay(_: str, sources: Sequence[Source]) -> str:
        return "yes" if frozenset(source.id for source in sources) in holding else "no"

    same = {"predicate": equals("yes"), "omission_predicate": equals("yes")}
    sources = [Source(name, f"text {name}") for name in names]
    return Explainer(replay, **same, **settings).explain("?", sources)


def told(explanation: Explanation, holding: Holding, names: str, least: float) -> Iterator[Any]:
    """What each rule is called, and what it is."""
    for rule in explanation.rules:
        (other,) = set(RuleKind) - {rule.kind}
        is_rule = share(other, frozenset(rule.sources), holding, names) >= least
        yield rule.relation, "absolute" if is_rule else "relative"


@pytest.mark.parametrize("first", some(range(8), 4))
def test_of_every_condition_on_three_sources_each_rule_is_called_what_it_is(first: int) -> None:
    """One in twelve was called relative, though a smaller rule of the other kind is inside it."""
    for function in range(first, 256, 8):
        holding = {each for place, each in enumerate(subsets_of("ABC")) if function >> place & 1}
        for called, true in told(explained(holding, "ABC"), holding, "ABC", 1):
            assert called == true


@pytest.mark.parametrize(
    ("settings", "least"),
    [
        pytest.param({"noise": Noise(min_confidence=0.6)}, 0.6, id="confident"),
        pytest.param({"miner": "grouped", "limits": 12}, 1, id="grouped, stopped"),
        pytest.param({"miner": "sampled", "limits": 14}, 1, id="sampled, stopped"),
    ],
)
def test_what_is_not_certain_makes_no_rule_absolute(settings: dict[str, Any], least: float) -> None:
    """A rule with a confidence, or an unverified one, says nothing of more sources than its own."""
    draw = random.Random(1)
    names, called = "ABCD", list[Any]()
    for _ in range(60):
        often = draw.random()
        holding = {each for each in subsets_of(names) if draw.random() < often}
        called += told(explained(holding, names, **settings), holding, names, least)
    assert any(each for each, _ in called)
    assert [each for each in called if each[0] not in {None, each[1]}] == []
