"""This module checks whether an explanation, which may come from an untrusted file, contradicts
itself."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from ..duplicates import by_source, splits
from ..rules import RuleKind
from ..verdicts import Verdict
from .records import JUDGED_TOGETHER, Finding

if TYPE_CHECKING:  # a runtime import would be circular
    from .explanation import Explanation


def complaints(explanation: "Explanation") -> Iterator[str]:
    """Yields a sentence for each contradiction in an explanation."""
    ids = {source.id for source in explanation.sources}
    if len(ids) != len(explanation.sources):
        yield "two sources have the same id"
    if explanation.complete and (explanation.unresolved or explanation.stop_reason):
        yield "it is marked complete, but something is left open"
    if not all(ids.issuperset(seen.kept) for seen in (*explanation.probes, *explanation.witnesses)):
        yield "a probe kept a source that there is not"
    if not all(map(ids.issuperset, _also_named(explanation))):
        yield "a source is named that there is not"
    yield from _complaints_of_ties(explanation)
    for kind, rules in (
        (RuleKind.RETENTION, explanation.retention_rules),
        (RuleKind.OMISSION, explanation.omission_rules),
    ):
        wrong = _wrong_at_first_sight(explanation, kind, rules, ids)
        yield from [wrong] if wrong else _complaints_of(explanation, kind, rules)


def _wrong_at_first_sight(
    explanation: "Explanation", kind: RuleKind, rules: Sequence[Finding], ids: Set[str]
) -> str:
    """Returns a contradiction that makes it pointless to check the rules one by one; empty if there is
    none."""
    condition = explanation.predicates.get(kind)
    wrong: Mapping[str, Callable[[Finding], object]] = {
        f"a rule of another kind stands among those of {kind.value}": lambda rule: rule.kind is not kind,
        "a rule has another condition than its kind": lambda rule: rule.condition != condition,
        "a rule names a source that there is not": lambda rule: not ids >= {*rule.sources, *rule.kept},
        "a rule is about all other sources, and does not say other than which": lambda rule: (
            rule.with_others and not (rule.kept and rule.claim in {"relative", "unverified"})
        ),
        "a rule is marked proved where the judge saw several answers at once": lambda rule: (
            rule.proved and JUDGED_TOGETHER in explanation.warnings
        ),
        "a rule is relative to a source twice": lambda rule: len({*rule.kept}) != len(rule.kept),
        "a rule names a source that it is not relative to": lambda rule: (
            rule.kept and not {*rule.kept} >= {*rule.sources}
        ),
    }
    if len({frozenset(rule.sources) for rule in rules}) != len(rules):
        return "a rule stands there twice"
    return next((complaint for complaint, is_so in wrong.items() if any(map(is_so, rules))), "")


def _also_named(explanation: "Explanation") -> Iterator[Collection[str]]:
    """Yields the collections of ids that are named outside of probes and rules."""
    yield from (witness.sources for witness in explanation.witnesses)
    yield from (change.sources for change in explanation.counterfactuals)
    yield from (entry.kept for entry in explanation.unresolved)
    yield from ((index.source, *index.tied) for index in explanation.importance)


def _complaints_of_ties(explanation: "Explanation") -> Iterator[str]:
    tied = [identity for tie in explanation.ties for identity in tie.sources]
    free = {source.id for source in explanation.sources if not source.pinned}
    of_source = by_source(explanation.ties)
    if len(of_source) != len(tied):
        yield "a source is tied twice"
    elif not free.issuperset(tied):
        yield "a source is tied that is pinned, or that there is not"
    elif any(splits(of_source, seen.kept) for seen in (*explanation.probes, *explanation.witnesses)):
        yield "a probe kept a source without those that are tied to it"
    elif any(
        splits(of_source, named) for rule in explanation.rules for named in (rule.sources, rule.kept)
    ):
        yield "a rule names a source without those that are tied to it"
    for named in (*explanation.rules, *explanation.counterfactuals):
        if {*named.tied} != {of_source[each].sources for each in named.sources if each in of_source}:
            yield "other sources are said to be tied than are"
    for rule in explanation.rules:
        if rule.tied_beside != len(explanation.ties) - len(rule.tied):
            yield "a rule counts other ties than there are"


def _complaints_of(explanation: "Explanation", kind: RuleKind, rules: Sequence[Finding]) -> Iterator[str]:
    if not rules:
        return
    size = len(explanation.units)
    units = {identity: unit for unit, ids in enumerate(explanation.units) for identity in ids}
    broken = _Broken(explanation, kind, units, size)
    for rule in rules:
        if not units.keys() >= set(rule.sources):
            yield "a rule names a pinned source"
            continue
        antecedent = {units[each] for each in rule.sources}
        beside = (
            frozenset(units[each] for each in rule.kept if each in units) if rule.with_others else None
        )
        named = len(antecedent) + (0 if beside is None else size - len(beside))
        if len(set(rule.sources)) != len(rule.sources):
            yield "a rule names a source twice"
        counts = rule.observed, rule.broken
        if rule.applicable != 1 << (size - named):
            yield "a rule counts other subsets than there are"
        elif min(counts) < 0 or sum(counts) > rule.applicable:
            yield "a rule counts more subsets than there are, or fewer than none"
        if rule.proved and explanation.voted:
            yield "a rule is marked proved where verdicts were come by by votes"
        if rule.broken and rule.claim != "confident":
            yield f"a rule marked {rule.claim} was seen to break"
        if rule.claim != "confident" and not explanation.voted and broken.under(antecedent, beside):
            yield f"a rule marked {rule.claim} is broken by a probe"


class _Broken:
    """This class answers whether a subset that broke lies under an antecedent. It checks all such
    subsets at once: for each unit it holds an integer with one byte per subset, which is 1 where the
    antecedent's kind applies."""

    def __init__(
        self, explanation: "Explanation", kind: RuleKind, units: Mapping[str, int], size: int
    ) -> None:
        self._size, self._kind = size, kind
        seen: dict[bytes, Verdict] = {}
        for witness in explanation.witnesses:
            if witness.kind is kind:
                seen[self._row(witness.kept, units)] = Verdict.BREAKS
        for probe in explanation.probes:
            if kind in probe.verdicts:
                # The verdict of a probe takes precedence over a witness of the same subset.
                seen[self._row(probe.kept, units)] = probe.verdicts[kind].verdict
        rows = [row for row, verdict in seen.items() if verdict is Verdict.BREAKS]
        self._count, self._rows = len(rows), b"".join(rows)
        self._columns: dict[int, int] = {}
        self._outside: dict[frozenset[int], int] = {}

    def under(self, antecedent: Iterable[int], beside: frozenset[int] | None) -> bool:
        """Returns True iff a subset that broke contains the antecedent and, if ``beside`` is given, all
        units outside it."""
        left = self._all if beside is None else self._outside_of(beside)
        for unit in antecedent:
            if not left:
                break
            left &= self._column(unit)
        return left != 0

    @property
    def _all(self) -> int:
        return int.from_bytes(b"\1" * self._count, "little")

    def _outside_of(self, kept: frozenset[int]) -> int:
        # All rules of one batch share the same ``kept``, so the result is cached.
        if kept not in self._outside:
            left = self._all
            for unit in range(self._size):
                if unit not in kept:
                    left &= self._column(unit)
            self._outside[kept] = left
        return self._outside[kept]

    def _column(self, unit: int) -> int:
        if unit not in self._columns:
            self._columns[unit] = int.from_bytes(self._rows[unit :: self._size + 1], "little")
        return self._columns[unit]

    def _row(self, kept: Sequence[str], units: Mapping[str, int]) -> bytes:
        retained = self._kind is RuleKind.RETENTION
        row, size = bytearray((b"\1", b"\0")[retained] * (self._size + 1)), self._size
        # Pinned sources are no units: they share the last position, which is then cleared.
        for each in kept:
            row[units.get(each, size)] = retained
        row[size] = 0
        return bytes(row)
