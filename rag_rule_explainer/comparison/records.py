"""This module defines the records in a comparison of two explanations: A, the earlier one, and B."""

from dataclasses import dataclass
from typing import Literal

from ..explanation.records import Finding
from ..rules import RuleKind

What = Literal["lost", "gained", "weakened", "strengthened", "changed", "perhaps lost", "perhaps gained"]
Letter = Literal["A", "B"]


@dataclass(frozen=True, slots=True)
class MatchedSource:
    """A ``MatchedSource`` is a source of A, of B, or of both explanations.

    ``name``: its name in the comparison. This is its id in A. For a source of B alone, it is its id in B,
    with a suffix if another source already has that name. ``a``, ``b``: its ids in the two explanations;
    None where it does not occur. ``edited``: True if its texts in A and B differ.
    """

    name: str
    a: str | None
    b: str | None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """A ``Broken`` is a probe that refutes a rule. ``kept``: the ids of the retained sources.
    ``answer``: the answer that the probe got; None if it is not known."""

    kept: tuple[str, ...]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """A ``Change`` is one difference between A and B. Its rules use the names of sources in the
    comparison.

    ``what``: the sort of change. *lost*: the rule ``before`` of A is not a rule of B, and no rule of B
    contains it. *weakened*: it is not a rule of B, but the rules ``after`` of B contain it; or both
    report it and B has weaker evidence. *gained* and *strengthened*: as *lost* and *weakened*, with A and
    B exchanged. *changed*: B has the rule with another kind of evidence. *perhaps lost*, *perhaps
    gained*: the explanation without the rule does not deny it either. ``broken``: a probe that refutes
    the rule in the explanation without it. ``why``: remarks, such as why the change is uncertain, or
    which sources the other explanation does not have or has pinned.
    """

    what: What
    kind: RuleKind
    before: tuple[Finding, ...] = ()
    after: tuple[Finding, ...] = ()
    broken: Broken | None = None
    why: tuple[str, ...] = ()

    @property
    def is_loss(self) -> bool:
        """Returns True iff a rule of A is not a rule of B."""
        return self.what == "lost" or (self.what == "weakened" and self._is_of_sources)

    @property
    def is_gain(self) -> bool:
        """Returns True iff a rule of B is not a rule of A."""
        return self.what == "gained" or (self.what == "strengthened" and self._is_of_sources)

    @property
    def is_certain(self) -> bool:
        """Returns False for a change that is only possible ("perhaps lost", "perhaps gained")."""
        return self.what not in {"perhaps lost", "perhaps gained"}

    @property
    def _is_of_sources(self) -> bool:
        """Returns True if rules with more sources replace a rule with fewer sources, or the other way
        round; False if only the evidence differs."""
        weak, strong = (self.after, self.before) if self.what == "weakened" else (self.before, self.after)
        return all(len(larger.sources) > len(strong[0].sources) for larger in weak)


@dataclass(frozen=True, slots=True)
class Unsettled:
    """An ``Unsettled`` names a kind of rule of which A or B may have more rules than it reports.
    ``side``: "A" or "B". ``why``: the reason."""

    side: Letter
    kind: RuleKind
    why: str
