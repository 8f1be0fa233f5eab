"""Conditions that are harder to see through than a pair, at drawn places: their rules are known, as they
are made from them. Most of a record's sources are in none of them."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from rag_rule_explainer.lattice import Lattice, Mask
from rag_rule_explainer.rules import RuleKind
from tests.benchmarks.peers.conditions import Condition

DRAWS = 30
"""Records of each."""


@dataclass(frozen=True)
class Hard:
    """``places``: of how many sources it is made. ``made``: from these, what holds, and its minimal
    retention rules."""

    name: str
    places: int
    made: Callable[[Sequence[Mask]], tuple[Callable[[Mask], bool], list[Mask]]]

    def at(self, size: int, seed: int) -> Condition:
        """At places that are drawn."""
        lattice = Lattice(size)
        places = random.Random(seed).sample(range(size), self.places)
        holds, rules = self.made([lattice.bit(place) for place in places])
        return Condition(lattice, holds, {RuleKind.RETENTION: frozenset(rules)})

    def draws(self, size: int) -> list[Condition]:
        """A record for each seed."""
        return [self.at(size, seed) for seed in range(DRAWS)]


def any_of(rules: Sequence[Mask]) -> Callable[[Mask], bool]:
    return lambda mask: any(mask & rule == rule for rule in rules)


def either_pair(bits: Sequence[Mask]) -> tuple[Callable[[Mask], bool], list[Mask]]:
    a, b, c, d = bits
    rules = [a | b, c | d]
    return any_of(rules), rules


def majority(bits: Sequence[Mask]) -> tuple[Callable[[Mask], bool], list[Mask]]:
    rules = [sum(some) for some in combinations(bits, len(bits) // 2 + 1)]
    return any_of(rules), rules


def blocked(bits: Sequence[Mask]) -> tuple[Callable[[Mask], bool], list[Mask]]:
    a, b, spoils, saves = bits
    pair = a | b
    return (
        lambda mask: mask & pair == pair and not (mask & spoils and not mask & saves),
        [pair | saves],
    )


def across_copies(bits: Sequence[Mask]) -> tuple[Callable[[Mask], bool], list[Mask]]:
    a, same_as_a, b, same_as_b = bits
    rules = [one | other for one, other in product((a, same_as_a), (b, same_as_b))]
    return any_of(rules), rules


EITHER = Hard("either of two pairs", 4, either_pair)
MAJORITY = Hard("three of five", 5, majority)
BLOCKED = Hard("a pair, a blocker, and what undoes it", 4, blocked)
COPIES = Hard("a pair of which each has a copy", 4, across_copies)
HARDER = (EITHER, MAJORITY, BLOCKED, COPIES)
