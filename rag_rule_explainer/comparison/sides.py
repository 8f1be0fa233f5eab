"""This module finds out whether one explanation, A or B, reports a rule, denies it or leaves it open."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..explanation.explanation import Explanation
from ..explanation.records import Finding
from ..explanation.wording import joined
from ..lattice import Mask, bits, minimal, smallest_first
from ..rules import RuleKind
from ..verdicts import Verdict
from .records import Broken, Letter, Unsettled

_LOOK_AT_EVERYTHING = frozenset({"exact", "exhaustive", "confidence"})
"""The names of the miners that have found every rule when their search is complete. So a rule that they
do not report does not exist."""


@dataclass(frozen=True, slots=True)
class Side:
    """A ``Side`` holds the rules of one kind that one explanation (A or B) reports.

    Sets of sources are bit masks over the sources of both explanations. ``names``: for each of the
    explanation's own source ids, the name in the comparison. ``bit_of``: the bit of each name.
    ``units``: the mask of this explanation's sources that are not pinned (always retained). ``rules``:
    the reported rules, by their sources. ``settled``: True if the search was complete. A set of sources
    that contains no reported rule is then certainly no rule, unless the set names only a part of some
    tied sources (sources that the explanation always kept together).
    """

    letter: Letter
    explanation: Explanation
    kind: RuleKind
    names: Mapping[str, str]
    bit_of: Mapping[str, Mask]
    units: Mask = field(init=False)
    rules: Mapping[Mask, Finding] = field(init=False)
    settled: bool = field(init=False)
    _broken: Sequence[tuple[Mask, Broken]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        explanation = self.explanation
        units = self._mask(source.id for source in explanation.sources if not source.pinned)
        retention = self.kind is RuleKind.RETENTION
        found = explanation.retention_rules if retention else explanation.omission_rules
        rules = {
            self._mask(finding.sources): replace(
                finding,
                sources=self._named(finding.sources),
                tied=tuple(self._named(tie) for tie in finding.tied),
            )
            for finding in found
        }
        object.__setattr__(self, "units", units)
        object.__setattr__(self, "rules", dict(sorted(rules.items(), key=_smallest_first)))
        object.__setattr__(self, "settled", self._is_settled())
        object.__setattr__(self, "_broken", sorted(self._non_rules(), key=_smallest_first))

    def within(self, antecedent: Mask) -> tuple[Mask, ...]:
        """Returns the reported rules whose sources are all in ``antecedent``, beginning with the fewest
        sources. Each of these rules implies that ``antecedent`` makes a rule too."""
        return tuple([rule for rule in self.rules if rule & antecedent == rule])

    def beyond(self, antecedent: Mask) -> tuple[Mask, ...]:
        """Returns the reported rules that name all sources of the antecedent and perhaps more; only the
        minimal ones among them."""
        return minimal(rule for rule in self.rules if rule & antecedent == antecedent)

    def broken(self, antecedent: Mask) -> Broken | None:
        """Returns a probe that refutes the rule with this antecedent (set of sources); None if there is
        none. If there are several, it is the one with the fewest additional sources."""
        return next(self.refuting(antecedent), None)

    def refuting(self, antecedent: Mask) -> Iterator[Broken]:
        """Yields the probes that refute a rule with this antecedent, those with the fewest other sources
        first."""
        return (probe for wider, probe in self._broken if wider & antecedent == antecedent)

    def saw_hold(self, kept: Iterable[str]) -> bool:
        """Returns True iff a probe of this explanation retained exactly these sources, and the condition
        held. ``kept``: the names of the sources in the comparison."""
        wanted = {*kept}
        return any(
            {*self._named(probe.kept)} == wanted
            for probe in self.explanation.probes
            if (judged := probe.verdicts.get(self.kind)) and judged.verdict is Verdict.HOLDS
        )

    def denies(self, antecedent: Mask) -> bool:
        """Returns True iff these sources (the antecedent), which no reported rule has, certainly make no
        rule, because the search was complete. The explanation need not have a probe that refutes the
        rule."""
        return self.settled and self._split(antecedent) is None

    def why_open(self, antecedent: Mask) -> str:
        """Returns the reason why these sources (the antecedent), which no reported rule has, may still
        make a rule; an empty text if they certainly make none."""
        if split := self._split(antecedent):
            return f"{joined(self._named(split))} were tied in {self.letter}, never one without the rest"
        open_here = [
            entry
            for entry in self.explanation.unresolved
            if entry.kind is self.kind and self._antecedent(entry.kept) & antecedent == antecedent
        ]
        if open_here:
            first = open_here[0]
            kept = joined(self._named(first.kept)) or "no sources"
            more = f", and {len(open_here) - 1} more" if len(open_here) > 1 else ""
            return f"{self.letter} has no verdict with {kept} retained: {first.reason}{more}"
        return self.why_unsettled

    @property
    def why_unsettled(self) -> str:
        """Returns the reason why the explanation may have more rules than it reports; an empty text if
        it certainly has none."""
        if not self.explanation.complete:
            return f"{self.letter} is not complete: {self.explanation.why_incomplete or 'it stopped'}"
        return f"not found again in {self.letter}, whose miner does not look at every subset"

    def unsettled(self) -> Iterator[Unsettled]:
        """Yields an ``Unsettled`` if the explanation may have more rules than it reports."""
        if not self.settled:
            yield Unsettled(self.letter, self.kind, self.why_unsettled)

    def why_missing(self, antecedent: Mask) -> Iterator[str]:
        """Yields remarks on those sources of the antecedent (the sources of a rule) that this explanation
        does not have, or has pinned (always retained)."""
        here = set(self.names.values())
        names = self._names_of(antecedent & ~self.units)
        absent = [name for name in names if name not in here]
        pinned = [name for name in names if name in here]
        for listed, why in ((absent, "not among the sources of"), (pinned, "pinned in")):
            if listed:
                yield f"{joined(listed)} {'is' if len(listed) == 1 else 'are'} {why} {self.letter}"

    def _names_of(self, mask: Mask) -> tuple[str, ...]:
        """Returns the names of the sources in a mask, in the order of the comparison."""
        wanted = set(bits(mask))
        return tuple(name for name, bit in self.bit_of.items() if bit in wanted)

    def _split(self, antecedent: Mask) -> tuple[str, ...] | None:
        """Returns the ids of tied sources (always kept together) of which the antecedent names some but
        not all. If there are several such ties, returns the first; if there are none, returns None."""
        ties = ((tie.sources, self._mask(tie.sources)) for tie in self.explanation.ties)
        return next((ids for ids, mask in ties if antecedent & mask not in {0, mask}), None)

    def _is_settled(self) -> bool:
        explanation = self.explanation
        if explanation.miner.name not in _LOOK_AT_EVERYTHING:
            return False
        # Each unresolved subset is listed with its kind of rule. If some are listed, but none with this
        # kind, then the search for this kind is complete.
        left_open = {entry.kind for entry in explanation.unresolved}
        return explanation.complete or (bool(left_open) and self.kind not in left_open)

    def _non_rules(self) -> Iterator[tuple[Mask, Broken]]:
        """Yields the antecedents (sets of sources) that a probe refuted, each with the probe. If the
        explanation did not keep the probe itself, yields its short record (witness) instead."""
        if self.explanation.min_confidence < 1:
            return  # a rule that may break on some subsets is not refuted by one probe
        known = self.names.keys()
        broken: dict[Mask, Broken] = {}
        for witness in self.explanation.witnesses:
            if witness.kind is self.kind and known >= set(witness.kept):
                broken[self._antecedent(witness.kept)] = Broken(self._named(witness.kept), witness.answer)
        for probe in self.explanation.probes:
            judged = probe.verdicts.get(self.kind)
            if judged is not None and judged.verdict is Verdict.BREAKS:
                answer = probe.answers[0].shown if probe.answers else None
                broken[self._antecedent(probe.kept)] = Broken(self._named(probe.kept), answer)
        yield from broken.items()

    def _antecedent(self, kept: Iterable[str]) -> Mask:
        """Returns the sources that a rule may name if it applies to a subset: for retention rules, those
        that the subset retains; for omission rules, those that it omits. Pinned sources are left out.
        ``kept``: the ids of the sources that the subset retains."""
        mask = self._mask(kept)
        return mask if self.kind is RuleKind.RETENTION else self.units & ~mask

    def _mask(self, ids: Iterable[str]) -> Mask:
        mask = 0
        for identity in ids:
            mask |= self.bit_of.get(self.names.get(identity, ""), 0)
        return mask

    def _named(self, ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(self.names.get(identity, identity) for identity in ids)


def _smallest_first(entry: tuple[Mask, object]) -> tuple[int, int]:
    return smallest_first(entry[0])
