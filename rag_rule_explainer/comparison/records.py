"""The parts of a comparison. A is the explanation before, B the one after."""

from dataclasses import dataclass
from typing import Literal

from ..explanation.records import Finding
from ..rules import RuleKind

What = Literal["lost", "gained", "weakened", "strengthened", "changed", "perhaps lost", "perhaps gained"]
Letter = Literal["A", "B"]


@dataclass(frozen=True, slots=True)
class MatchedSource:
    """This class represents a source of either side, or of both.

    ``name``: what the comparison calls it: its id in A; for one that B alone has, its id there, marked
    where A has that id for another. ``a`` and ``b``: its ids; None on a side that does not have it.
    ``edited``: both sides have it, with different texts.
    """

    name: str
    a: str | None
    b: str | None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """This class represents a probe that shows that a rule is none: what was kept, and what was answered,
    if that is known."""

    kept: tuple[str, ...]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One difference, in the names of the comparison.

    ``lost``: ``before`` is no rule of B, and nothing in B contains it. ``weakened``: it is no rule of B,
    but the larger rules ``after`` are; or it still is one, and rests on less. ``gained`` and
    ``strengthened``: the same, the other way round. ``changed``: the same rule rests on something else.
    ``perhaps …``: the other side does not report the rule, but cannot deny it either. ``broken``: a probe
    of the side without the rule that shows it. ``why``: what else is to be said: why it is not known, or
    which of its sources are none of that side's, or pinned there.
    """

    what: What
    kind: RuleKind
    before: tuple[Finding, ...] = ()
    after: tuple[Finding, ...] = ()
    broken: Broken | None = None
    why: tuple[str, ...] = ()

    @property
    def is_loss(self) -> bool:
        """Returns True iff a rule of A is none of B."""
        return self.what == "lost" or (self.what == "weakened" and self._is_of_sources)

    @property
    def is_gain(self) -> bool:
        """Returns True iff a rule of B is none of A."""
        return self.what == "gained" or (self.what == "strengthened" and self._is_of_sources)

    @property
    def is_certain(self) -> bool:
        """Returns False for what perhaps changed."""
        return self.what not in {"perhaps lost", "perhaps gained"}

    @property
    def _is_of_sources(self) -> bool:
        """Returns True for a smaller rule against larger ones, False for a claim against a claim."""
        weak, strong = (self.after, self.before) if self.what == "weakened" else (self.before, self.after)
        return all(len(larger.sources) > len(strong[0].sources) for larger in weak)


@dataclass(frozen=True, slots=True)
class Unsettled:
    """This class represents a kind of rule of which one side may have more than it reports."""

    side: Letter
    kind: RuleKind
    why: str
