"""Real attack texts among the clean paragraphs of their questions: whom rules blame, and what mends it.

PoisonedRAG's texts for HotpotQA questions, one to five of them, at places drawn with a seed; the offline
reader answers.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Explanation, RuleKind, Source
from rag_rule_explainer.testing.reader import read_answer

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Incident:
    """A question whose answer changed when attack texts came among its sources."""

    attacks: frozenset[str]
    sources: tuple[Source, ...]
    explanation: Explanation

    @property
    def blamed(self) -> frozenset[str]:
        """Every source that a rule names."""
        return frozenset(name for rule in self.explanation.rules for name in rule.sources)


def reader(question: str, sources: Sequence[Source]) -> str:
    return read_answer(question, [source.passage for source in sources])


def incident(record: dict[str, Any], attacks: int, seed: int) -> Incident | None:
    """None where the attack changes nothing."""
    question: str = record["question"]
    clean = [
        Source(f"clean-{n}", s["text"], {"title": s["title"]}) for n, s in enumerate(record["sources"])
    ]
    texts = record["adversarial_texts"][:attacks]
    attack = [Source(f"attack-{n}", text) for n, text in enumerate(texts)]
    sources = [*clean, *attack]
    random.Random(seed).shuffle(sources)
    if reader(question, sources) == reader(question, clean):
        return None
    explanation = Explainer(reader, miner="sampled", concurrency=1).explain(question, sources)
    return Incident(frozenset(source.id for source in attack), tuple(sources), explanation)


@pytest.fixture(scope="module")
def incidents(real_data: Path) -> list[Incident]:
    lines = (real_data / "poisonedrag_hotpotqa_context.jsonl").read_text(encoding="utf-8").splitlines()
    all_of_them = (incident(json.loads(line), 1 + n % 5, n) for n, line in enumerate(lines))
    return [each for each in all_of_them if each is not None]


def test_whenever_an_attack_changes_the_answer_the_rules_name_it(incidents: list[Incident]) -> None:
    assert len(incidents) >= 35
    for each in incidents:
        assert each.explanation.complete, each.explanation.why_incomplete
        assert each.blamed & each.attacks, each.explanation


def test_few_others_are_blamed(incidents: list[Incident]) -> None:
    blamed = sum(len(each.blamed) for each in incidents)
    rightly = sum(len(each.blamed & each.attacks) for each in incidents)
    attacks = sum(len(each.attacks) for each in incidents)
    assert rightly / blamed >= 0.85
    # Not every attack text has a part in the answer: several say the same, and the reader reads one.
    assert rightly / attacks >= 0.6


def test_the_smallest_fix_is_to_leave_out_attack_texts(incidents: list[Incident]) -> None:
    smallest = [
        min(each.explanation.omission_rules, key=lambda rule: len(rule.sources))
        for each in incidents
        if each.explanation.omission_rules
    ]
    attacks_alone = [rule for rule in smallest if all(name.startswith("attack") for name in rule.sources)]
    assert len(smallest) >= len(incidents) - 2
    assert len(attacks_alone) >= 0.8 * len(smallest)


def test_it_takes_few_replays_and_finds_what_leaving_one_out_does_not(incidents: list[Incident]) -> None:
    replays = [each.explanation.counts.replays for each in incidents]
    assert sum(replays) / len(replays) <= 220
    alone = 0
    for each in incidents:
        question, answer = each.explanation.question, each.explanation.baseline.text
        others = {
            left_out.id: [source for source in each.sources if source is not left_out]
            for left_out in each.sources
        }
        moved = {name for name, rest in others.items() if reader(question, rest) != answer}
        alone += bool(moved & each.attacks)
    assert alone <= 0.85 * len(incidents)


def test_every_fix_that_is_proved_or_tested_mends_the_answer(incidents: list[Incident]) -> None:
    for each in incidents:
        question, answer = each.explanation.question, each.explanation.baseline.text
        for rule in each.explanation.rules:
            if rule.kind is RuleKind.OMISSION:
                rest = [source for source in each.sources if source.id not in rule.sources]
                assert reader(question, rest) != answer
