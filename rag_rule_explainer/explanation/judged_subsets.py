"""This module reads from an explanation which subsets of its sources have a verdict. It represents sets
of sources as bit masks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..lattice import Lattice, Mask
from ..rules import RuleKind
from ..verdicts import Verdict
from .explanation import Explanation
from .misjudging import Misjudging
from .records import Finding, Witness


@dataclass(frozen=True, slots=True)
class JudgedSubset:
    """A ``JudgedSubset`` is a subset with its verdict.

    ``antecedent``: for retention rules, all sources that the subset retains; for omission rules, all that
    it omits. A rule applies to the subset iff all sources of the rule are among these. ``chance``: an
    upper bound of the chance that a subset is wrongly judged and gets votes as clear as these; 1 if the
    verdict is UNKNOWN.
    """

    antecedent: Mask
    verdict: Verdict
    chance: float
    witness: Witness


@dataclass(slots=True)
class JudgedSubsets:
    """A ``JudgedSubsets`` holds all judged subsets of an explanation, for one kind of rule. Its masks
    have one bit for each source that is not pinned."""

    explanation: Explanation
    kind: RuleKind
    lattice: Lattice = field(init=False)
    free: Sequence[str] = field(init=False)
    noise: Misjudging = field(init=False)
    judged: Sequence[JudgedSubset] = field(init=False)

    def __post_init__(self) -> None:
        self.free = [source.id for source in self.explanation.sources if not source.pinned]
        self.lattice = Lattice(len(self.free))
        self.noise = Misjudging.of(self.explanation)
        self.judged = list(self._judged())

    def _judged(self) -> Iterator[JudgedSubset]:
        kind, seen = self.kind, set[frozenset[str]]()
        witnesses = [witness for witness in self.explanation.witnesses if witness.kind is kind]
        shown = {each.kept: each.answer for each in witnesses}
        for probe in self.explanation.probes:
            judged = probe.verdicts.get(kind)
            if judged is None:
                continue
            seen.add(frozenset(probe.kept))
            chance = self.noise.chance(probe.kept, probe.votes.get(kind), judged.verdict)
            # If the probe has several answers, it does not say which one broke the condition. The answer
            # is then known only if a witness of the same subset has it.
            first = probe.answers[0].shown if len(probe.answers) == 1 else None
            answer, mask = shown.get(probe.kept, first), self.fulfilled(probe.kept)
            witness = Witness(kind, self.ids(mask), probe.kept, answer)
            yield JudgedSubset(mask, judged.verdict, chance, witness)
        chance = self.noise.unseen(held=False)
        for witness in witnesses:
            if frozenset(witness.kept) not in seen:
                yield JudgedSubset(self.fulfilled(witness.kept), Verdict.BREAKS, chance, witness)

    @property
    def is_shared(self) -> bool:
        """Returns True iff a rule need hold only on a share of the subsets to which it applies. Then a
        single subset on which the condition breaks does not refute the rule."""
        return self.explanation.min_confidence < 1

    def applying(self, antecedent: Mask) -> list[JudgedSubset]:
        """Returns the judged subsets to which a rule with this antecedent applies: those that retain
        (for omission rules: omit) all of its sources."""
        return [each for each in self.judged if antecedent & ~each.antecedent == 0]

    def breaking(self, antecedent: Mask) -> list[JudgedSubset]:
        """Returns the subsets that refute a rule with these sources (the antecedent). Returns none if
        ``is_shared``, because a single subset then refutes no rule."""
        if self.is_shared:
            return []
        return [each for each in self.applying(antecedent) if each.verdict is Verdict.BREAKS]

    def seen_whole(self, antecedent: Mask) -> float:
        """Returns an upper bound of the chance that these sources are no rule. It is below 1 only if
        every subset to which the rule would apply was probed, and the condition held on all of them."""
        if self.is_shared or self.splits(antecedent):
            return 1.0
        applying = {each.antecedent: each for each in self.applying(antecedent)}
        held = all(each.verdict is Verdict.HOLDS for each in applying.values())
        is_whole = held and len(applying) == 1 << self._free_units(antecedent)
        return max(each.chance for each in applying.values()) if is_whole else 1.0

    def applicable(self, antecedent: Mask) -> int:
        """Returns an upper bound of the number of verdicts that can be wrong among the subsets to which
        a rule with these sources applies: the number of these subsets, or ``asked()`` if that is
        smaller. The chance that any of them is wrong is at most this number times the chance for a
        single one."""
        return min(1 << self._free_units(antecedent), self.asked())

    def asked(self) -> int:
        """Returns the number of verdicts by which the chance of one wrong verdict must be multiplied.
        The product is an upper bound of the chance that any verdict of the search is wrong.

        Without votes, the number is 1, because verdicts are then taken to be right. With votes, it is
        the number of all subsets, or n(n + 1) if that is smaller, where n is the number of probed
        subsets. n alone is not enough, because earlier votes influence which subsets are probed later.
        """
        count = self.explanation.counts.probes
        return min(2 ** len(self.explanation.units), count * (count + 1)) if self.noise.wrong else 1

    def splits(self, mask: Mask) -> bool:
        """Returns True iff the mask contains a tied source. Tied sources were only retained or omitted
        together, so nothing is known about one of them alone."""
        return any(self.mask(tie.sources) & mask for tie in self.explanation.ties)

    def fulfilled(self, kept: Iterable[str]) -> Mask:
        """Returns the sources that a rule may name if it applies to the subset ``kept``: for retention
        rules the retained sources, for omission rules the omitted ones."""
        mask = self.mask(kept)
        return mask if self.kind is RuleKind.RETENTION else self.lattice.full & ~mask

    def mask(self, ids: Iterable[str]) -> Mask:
        """Returns the mask of the sources with these ids. Pinned sources have no bit and are ignored."""
        wanted = {*ids}
        return self.lattice.mask(place for place, each in enumerate(self.free) if each in wanted)

    def ids(self, mask: Mask) -> tuple[str, ...]:
        """Returns the ids of the sources in a mask."""
        return tuple(self.free[place] for place in self.lattice.units(mask))

    def _free_units(self, antecedent: Mask) -> int:
        named = {*self.ids(antecedent)}
        return sum(named.isdisjoint(unit) for unit in self.explanation.units)


def own_probe(explanation: Explanation, rule: Finding) -> Witness | None:
    """Returns the probe with only the rule's sources retained (or omitted). Returns None if the
    explanation does not contain it. The probe's answer is None if there were several answers."""
    named, retained = {*rule.sources}, rule.kind is RuleKind.RETENTION
    sources = explanation.sources
    kept = {each.id for each in sources if each.pinned or (each.id in named) is retained}
    for probe in explanation.probes:
        if len(probe.kept) == len(kept) and {*probe.kept} == kept:
            answer = probe.answers[0].shown if len(probe.answers) == 1 else None
            return Witness(rule.kind, rule.sources, probe.kept, answer)
    return None
