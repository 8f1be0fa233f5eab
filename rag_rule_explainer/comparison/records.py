"""This module defines the records of a comparison of two explanations, A and B. Changes are described as
if A were the earlier one."""

from dataclasses import dataclass
from typing import Literal

from ..explanation.records import Finding
from ..rules import RuleKind

What = Literal["lost", "gained", "weakened", "strengthened", "changed", "perhaps lost", "perhaps gained"]
Letter = Literal["A", "B"]


@dataclass(frozen=True, slots=True)
class MatchedSource:
    """A ``MatchedSource`` is a source of A, of B, or of both explanations.

    ``name``: the name of the source in the comparison. This name is its id in A. A source that only B
    has is named by its id in B, with a suffix if a different source already has this name. ``a``, ``b``:
    its ids in A and B; None for an explanation that does not have the source. ``edited``: True if its
    texts in A and B differ.
    """

    name: str
    a: str | None
    b: str | None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """A ``Broken`` is a probe that refutes a rule: the rule applies to it, but the condition does not
    hold. ``kept``: the names of the retained sources. ``answer``: the answer that the probe got; None if
    it is not known."""

    kept: tuple[str, ...]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """A ``Change`` is one difference between A and B. Its rules use the names that sources have in the
    comparison.

    ``what``: the kind of change. *lost*: the rule ``before`` of A is not a rule of B, and no rule of B
    contains its sources. *weakened*: the rule ``before`` is not a rule of B, but the rules ``after`` of
    B contain its sources and more; or B has the same rule with weaker evidence. *gained* and
    *strengthened*: the same as *lost* and *weakened*, with A and B exchanged. *changed*: B has the rule
    with a different kind of evidence. *perhaps lost*, *perhaps gained*: one explanation reports the
    rule, and the other neither reports nor denies it; or one of them has the rule only as *unverified*
    or *relative*, which leaves some subsets open.

    ``broken``: a probe that refutes the rule in the explanation that does not report it. ``why``:
    remarks, such as why the change is uncertain, or which sources of the rule are missing or pinned
    (always retained) in the explanation that does not report the rule.
    """

    what: What
    kind: RuleKind
    before: tuple[Finding, ...] = ()
    after: tuple[Finding, ...] = ()
    broken: Broken | None = None
    why: tuple[str, ...] = ()

    @property
    def is_loss(self) -> bool:
        """Returns True iff this change says that a rule of A is certainly not a rule of B."""
        return self.what == "lost" or (self.what == "weakened" and self._is_of_sources)

    @property
    def is_gain(self) -> bool:
        """Returns True iff this change says that a rule of B is certainly not a rule of A."""
        return self.what == "gained" or (self.what == "strengthened" and self._is_of_sources)

    @property
    def is_certain(self) -> bool:
        """Returns False for "perhaps lost" and "perhaps gained", which may or may not be changes; else
        True."""
        return self.what not in {"perhaps lost", "perhaps gained"}

    @property
    def _is_of_sources(self) -> bool:
        """Returns True if the rules before and after the change name different sources; False if they
        name the same sources, and only the evidence differs."""
        weak, strong = (self.after, self.before) if self.what == "weakened" else (self.before, self.after)
        return all(len(larger.sources) > len(strong[0].sources) for larger in weak)


@dataclass(frozen=True, slots=True)
class Unsettled:
    """An ``Unsettled`` says that an explanation may have more rules of one kind than it reports.
    ``side``: "A" or "B". ``why``: the reason."""

    side: Letter
    kind: RuleKind
    why: str
