"""The rules that are printed, beside brute force over the same stored answers."""

from collections.abc import Sequence
from dataclasses import dataclass

from demos.paper_model.brute_force import judged, minimal_rules
from demos.paper_model.screening import explained, explainer_of, rules_in
from demos.paper_model.subject import Subject
from demos.real_model.asked import Asked
from rag_rule_explainer import Explanation


@dataclass(frozen=True)
class Agreement:
    """``agrees``: the minimal rules of both kinds are the same sets. ``asked_anew``: replays that did not
    come out of the store. ``as_labelled``: the rules are those of a reader who needs the one source and
    nothing else."""

    question: str
    retention: int
    omission: int
    agrees: bool
    asked_anew: int
    as_labelled: bool


def agreement(subject: Subject, questions: Sequence[Asked]) -> list[Agreement]:
    return [compared(subject, asked) for asked in questions]


def compared(subject: Subject, asked: Asked) -> Agreement:
    example = subject.example(asked, subject.inputs.size.sources)
    everything = explained(explainer_of(subject, asked, "exhaustive"), example)
    explanation = explained(explainer_of(subject, asked), example)
    retention, omission = minimal_rules(judged(answers_in(everything), asked.is_right))
    found = set(rules_in(explanation))
    there = {("retention", each) for each in retention} | {("omission", each) for each in omission}
    alone = frozenset([asked.right])
    return Agreement(
        asked.right,
        len(retention),
        len(omission),
        agrees=found == there,
        asked_anew=explanation.counts.replays,
        as_labelled=found == {("retention", alone), ("omission", alone)},
    )


def answers_in(explanation: Explanation) -> dict[frozenset[str], str]:
    return {frozenset(probe.kept): probe.answers[0].text for probe in explanation.probes}
