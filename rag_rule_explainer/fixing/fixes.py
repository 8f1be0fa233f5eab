"""This module finds the smallest removals of sources after which a bad outcome cannot come back.

A *fix* is the antecedent of an omission rule: on every subset without these sources, the condition of
omission rules holds, which says that the bad outcome is gone. So it does not matter which of the other
sources are retrieved. Other removals may only *flip* the outcome: it is gone while all other sources are
shown, but comes back when some of them are missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import cast, overload

from ..explanation.explanation import Explanation
from ..explanation.records import Finding, ProbeRecord
from ..explanation.wording import joined, named_units, phrase, phrase_within
from ..predicates import PredicateLike, as_predicate
from ..printable import plain_id, printable, shortened
from ..rules import ClaimStatus, RuleKind
from ..verdicts import Verdict
from .badness import badness_of
from .goods import GoodEffect, Goods

_SURENESS: tuple[ClaimStatus, ...] = ("proved", "voted", "tested", "confident", "relative", "unverified")
SURE: frozenset[ClaimStatus] = frozenset(_SURENESS[:4])
"""The statuses of rules that are sure: *proved*, *voted*, *tested* and *confident*. A rule with such a
status passed every test and vote that the user's settings demanded."""
_LONGEST_LIST = 400
_MOST_FLIPS = 100
_NONE_SOUGHT = "no omission rules were looked for; explain with rules='both'"
_NEVER = "nothing has to be removed: {holds} on every subset that was promised [{evidence}]"
_PERHAPS_NEVER = "perhaps nothing has to be removed: {holds}, whatever is retained [{evidence}]"


@dataclass(frozen=True, slots=True)
class Fix:
    """A ``Fix`` is a set of sources. If they are left out, the bad outcome does not come back, with the
    certainty that ``rule`` states. If ``rule.minimal`` is True, no smaller set inside it is a fix.

    ``rule``: the omission rule, with its claim and its evidence. ``flips_already``: a smaller removal
    that flips the outcome while all other sources are shown; empty if no probe shows one. ``effects``:
    the effect of the removal on each good outcome that the caller gave, in their order.
    """

    rule: Finding
    flips_already: tuple[str, ...] = ()
    effects: tuple[GoodEffect, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Returns the ids of the sources to leave out, or whose texts to correct."""
        return self.rule.sources

    @property
    def claim(self) -> ClaimStatus:
        """Returns the status of the fix's rule, which states how certain the fix is."""
        return self.rule.claim

    @property
    def is_sure(self) -> bool:
        """Returns True iff the fix's rule is proved, or passed the votes or tests that the user
        wanted."""
        return self.claim in SURE

    def __str__(self) -> str:
        named = phrase_within(named_units(self.sources, self.rule.tied), _LONGEST_LIST)
        said = f"without {named}, {printable(self.rule.condition)} [{self.rule.evidence}]"
        return "; ".join([said, *map(str, self.effects)])


@dataclass(frozen=True, slots=True)
class OneTimeFlip:
    """A ``OneTimeFlip`` is a removal that is no fix, but flips the outcome while all other sources are
    shown.

    ``answer``: the answer after the removal; None if it is not known. ``back_with``: the retained ids of
    a probe that omits the removed sources and still has the bad outcome; None if no probe shows this, so
    that it is unknown whether the outcome comes back. ``back_answer``: the answer of that probe.
    """

    sources: tuple[str, ...]
    answer: str | None = None
    back_with: tuple[str, ...] | None = None
    back_answer: str | None = None

    def __str__(self) -> str:
        named = joined(self.sources)
        if self.back_with is None:
            return f"removing {named} flips it once; whether it stays away was not seen"
        kept = joined(self.back_with) or "no sources"
        answer = "" if self.back_answer is None else f" ({shortened(self.back_answer, 80)!r})"
        enough = f"removing {named} is enough while all others are there"
        return f"{enough}, but it is back{answer} with just {kept} retained"


@dataclass(frozen=True, slots=True)
class Fixes(Sequence[Fix]):
    """A ``Fixes`` is the sequence of all fixes of an explanation. The first one should be tried first.

    Fixes that break fewer good outcomes come first, then sure fixes, then fixes with fewer sources.
    ``flips``: removals that only flip the outcome and are no fixes. ``why``: the reason why there are no
    fixes, or why there may be more; empty if these are all fixes. ``notes``: limits of the fixes that a
    reader must know, for example that pinned sources were always shown.
    """

    found: tuple[Fix, ...]
    flips: tuple[OneTimeFlip, ...] = ()
    why: str = ""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, place: int) -> Fix: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Fix, ...]: ...
    def __getitem__(self, place: int | slice) -> Fix | tuple[Fix, ...]:
        return self.found[place]

    def __iter__(self) -> Iterator[Fix]:
        return iter(self.found)

    @property
    def first_sure(self) -> Fix | None:
        """Returns the first fix whose rule is proved, or passed its votes or tests; None if there is
        none."""
        return next((each for each in self.found if each.is_sure), None)

    def __str__(self) -> str:
        lines = [f"{number}. {each}" for number, each in enumerate(self.found, start=1)]
        lines += [f"no fix: {each}" for each in self.flips]
        lines += [f"({each})" for each in (self.why, *self.notes) if each]
        return "\n".join(lines)


def fixes_of(
    explanation: Explanation, good: PredicateLike | Sequence[PredicateLike] | None = None
) -> Fixes:
    """Returns the smallest removals of sources after which the bad outcome cannot come back.

    These removals are the omission rules of the explanation, with their claims. The condition of
    omission rules says that the bad outcome is gone. ``good``: conditions that should still hold after a
    removal. These conditions are judged on the answers in the explanation, without a replay; if they
    have a judge, it is called. If the explanation has too few answers, ``notes`` says so.
    """
    if RuleKind.OMISSION not in explanation.predicates:
        return Fixes((), why=_NONE_SOUGHT, notes=tuple(_warned(explanation)))
    seen = _Removals(explanation)
    rules = [each for each in explanation.omission_rules if each.sources]
    goods = Goods(explanation, [as_predicate(each) for each in _listed(good)])
    fixes = [
        Fix(rule, seen.flipping_part(rule.sources), goods.effects_of(rule.sources)) for rule in rules
    ]
    place = {source.id: number for number, source in enumerate(explanation.sources)}
    fixes.sort(
        key=lambda fix: (
            sum(each.lost for each in fix.effects),
            not fix.is_sure,
            len(named_units(fix.sources, fix.rule.tied)),
            _SURENESS.index(fix.claim),
            [place[name] for name in fix.sources],
        )
    )
    notes = (*_warned(explanation), *_about_promise(explanation), *goods.notes())
    return Fixes(tuple(fixes), seen.flips(fixes), _why(explanation), notes)


def is_sure_of_promise(rule: Finding) -> bool:
    """Returns True iff a rule is sure and says that the condition holds on every subset to which the rule
    applies. A *confident* rule says this only of a share of these subsets."""
    return rule.claim in SURE and rule.claim != "confident"


def is_about_all(rule: Finding) -> bool:
    """Returns True iff a rule is about all subsets of the sources. Returns False for a rule that holds
    only on a share of them (*confident*), if some sources were pinned, or if tied near-duplicates were
    only retained or omitted together."""
    return rule.claim != "confident" and not (rule.tied_beside or rule.pinned)


def _listed(good: PredicateLike | Sequence[PredicateLike] | None) -> list[PredicateLike]:
    if good is None:
        return []
    if isinstance(good, (list, tuple)):
        return list(cast("Sequence[PredicateLike]", good))
    return [cast("PredicateLike", good)]


def _why(explanation: Explanation) -> str:
    without = next((rule for rule in explanation.omission_rules if not rule.sources), None)
    if without is not None:
        said = _NEVER if is_sure_of_promise(without) else _PERHAPS_NEVER
        holds = printable(explanation.predicates[RuleKind.OMISSION])
        return said.format(holds=holds, evidence=without.evidence)
    if not explanation.complete:
        return f"there may be other fixes: {printable(explanation.why_incomplete)}"
    if not explanation.omission_rules:
        return "no removal keeps the outcome away, whatever else is left out"
    return ""


def _warned(explanation: Explanation) -> Iterator[str]:
    for each in explanation.warnings[:1]:
        yield f"WARNING: {printable(each)}"


def _about_promise(explanation: Explanation) -> Iterator[str]:
    pinned = [source.id for source in explanation.sources if source.pinned]
    if pinned:
        yield f"promised only while {phrase([plain_id(each) for each in pinned])} stay, which were pinned"
    if explanation.min_confidence < 1:
        yield f"a fix had to hold on a share of {explanation.min_confidence:g} of the subsets only"
    if explanation.omission_rules:
        yield "promised of these documents; recheck() asks what is retrieved in their place"


class _Removals:
    """This class finds, in the probes of an explanation, the removals that flip the outcome, and the
    subsets on which the bad outcome comes back."""

    def __init__(self, explanation: Explanation) -> None:
        self._explanation = explanation
        self._ids = [source.id for source in explanation.sources]
        self._bad: list[tuple[frozenset[str], ProbeRecord]] = []
        self._good: list[tuple[tuple[str, ...], ProbeRecord]] = []
        for probe in explanation.probes:
            badness, kept = badness_of(explanation, probe), frozenset(probe.kept)
            if badness is Verdict.HOLDS:
                self._bad.append((kept, probe))
            elif badness is Verdict.BREAKS:
                removed = tuple(each for each in self._ids if each not in kept)
                self._good.append((removed, probe))
        place = {identity: number for number, identity in enumerate(self._ids)}
        self._good.sort(key=lambda each: (len(each[0]), [place[name] for name in each[0]]))
        self._is_bad_at_all = any(len(kept) == len(self._ids) for kept, _ in self._bad)

    def flipping_part(self, sources: Sequence[str]) -> tuple[str, ...]:
        """Returns the smallest proper subset of these sources whose removal flips the outcome; empty if
        there is none."""
        among = frozenset(sources)
        if not self._is_bad_at_all:
            return ()
        smaller = takewhile(lambda each: len(each[0]) < len(among), self._good)
        return next((each for each, _ in smaller if each and among.issuperset(each)), ())

    def flips(self, fixes: Sequence[Fix]) -> tuple[OneTimeFlip, ...]:
        """Returns the smallest removals that flip the outcome and contain no fix; at most a hundred."""
        if not self._is_bad_at_all:
            return ()
        fixing = [frozenset(fix.sources) for fix in fixes]
        smallest: list[OneTimeFlip] = []
        taken: list[frozenset[str]] = []
        for removed, probe in self._good:
            among = frozenset(removed)
            if len(taken) == _MOST_FLIPS:
                break
            if not removed or any(each <= among for each in (*fixing, *taken)):
                continue
            taken.append(among)
            smallest.append(self._flip(removed, probe))
        return tuple(smallest)

    def _flip(self, removed: tuple[str, ...], probe: ProbeRecord) -> OneTimeFlip:
        among = frozenset(removed)
        back = [each for kept, each in self._bad if kept.isdisjoint(among)]
        shown = max(back, key=lambda each: len(each.kept), default=None)
        if shown is None:
            return OneTimeFlip(removed, _answer(probe))
        return OneTimeFlip(removed, _answer(probe), shown.kept, _answer(shown))


def _answer(probe: ProbeRecord) -> str | None:
    return probe.answers[0].shown if probe.answers else None
