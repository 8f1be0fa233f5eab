"""This module lists the rules that were found but that labels do not imply, the rules that labels imply
but that were not found, and the answers that led to this. Labels say which sources are necessary for the
right answer."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..lattice import Antecedent, Mask
from ..rules import RuleKind
from ..verdicts import Answer, Judgement, Verdict
from .sampling import SampledQuestion
from .scoring import expected, is_implied, mined, voted


class SampledRules(NamedTuple):
    """A ``SampledRules`` holds one sample from which rules are mined: an answer, and the judgement on
    whether the answer is consistent with the truth. ``answer``: None if there is no answer;
    ``judgement`` then gives the reason."""

    answer: Answer | None
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Table:
    """A ``Table`` holds all samples (repeated answers) to one question, by subset. Each subset has the
    same number of samples."""

    asked: SampledQuestion
    samples: Mapping[Mask, Sequence[SampledRules]]

    def votes(self, count: int) -> tuple[Verdict, ...]:
        """Returns for each subset (in the order of the masks) the result of a vote among the first
        ``count`` of its samples."""
        return tuple(
            [
                voted([each.judgement.verdict for each in self.samples[mask][:count]])
                for mask in self.asked.masks
            ]
        )

    def judged(self) -> Iterator[tuple[Answer, Judgement]]:
        """Yields every answer with the judgement on whether it is consistent with the truth."""
        for mask in self.asked.masks:
            yield from ((said, judgement) for said, judgement in self.samples[mask] if said is not None)


_CONSISTENT = {Verdict.HOLDS: True, Verdict.BREAKS: False, Verdict.UNKNOWN: None}


def deviations(table: Table, counts: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yields a record for each rule that is unexpected (found, although labels do not imply it) or
    missing (implied, but not found). ``counts``: for each of these numbers, rules are mined from votes
    of that many samples. A rule has a record if it is unexpected or missing for at least one of the
    numbers.

    The entry ``decided_by`` of a record shows why: the subsets to which the rule applies and whose vote
    contradicts the labels, with all their samples.
    """
    asked, necessary = table.asked, table.asked.necessary
    votes = {count: table.votes(count) for count in counts}
    known = {kind: expected(kind, asked.sources.lattice, necessary) for kind in RuleKind}
    at = defaultdict[tuple[RuleKind, Mask], list[int]](list)
    for count in counts:
        rules = mined(votes[count]).rules
        for kind in RuleKind:
            for rule in rules[kind] ^ known[kind]:
                at[kind, rule].append(count)
    kinds = list(RuleKind)
    for kind, rule in sorted(at, key=lambda each: (kinds.index(each[0]), each[1])):
        yield {
            "question_id": asked.example.id,
            "question": asked.example.question,
            "truth": asked.example.answer,
            "kind": kind.value,
            "deviation": "missing" if rule in known[kind] else "unexpected",
            "rule": list(asked.sources.ids_of(rule)),
            "at_samples": at[kind, rule],
            "necessary": list(asked.example.necessary),
            "sources": [
                {"id": each.id, "title": each.metadata.get("title", ""), "text": each.text}
                for each in asked.sources
            ],
            "decided_by": list(_decided_by(table, kind, rule, {n: votes[n] for n in at[kind, rule]})),
        }


def _decided_by(
    table: Table, kind: RuleKind, rule: Mask, votes: Mapping[int, Sequence[Verdict]]
) -> Iterator[dict[str, Any]]:
    lattice = table.asked.sources.lattice
    for wider in lattice.supersets(rule):
        mask = kind.subset(lattice, Antecedent(wider))
        implied = Verdict.of(is_implied(table.asked.necessary, mask))
        at = [count for count, verdicts in votes.items() if verdicts[mask] is not implied]
        if at:
            yield {
                "kept": list(table.asked.sources.ids_of(mask)),
                "at_samples": at,
                "answers": [_record(each) for each in table.samples[mask]],
            }


def _record(sampled: SampledRules) -> dict[str, Any]:
    answer, judgement = sampled
    return {
        "answer": None if answer is None else answer.text,
        "finish_reason": None if answer is None else answer.finish_reason,
        "note": "" if answer is None else answer.note,
        "consistent": _CONSISTENT[judgement.verdict],
        "reason": judgement.reason,
    }
