"""Conditions on masks that tests of miners share."""

import random
from collections.abc import Callable, Sequence

from rag_rule_explainer.lattice import Mask
from rag_rule_explainer.rules import RuleKind

Condition = Callable[[Mask], bool]


def any_of(rules: set[Mask], kind: RuleKind) -> Condition:
    retention = kind is RuleKind.RETENTION
    return lambda mask: any(mask & rule == (rule if retention else 0) for rule in rules)


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
