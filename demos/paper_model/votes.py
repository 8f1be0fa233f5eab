"""Rules by 1, 5 and 9 votes at the border, beside those of a majority of many other answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from demos.paper_model.brute_force import Subset, is_rule, minimal_rules
from demos.paper_model.screening import Tell, explained, explainer_of, rules_in
from demos.paper_model.subject import Subject
from demos.real_model.asked import Asked
from rag_rule_explainer import Explanation, Noise

VOTES = (1, 5, 9)
SOURCES = 3


@dataclass(frozen=True)
class Voted:
    """These are the results of one question. ``true``: printed rules that hold on every subset by the
    majority;
    ``false``: printed ones that do not. ``found``: the smallest true rules that were printed; ``there``:
    all of them. ``close``: subsets that the majority decides by less than four to one."""

    question: str
    votes: int
    true: int
    false: int
    found: int
    there: int
    replays: int
    close: int


def by_votes(subject: Subject, questions: Sequence[Asked], tell: Tell) -> list[Voted]:
    rows = list[Voted]()
    for number, asked in enumerate(questions, start=1):
        example = subject.example(asked, SOURCES)
        # The answers that decide what is true are others than those that vote.
        most = Noise(subject.inputs.size.majority, vote="every")
        truth = explained(explainer_of(subject, asked, "exhaustive", most, "truth"), example)
        subject.reach.check()
        shares = right_shares(truth, asked)
        holds = {kept: share >= 0.5 for kept, share in shares.items()}
        close = sum(0.2 < share < 0.8 for share in shares.values())
        for votes in VOTES:
            noise = Noise(votes) if votes > 1 else None
            explanation = explained(explainer_of(subject, asked, noise=noise, purpose="votes"), example)
            rows.append(counted(asked.right, votes, explanation, holds, close))
        tell(f"votes: {number} of {len(questions)} questions")
    return rows


def right_shares(truth: Explanation, asked: Asked) -> dict[Subset, float]:
    """Returns the share of right answers for each subset. Asking ends when the majority cannot change."""
    return {
        frozenset(probe.kept): sum(asked.is_right(answer.text) for answer in probe.answers)
        / len(probe.answers)
        for probe in truth.probes
    }


def counted(
    question: str, votes: int, explanation: Explanation, holds: Mapping[Subset, bool], close: int
) -> Voted:
    printed = set(rules_in(explanation))
    true = {(kind, named) for kind, named in printed if is_rule(named, holds, kind)}
    retention, omission = minimal_rules(holds)
    there = {("retention", each) for each in retention} | {("omission", each) for each in omission}
    counts = explanation.counts
    return Voted(
        question,
        votes,
        true=len(true),
        false=len(printed - true),
        found=len(printed & there),
        there=len(there),
        replays=counts.replays + counts.stored,
        close=close,
    )
