"""This module defines the parts of a comparison of explanation A, the earlier one, with explanation B."""

from dataclasses import dataclass
from typing import Literal

from ..explanation.records import Finding
from ..rules import RuleKind

What = Literal["lost", "gained", "weakened", "strengthened", "changed", "perhaps lost", "perhaps gained"]
Letter = Literal["A", "B"]


@dataclass(frozen=True, slots=True)
class MatchedSource:
    """A ``MatchedSource`` is a source of one side or of both. ``name``: its name in the comparison:
    its id in A, or its id in B, marked if A uses that id for another source. ``a`` and ``b``: its ids;
    None on a side that does not have it. ``edited``: True if both sides have it with different texts."""

    name: str
    a: str | None
    b: str | None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """A ``Broken`` is a probe that refutes a rule. ``kept``: the retained sources. ``answer``: None if
    unknown."""

    kept: tuple[str, ...]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """A ``Change`` is one difference, in the comparison's names of sources.

    ``lost``: ``before`` is not a rule of B, and no rule of B contains it. ``weakened``: it is not a rule
    of B, but the larger rules ``after`` are; or it is still a rule with weaker evidence. ``gained`` and
    ``strengthened``: the same from B to A. ``changed``: the same rule has another kind of evidence.
    ``perhaps …``: the other side neither reports nor denies the rule. ``broken``: a probe that refutes
    the rule on the side without it. ``why``: further remarks: why the change is uncertain, or which
    sources the other side does not have or has pinned.
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
        """Returns False for a change that is not certain."""
        return self.what not in {"perhaps lost", "perhaps gained"}

    @property
    def _is_of_sources(self) -> bool:
        """Returns True if larger rules replace a smaller one or the reverse; False if only the evidence
        differs."""
        weak, strong = (self.after, self.before) if self.what == "weakened" else (self.before, self.after)
        return all(len(larger.sources) > len(strong[0].sources) for larger in weak)


@dataclass(frozen=True, slots=True)
class Unsettled:
    """An ``Unsettled`` is a kind of rule of which one side may have more rules than it reports."""

    side: Letter
    kind: RuleKind
    why: str
