"""This module compares the rules of two explanations. It does not run the application."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ..allowed import brief, checked_function
from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..explanation.records import Finding
from ..explanation.wording import joined
from ..lattice import Lattice, Mask
from ..printable import shortened, type_said
from ..rules import RuleKind
from .comparison import Comparison
from .matching import IdOf, Matching, matched
from .records import Broken, Change, What
from .sides import Side

_STRENGTH = {"proved": 3, "confident": 2, "tested": 2, "voted": 2, "relative": 1, "unverified": 0}
"""The strength of the evidence for each kind of claim. Two kinds with the same number have different
evidence, but neither evidence is weaker than the other."""

_CLAIM_ON_ALL = 2
"""The smallest strength of a claim that covers every subset to which the rule applies. If a claim is
weaker, the rule may not exist. A change that is derived from such a claim is therefore only *perhaps* a
change."""


def diff(a: Explanation, b: Explanation, *, id_of: IdOf | None = None) -> Comparison:
    """Returns the changes from the rules of explanation ``a`` to those of explanation ``b``.

    A rule that only ``a`` reports is *lost* if ``b`` denies it: a probe of ``b`` breaks the rule, or a
    complete exact search of ``b`` did not find it. Otherwise, it is *perhaps lost*. In the same way, a
    rule that only ``b`` reports is *gained* or *perhaps gained*. If a rule names a source that the other
    explanation lacks, only its other sources are compared, and the change says so. An *unverified* or
    *relative* rule may be untrue, so a change that rests on it is only *perhaps* a change. If the
    questions or the pinned sources differ, ``undecided`` says so, and ``fails()`` returns None.

    ``id_of``: a function that returns the identity of a source, such as ``lambda source:
    source.metadata["url"]``. Without it, sources are matched by id and text. The remaining sources are
    matched by id alone (unless the id is only a position, such as D1), and then by text alone.

    Rules of a kind are not compared if only one explanation searched for them, or if the conditions
    differ; ``not_compared`` says why. If a condition compares an answer with the baseline, as
    ``same_answer`` does, this is the baseline of each explanation itself; ``answers`` has both baselines.

    Raises InvalidInput if nothing can be compared, or if sources cannot be matched uniquely.
    """
    _check_given(a, b, id_of)
    not_compared = dict(kinds_left_out(a, b))
    compared = {kind: condition for kind, condition in a.predicates.items() if kind not in not_compared}
    if not compared:
        reasons = "; ".join(f"{kind.value} rules: {why}" for kind, why in not_compared.items())
        raise InvalidInput(f"nothing can be compared ({reasons or 'neither side mined any rules'})")
    matching = matched(a.sources, b.sources, id_of)
    pairs = [_sides(a, b, kind, matching) for kind in compared]
    return Comparison(
        questions=(a.question, b.question),
        answers=(a.baseline.shown, b.baseline.shown),
        sources=matching.sources,
        compared=compared,
        not_compared=not_compared,
        changes=tuple(change for pair in pairs for change in pair.changes()),
        unchanged=sum(pair.unchanged for pair in pairs),
        unsettled=tuple(each for p in pairs for side in (p.a, p.b) for each in side.unsettled()),
        undecided=tuple(_undecided(a, b, matching)),
        warnings=tuple(_warnings(a, b, matching)),
    )


def _check_given(a: Explanation, b: Explanation, id_of: IdOf | None) -> None:
    for side in (a, b):
        if not isinstance(side, Explanation):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass values of other types
            raise InvalidInput(
                f"diff compares explanations, and was given {type_said(side)}, {brief(side)};"
                " give two of class Explanation, such as Explanation.model_validate_json(text) reads"
            )
    if id_of is not None:
        checked_function("id_of", id_of, "a function from a source to what it is known by")


@dataclass(frozen=True, slots=True)
class _Pair:
    """A ``_Pair`` holds the rules of one kind (retention or omission) that each of the two explanations
    reports."""

    a: Side
    b: Side

    @property
    def unchanged(self) -> int:
        """Returns the number of rules that both explanations report with equally strong evidence."""
        both = self.a.rules.keys() & self.b.rules.keys()
        return sum(_change_in(self.a.rules[rule], self.b.rules[rule]) is None for rule in both)

    def changes(self) -> Iterator[Change]:
        """Yields the changes: first the changes of A's rules, then the rules that only B has."""
        yield from _missed(self.a, self.b)
        for rule, before in self.a.rules.items():
            after = self.b.rules.get(rule)
            what = after and _change_in(before, after)
            if after and what:
                yield Change(what, before.kind, (before,), (after,))
        yield from map(_mirrored, _missed(self.b, self.a))


def _sides(a: Explanation, b: Explanation, kind: RuleKind, matching: Matching) -> _Pair:
    lattice = Lattice(len(matching.sources))
    bit_of = {source.name: lattice.bit(place) for place, source in enumerate(matching.sources)}
    return _Pair(
        Side("A", a, kind, matching.names["A"], bit_of),
        Side("B", b, kind, matching.names["B"], bit_of),
    )


def _missed(own: Side, other: Side) -> Iterator[Change]:
    """Yields a change, such as "lost" or "weakened", for each rule that ``own`` reports and ``other``
    does not. If ``own`` is the later explanation, ``_mirrored`` turns these changes into "gained" and so
    on."""
    for rule, finding in own.rules.items():
        if rule in other.rules:
            continue
        shared = rule & other.units
        weak, within = _is_weak(finding), other.within(shared)
        strong = tuple(each for each in within if weak or not _is_weak(other.rules[each]))
        if strong:
            # ``other`` has a rule with only some of these sources. The smaller rule implies this one, so
            # nothing is lost. If ``own`` lacks the smaller rule, that is reported as a change of its
            # own.
            yield from _less_certain(finding, strong, own, other)
            continue
        broken, why = other.broken(shared), tuple(other.why_missing(rule))
        if broken is None and (within or not other.denies(shared)):
            instead = tuple(other.rules[each] for each in within[:1])
            open_there = () if instead else (other.why_open(shared),)
            yield Change("perhaps lost", own.kind, (finding,), instead, why=(*why, *open_there))
            continue
        if weak and not _is_refuted(finding, own, other.refuting(shared)):
            unsure = f"{own.letter} does not claim it for all subsets"
            yield Change("perhaps lost", own.kind, (finding,), broken=broken, why=(*why, unsure))
            continue
        beyond = (other.rules[each] for each in other.beyond(rule) if not weak)
        larger = tuple(each for each in beyond if not _is_weak(each))
        what: What = "weakened" if larger else "lost"
        yield Change(what, own.kind, (finding,), larger, broken, why)


def _is_weak(finding: Finding) -> bool:
    return _STRENGTH[finding.claim] < _CLAIM_ON_ALL


def _is_refuted(finding: Finding, own: Side, refuting: Iterable[Broken]) -> bool:
    """Returns True iff the other explanation refutes a rule whose claim is relative.

    This is the case if both explanations replayed the same subset, and the condition held in ``own`` but
    not in the other. A relative claim says nothing about other subsets, so these cannot refute it.
    ``refuting``: the probes of the other explanation on which the condition did not hold.
    """
    return finding.claim == "relative" and any(own.saw_hold(each.kept) for each in refuting)


def _less_certain(finding: Finding, within: tuple[Mask, ...], own: Side, other: Side) -> Iterator[Change]:
    best = max(within, key=lambda rule: _STRENGTH[other.rules[rule].claim])
    after = other.rules[best]
    if best in own.rules and _STRENGTH[after.claim] < _STRENGTH[finding.claim]:
        yield Change("weakened", own.kind, (finding,), (after,))


_MIRRORED: Mapping[What, What] = {
    "lost": "gained",
    "weakened": "strengthened",
    "perhaps lost": "perhaps gained",
}


def _mirrored(change: Change) -> Change:
    """Returns the same change, described as if A and B were exchanged: "lost" becomes "gained", and the
    rules before the change become the rules after it."""
    what = _MIRRORED[change.what]
    return Change(what, change.kind, change.after, change.before, change.broken, change.why)


def _change_in(before: Finding, after: Finding) -> What | None:
    """Returns the change in the evidence of a rule that both explanations report; None if the evidence is
    equally strong."""
    first, second = _STRENGTH[before.claim], _STRENGTH[after.claim]
    if min(first, second) < _CLAIM_ON_ALL:
        return None if first == second else "perhaps lost" if second < first else "perhaps gained"
    if first == second and before.claim != after.claim:
        return "changed"
    was, now = (first, _share(before)), (second, _share(after))
    return None if was == now else "weakened" if now < was else "strengthened"


def _share(finding: Finding) -> Fraction:
    """Returns the share of the replayed subsets on which the rule held; 0 if none was replayed."""
    tried = finding.observed + finding.broken
    return Fraction(finding.observed, tried) if tried else Fraction(0)


def kinds_left_out(a: Explanation, b: Explanation) -> Iterator[tuple[RuleKind, str]]:
    """Yields the kinds of rules that cannot be compared, each with the reason."""
    for kind in RuleKind:
        first, second = a.predicates.get(kind), b.predicates.get(kind)
        if first is None and second is None:
            continue
        if first is None or second is None:
            yield kind, f"only {'A' if second is None else 'B'} mined them"
        elif a.min_confidence != b.min_confidence:
            yield (
                kind,
                f"their minimum confidences differ: {a.min_confidence} in A, {b.min_confidence} in B",
            )
        elif first != second:
            yield kind, f"their conditions differ: {_brief(first)} in A, {_brief(second)} in B"


def _undecided(a: Explanation, b: Explanation, matching: Matching) -> Iterator[str]:
    """Yields the reasons why the comparison says nothing about the application, whether it finds a
    difference or not."""
    if a.question != b.question:
        yield f"the questions differ: {_brief(a.question)} in A, {_brief(b.question)} in B"
    names = matching.names
    pinned_in_a = {names["A"][source.id] for source in a.sources if source.pinned}
    pinned_in_b = {names["B"][source.id] for source in b.sources if source.pinned}
    alone = {"A": pinned_in_a - pinned_in_b, "B": pinned_in_b - pinned_in_a}
    pinned = [f"{joined(sorted(each))} in {letter} alone" for letter, each in alone.items() if each]
    if pinned:
        yield f"other sources are pinned, and so never left out: {', '.join(pinned)}"


def _warnings(a: Explanation, b: Explanation, matching: Matching) -> Iterator[str]:
    if a.scope != b.scope:
        yield f"the sources are {a.scope} in A, {b.scope} in B"
    names = matching.names
    tied_in_a = [{names["A"][each] for each in tie.sources} for tie in a.ties]
    tied_in_b = [{names["B"][each] for each in tie.sources} for tie in b.ties]
    for letter, own, others in (("A", tied_in_a, tied_in_b), ("B", tied_in_b, tied_in_a)):
        alone = [joined(sorted(tie)) for tie in own if tie not in others]
        if alone:
            yield f"tied as near-duplicates in {letter} alone: {'; '.join(alone)}"
    for letter, side in (("A", a), ("B", b)):
        yield from (f"{letter}: {warning}" for warning in side.warnings)


def _brief(text: str) -> str:
    return repr(shortened(text, 100))
