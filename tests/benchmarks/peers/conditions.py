"""What the methods are asked about: conditions on subsets of sources, whose rules are known.

A, B and C are those of ten sources: a pair; either of two pairs; a pair with a blocker, which is not
monotone. A pair of more. And HotpotQA's records, as the offline reader answers them.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from rag_rule_explainer import Source
from rag_rule_explainer.lattice import Antecedent, Lattice, Mask, minimal
from rag_rule_explainer.predicates.wording import equivalent
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.testing.reader import read_answer

RECORDS = 20
"""Of each file: the first that the reader answers right on all sources."""
TEN = Lattice(10)


@dataclass(frozen=True)
class Condition:
    """Whether the answer is right, by what is retained; and its minimal rules of either kind."""

    lattice: Lattice
    holds: Callable[[Mask], bool]
    rules: Mapping[RuleKind, frozenset[Mask]]

    def implied(self, kind: RuleKind, antecedent: Mask) -> bool:
        """What is asked about an antecedent: whether the rule's condition holds on its own subset."""
        return self.holds(kind.subset(self.lattice, Antecedent(antecedent))) == (
            kind is RuleKind.RETENTION
        )

    def is_rule(self, kind: RuleKind, antecedent: Mask) -> bool:
        """Whether it is one, minimal or not: validity is closed upwards."""
        return any(rule & antecedent == rule for rule in self.rules[kind])


def known(lattice: Lattice, holds: Callable[[Mask], bool]) -> Condition:
    """By brute force over all subsets, which shares nothing with the miners."""
    rules = {kind: _valid(lattice, kind, holds) for kind in RuleKind}
    return Condition(lattice, holds, rules)


def _valid(lattice: Lattice, kind: RuleKind, holds: Callable[[Mask], bool]) -> frozenset[Mask]:
    wanted = kind is RuleKind.RETENTION
    valid = [holds(kind.subset(lattice, Antecedent(mask))) == wanted for mask in lattice.masks()]
    for unit in range(lattice.size):
        bit = lattice.bit(unit)
        for mask in lattice.masks():
            valid[mask] &= valid[mask | bit]
    return frozenset(minimal(mask for mask in lattice.masks() if valid[mask]))


def pair_of(size: int) -> Condition:
    lattice = Lattice(size)
    pair = lattice.mask((2, 6))
    alone = frozenset({lattice.bit(2), lattice.bit(6)})
    rules = {RuleKind.RETENTION: frozenset({pair}), RuleKind.OMISSION: alone}
    return Condition(lattice, lambda mask: mask & pair == pair, rules)


def either_pair() -> Condition:
    first, second = TEN.mask((0, 1)), TEN.mask((2, 3))
    return known(TEN, lambda mask: mask & first == first or mask & second == second)


def blocked_pair() -> Condition:
    pair, spoils, saves = TEN.mask((2, 6)), TEN.bit(4), TEN.bit(7)
    return known(TEN, lambda mask: mask & pair == pair and not (mask & spoils and not mask & saves))


@cache
def records(file: Path) -> tuple[Condition, ...]:
    """Near-exact the ground truth, on the sources in the order in which they were published."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(islice(filter(None, map(_answered, map(json.loads, lines))), RECORDS))


def _answered(record: dict[str, Any]) -> Condition | None:
    question: str = record["question"]
    sources = [Source(s["title"], s["text"], {"title": s["title"]}) for s in record["sources"][:10]]

    def is_right(mask: Mask) -> bool:
        passages = [sources[unit].passage for unit in TEN.units(mask)]
        return equivalent(read_answer(question, passages), record["answer"])

    if len(sources) < TEN.size or not is_right(TEN.full):
        return None
    # Read once: all methods share the reader's work.
    return known(TEN, list(map(is_right, TEN.masks())).__getitem__)
