"""This module defines the result of verifying one rule."""

from dataclasses import dataclass, replace

from ..printable import printable, shortened
from ..rules import RuleKind
from .explanation import Explanation
from .in_notebooks import InNotebooks
from .loose_judging import loosely_judged
from .records import DOUBTED, Finding, Witness
from .wording import FAILS, joined, named_units, phrase


@dataclass(frozen=True, slots=True)
class Verification(InNotebooks):
    """A ``Verification`` says whether one rule holds, and holds the evidence. Its truth value is ``holds
    is True``.

    ``kind``, ``sources``: the verified rule. ``sources`` are in the order in which they were shown, with
    the near-duplicates that are tied to them. ``explanation``: the rule, if it held, or the probes that
    break it, with all evidence. The explanation is never ``complete``, because no other rule was
    searched for.
    """

    kind: RuleKind
    sources: tuple[str, ...]
    explanation: Explanation

    @property
    def finding(self) -> Finding | None:
        """Returns the rule with its evidence. Returns None if a probe breaks the rule, or if the
        condition did not hold on the subset with only the rule's sources retained (or omitted).

        The claim is *proved* if the condition held on every subset to which the rule applies. The claim
        is *unverified* if the verification ended before the rule was decided, or if the judge got
        several answers in one request.
        """
        return next(iter(self.explanation.rules), None)

    @property
    def witness(self) -> Witness | None:
        """Returns a probe that breaks the rule; None if there is none."""
        found = next(iter(self.explanation.witnesses), None)
        return found and replace(found, sources=self.sources)

    @property
    def holds(self) -> bool | None:
        """Returns False if a probe breaks the rule, and True if the condition held on all subsets that
        had to be tried. Returns None if neither is known: the verification was stopped, the replays
        cannot be trusted (``explanation.doubted``), or the judge got several answers in one request."""
        if self._distrusted:
            return None
        if self.witness is not None:
            return False
        return True if self.finding is not None and self.finding.claim != "unverified" else None

    def __bool__(self) -> bool:
        return self.holds is True

    def __repr__(self) -> str:
        return f"<Verification: {shortened(str(self), 400)}>"

    def __str__(self) -> str:
        ties = [tie.sources for tie in self.explanation.ties]
        named, witness = phrase(named_units(self.sources, ties)) or "nothing", self.witness
        if witness is not None and not self._distrusted:
            kept = joined(witness.kept) or "no sources"
            said = (
                ""
                if witness.answer is None
                else f", where the answer was {shortened(witness.answer, 80)!r}"
            )
            doing = "retaining" if self.kind is RuleKind.RETENTION else "omitting"
            return f"broken: {doing} {named} {FAILS[self.kind]} with {kept} retained{said}"
        if self.holds and self.finding is not None:
            return f"held: {self.finding}"
        return f"undecided: {self.finding or named}: {printable(self._why_undecided)}"

    @property
    def _distrusted(self) -> str:
        """Returns the reason why the probes decide nothing about the rule, such as that the replays
        cannot be trusted; empty if there is none."""
        if self.explanation.doubted:
            return DOUBTED
        return loosely_judged(self.explanation.warnings)

    @property
    def _why_undecided(self) -> str:
        left_open = self.explanation.unresolved
        if self._distrusted and (self.witness is not None or not left_open):
            broke = "it was seen to break, but " if self.witness is not None else ""
            return f"{broke}{self._distrusted}"
        if not left_open:
            return self.explanation.stop_reason
        subsets = "1 subset has" if len(left_open) == 1 else f"{len(left_open)} subsets have"
        return f"{subsets} no verdict: {left_open[0].reason}"
