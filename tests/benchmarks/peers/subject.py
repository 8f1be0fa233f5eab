"""A condition as a method sees it: it counts how often it is asked, and takes its own time apart."""

from collections.abc import Iterable
from time import process_time
from typing import Any

from rag_rule_explainer.lattice import Antecedent, Lattice, Mask
from rag_rule_explainer.rules import RuleKind
from tests.benchmarks.peers.conditions import Condition


class Subject:
    """A condition, and the kind of rule that is asked for.

    Peers know of no kinds. They are asked which sources suffice: to retain, for the condition to hold; to
    omit, for its negation to hold.
    """

    def __init__(self, condition: Condition, kind: RuleKind = RuleKind.RETENTION) -> None:
        self.condition, self.kind = condition, kind
        self.calls = 0
        self.asked = set[Mask]()
        self.seconds = 0.0

    @property
    def lattice(self) -> Lattice:
        return self.condition.lattice

    @property
    def units(self) -> range:
        return range(self.lattice.size)

    def holds(self, retained: Mask) -> bool:
        """The condition itself."""
        started = process_time()
        held = self._holds(retained)
        self.seconds += process_time() - started
        return held

    def suffice(self, units: Iterable[int]) -> bool:
        """Whether just these do."""
        started = process_time()
        held = self._suffices(self.lattice.mask(units))
        self.seconds += process_time() - started
        return held

    def suffices(self, antecedent: Mask) -> bool:
        """Whether just this does."""
        started = process_time()
        held = self._suffices(antecedent)
        self.seconds += process_time() - started
        return held

    def rows(self, rows: Any) -> list[float]:
        """1 for each row of zeros and ones that suffices, else 0."""
        started = process_time()
        held = [
            float(self._suffices(self.lattice.mask(n for n, taken in enumerate(row.tolist()) if taken)))
            for row in rows
        ]
        self.seconds += process_time() - started
        return held

    def _suffices(self, antecedent: Mask) -> bool:
        retained = self.kind.subset(self.lattice, Antecedent(antecedent))
        return self._holds(retained) == (self.kind is RuleKind.RETENTION)

    def _holds(self, retained: Mask) -> bool:
        self.calls += 1
        self.asked.add(retained)
        return self.condition.holds(retained)
