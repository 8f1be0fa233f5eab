"""The red team: a payload in two halves among adversarial texts, 4, 8 and at most 12 of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from demos.paper_model.screening import Tell
from demos.paper_model.subject import Subject
from rag_rule_explainer.experiments.injections import injections_in
from rag_rule_explainer.experiments.payload import Attack, attack
from rag_rule_explainer.experiments.redteam import APPROACHES, RedteamRow, measure_redteam

STEPS = (2, 4, 8, 12)


@dataclass(frozen=True)
class Attacked:
    """The attacks with one number of sources. ``obeyed``: those whose search came to an end in every way,
    because the answer from all sources has the hash. ``rows``: what each way found. ``why``: why others
    did not come to an end."""

    sources: int
    attacks: int
    obeyed: int
    rows: Sequence[RedteamRow]
    why: Sequence[str]


def attacked(subject: Subject, tell: Tell) -> list[Attacked]:
    found, most = list[Attacked](), subject.inputs.size.most_adversarial
    for count in sorted({*(step for step in STEPS if step < most), most}):
        attacks = attacks_of(subject, count)
        model = subject.examined(f"{count} adversarial sources")
        settings = subject.settings(f"{count} adversarial sources")
        outcome = measure_redteam(attacks, model, settings)
        if outcome.interrupted:
            raise KeyboardInterrupt
        ended = [sum(row.run == run for row in outcome.rows) for run in range(1, len(attacks) + 1)]
        why = sorted({failure.reason for failure in outcome.failures})
        found.append(Attacked(count, len(attacks), ended.count(len(APPROACHES)), outcome.rows, why))
        tell(f"red team: {count} adversarial sources done")
    return found


def attacks_of(subject: Subject, count: int) -> list[Attack]:
    inputs = subject.inputs
    injections = injections_in(inputs.injections) if inputs.injections else None
    runs = range(1, inputs.size.attacks + 1)
    return [attack(count, inputs.seed, run, injections=injections) for run in runs]
