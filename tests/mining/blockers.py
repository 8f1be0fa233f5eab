"""Conditions that are not monotone, and how far what is reported of them is from a rule."""

import random
from collections.abc import Callable, Sequence
from math import comb

from rag_rule_explainer.lattice import Lattice, Mask

Condition = Callable[[Mask], bool]


def blocked(draw: random.Random, size: int) -> Condition:
    """One to three rules, each with up to two blockers: sources that spoil it, unless others are kept."""
    units = range(size)
    rules = list[tuple[Mask, list[tuple[Mask, Mask]]]]()
    for _ in range(draw.randint(1, 3)):
        rule = set(draw.sample(units, draw.randint(1, 3)))
        blockers = list[tuple[Mask, Mask]]()
        for _ in range(draw.randint(0, 2)):
            others = draw.sample([unit for unit in units if unit not in rule], draw.randint(1, 3))
            spoiling = draw.randint(1, len(others))
            blockers.append((_mask(others[:spoiling]), _mask(others[spoiling:])))
        rules.append((_mask(rule), blockers))

    def holds(mask: Mask) -> bool:
        return any(
            mask & rule == rule
            and not any(mask & spoils == spoils and not mask & saves for spoils, saves in blockers)
            for rule, blockers in rules
        )

    return holds


def _mask(units: Sequence[int] | set[int]) -> Mask:
    return sum(1 << unit for unit in units)


def violation(lattice: Lattice, rule: Mask, holds: Condition) -> float:
    """The chance that a random superset breaks it, by the very distribution that is stated."""
    free = lattice.size - rule.bit_count()
    by_size = [0] * (free + 1)
    for wider in lattice.supersets(rule):
        by_size[(wider ^ rule).bit_count()] += not holds(wider)
    uniform = sum(by_size) / 2**free
    return (uniform + sum(n / comb(free, size) for size, n in enumerate(by_size)) / (free + 1)) / 2
