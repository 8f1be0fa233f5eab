"""PoisonedRAG's texts that change the offline reader's answer: whom each method blames."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_rule_explainer.lattice import Lattice, Mask
from tests.benchmarks.peers.conditions import Condition
from tests.benchmarks.peers.scores import leave_one_out, shap_permutation
from tests.benchmarks.peers.subject import Subject
from tests.benchmarks.ratios import STUDIES
from tests.test_poisoned_answers import Incident, incident, reader

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
TITLE = "PoisonedRAG texts that change the offline reader's answer: who is blamed"
HEADING = ("method", "answers changed", "an attack is blamed", "precision", "recall", "replays")


@pytest.fixture(scope="module")
def incidents(real_data: Path) -> list[Incident]:
    lines = (real_data / "poisonedrag_hotpotqa_context.jsonl").read_text(encoding="utf-8").splitlines()
    found = (incident(json.loads(line), 1 + n % 5, n) for n, line in enumerate(lines))
    return [each for each in found if each is not None]


def as_condition(each: Incident) -> Condition:
    """Whether the answer stays the same; its rules are not known."""
    lattice = Lattice(len(each.sources))

    def same(mask: Mask) -> bool:
        shown = [each.sources[unit] for unit in lattice.units(mask)]
        return reader(each.explanation.question, shown) == each.explanation.baseline.text

    return Condition(lattice, same, {})


def by_rules(each: Incident, subject: Subject) -> frozenset[str]:
    for probe in each.explanation.probes:
        subject.suffice(n for n, source in enumerate(each.sources) if source.id in probe.kept)
    return each.blamed


def by_leaving_out(each: Incident, subject: Subject) -> frozenset[str]:
    scores = leave_one_out(subject, 0)
    return frozenset(source.id for source, score in zip(each.sources, scores, strict=True) if score)


def by_shap(each: Incident, subject: Subject) -> frozenset[str]:
    """As many of the highest scores as the rules name sources, for about as many replays."""
    times = max(1, round(each.explanation.counts.probes / (2 * len(each.sources) + 1)))
    scores = shap_permutation(subject, 0, times)
    highest = sorted(subject.units, key=lambda n: -scores[n])[: len(each.blamed)]
    return frozenset(each.sources[n].id for n in highest if scores[n] > 1e-9)


BLAMERS: dict[str, Callable[[Incident, Subject], frozenset[str]]] = {
    "rules, sampled": by_rules,
    "leave one out": by_leaving_out,
    "shap, permutation": by_shap,
}


@pytest.mark.parametrize("name", BLAMERS)
def test_attack_texts(name: str, incidents: list[Incident]) -> None:
    """Rules, leaving one out, and SHAP for as many replays and as many sources."""
    rightly = blamed = attacks = hit = replays = 0
    for each in incidents:
        subject = Subject(as_condition(each))
        names = BLAMERS[name](each, subject)
        hit += bool(names & each.attacks)
        rightly, blamed = rightly + len(names & each.attacks), blamed + len(names)
        attacks, replays = attacks + len(each.attacks), replays + len(subject.asked)
    shares = f"{rightly / max(blamed, 1):.2f}", f"{rightly / attacks:.2f}"
    row = (name, str(len(incidents)), str(hit), *shares, f"{replays / len(incidents):.0f}")
    STUDIES.setdefault(TITLE, [HEADING]).append(row)
