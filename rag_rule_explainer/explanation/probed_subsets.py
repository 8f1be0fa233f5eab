"""This module counts the probes of an explanation to which a rule applies, separately for each
verdict."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, TypeAlias

from ..duplicates import Tied
from ..rules import RuleKind
from ..verdicts import Verdict

if TYPE_CHECKING:  # a runtime import would be circular
    from .explanation import Explanation

MOST_PROBES = 4096
"""The largest number of probes that an explanation keeps: all subsets of 12 sources."""

_Key: TypeAlias = tuple[RuleKind, Verdict]


class ProbedSubsets:
    """A ``ProbedSubsets`` counts the probes of an explanation to which a rule applies.

    All probes are checked at the same time. For each unit there is an integer with one byte for each
    probe; the byte is 1 if the probe retained the unit. So the bitwise AND of the integers of a rule's
    units has a 1 for each probe to which the rule applies.

    ``strange``: a sentence that says what is wrong with the retained sources of a probe, such as that one
    of them occurs twice; empty if nothing is wrong with any probe. ``unshown``: the subsets on which the
    condition breaks according to a witness or a counterfactual, but according to no probe. Each is a pair
    of the kind of rule and the retained units.
    """

    def __init__(self, explanation: "Explanation", tied: Tied, counted: Collection[str]) -> None:
        """Reads the probes of an explanation. ``tied``: its ties. ``counted``: the units that occur in
        any of its rules; ``count`` can be asked about these only."""
        self._places = {unit: place for place, unit in enumerate(counted)}
        self._rows = defaultdict[_Key, bytearray](bytearray)
        self._columns = dict[tuple[_Key, int], int]()
        self._together = dict[tuple[_Key, frozenset[str]], int]()
        self.strange, self._tied = "", tied
        everything = tied.units_of(tuple([source.id for source in explanation.sources]))
        witnessed = {(each.kind, tied.units_of(each.kept)) for each in explanation.witnesses}
        self.unshown = {*witnessed, *_changed(explanation, tied, everything)}
        sizes = {len(kept) for _, kept in self.unshown}
        earlier = dict[int, tuple[str, ...]]()
        for probe in explanation.probes:
            kept = tied.units_of(probe.kept)
            self.strange = self.strange or self._why_strange(probe.kept, kept, everything, earlier)
            row = self._row(kept)
            for kind, judgement in probe.verdicts.items():
                self._rows[kind, judgement.verdict] += row
                if len(kept) in sizes:
                    # The verdict of a probe takes precedence over a witness of the same subset.
                    witnessed.discard((kind, kept))
                    if judgement.verdict is Verdict.BREAKS:
                        self.unshown.discard((kind, kept))
        for kind, kept in witnessed:
            self._rows[kind, Verdict.BREAKS] += self._row(kept)

    def _why_strange(
        self,
        ids: tuple[str, ...],
        kept: frozenset[str],
        everything: frozenset[str],
        earlier: dict[int, tuple[str, ...]],
    ) -> str:
        """Returns a sentence that says what is wrong with the retained sources of a probe, such as that
        one of them occurs twice; empty if nothing is wrong. ``ids``: the ids of these sources. ``kept``:
        their units. ``everything``: the units of all sources. ``earlier``: the ids of the retained
        sources of each earlier probe, by the hash of their units. This method adds the ids of this probe
        to ``earlier``."""
        if not kept <= everything:
            return "a probe kept a source that there is not"
        if self._tied.size_of(kept) != len(ids) or (self._tied.first_of and len({*ids}) != len(ids)):
            return (
                "a probe kept a source twice, or without those that are tied to it"
                if self._tied.first_of
                else "a probe kept a source twice"
            )
        same = earlier.setdefault(hash(kept), ids)
        is_repeated = same is not ids and self._tied.units_of(same) == kept
        return "two probes kept the same sources" if is_repeated else ""

    def count(
        self, kind: RuleKind, verdict: Verdict, named: Collection[str], others: frozenset[str]
    ) -> int:
        """Returns the number of subsets with this verdict that retain (for omission rules: omit) all
        units of ``named`` and of ``others``. A subset of which only a witness is known, and no probe, is
        counted too: its verdict is BREAKS."""
        key = kind, verdict
        left = self._of_all(key, others)
        for unit in named:
            if not left:
                break
            left &= self._column(key, self._places[unit])
        return left.bit_count()

    def _of_all(self, key: _Key, others: frozenset[str]) -> int:
        # Many rules are counted with the same ``others``, so the result is cached.
        if (key, others) not in self._together:
            width = len(self._places) + 1
            left = int.from_bytes(b"\1" * (len(self._rows[key]) // width), "little")
            for unit in others:
                left &= self._column(key, self._places[unit])
            self._together[key, others] = left
        return self._together[key, others]

    def _column(self, key: _Key, place: int) -> int:
        if (key, place) not in self._columns:
            kind, _ = key
            column = self._rows[key][place :: len(self._places) + 1]
            every = b"\1" * len(column) if kind is RuleKind.OMISSION else b""
            retained = int.from_bytes(column, "little")
            self._columns[key, place] = retained ^ int.from_bytes(every, "little")
        return self._columns[key, place]

    def _row(self, kept: frozenset[str]) -> bytes:
        # One more byte is added, so that a row is not empty even if no units are counted. The number of
        # rows then follows from the number of bytes.
        return bytes(map(kept.__contains__, self._places)) + b"\1"


def _changed(
    explanation: "Explanation", tied: Tied, everything: frozenset[str]
) -> Iterator[tuple[RuleKind, frozenset[str]]]:
    """Yields, for each counterfactual of an explanation, its kind of rule and the units that are retained
    after its change. ``everything``: all units."""
    if not explanation.counterfactuals:
        return
    pinned = [source.id for source in explanation.sources if source.pinned]
    for each in explanation.counterfactuals:
        changed = tied.units_of(each.sources)
        yield each.kind, everything - changed if each.change == "removal" else changed.union(pinned)
