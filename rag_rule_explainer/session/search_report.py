"""This module turns the results of a search into the records of an explanation. The results name units
(sources, or groups of tied ones), and the records name sources. The module makes no probes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..explanation.loose_judging import JUDGED_TOGETHER, JUDGED_UNMARKED, loosely_judged
from ..explanation.records import Counterfactual, Finding, Importance, Relation, Unresolved, Witness
from ..explanation.wording import pinned_in_words
from ..lattice import Antecedent, ArrangementKey, is_subset, minimal
from ..mining import AnySearch, Evidence
from ..mining.importance import powers
from ..printable import encodable
from ..probing.noise import Noise
from ..rules import Claim, ClaimStatus, RuleKind
from ..sources import Arrangement, SourceSet
from .plan import AnyMethod
from .tracked_search import TrackedSearch

_UP_TO_A_COLON = re.compile(r"((?:(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|[^:])*).*", re.DOTALL)
"""Matches a doubt, and in its group what stands before the first colon outside of quotation marks: the id
of a source, such as 'instructions: Refunds', may have a colon too."""

_MOST_BREAKING = 100
"""A rule with a confidence below 1 lists the subsets on which it breaks, but at most this number of
them."""
_SURE = {"proved", "confident", "tested", "voted"}
"""The statuses of a rule that are certain enough to compare it with rules of the other kind."""
_OF_SUPERSETS = {"proved", "voted"}
"""If a rule has one of these statuses, every larger rule that contains all its sources has this status
too."""


@dataclass(frozen=True, slots=True)
class SearchReport:
    """A ``SearchReport`` presents the results of one search, with ids of sources in place of units.

    ``noise``: the settings of votes. ``method``: the method of the search. ``condition``: the predicate
    as text. ``settled``: True if all votes on which the rules depend were taken. ``resolved``: True if
    the search is settled and has finished, and all verdicts that it needed are known. ``pinned``: the
    pinned sources, in words.
    """

    tracked: TrackedSearch
    sources: SourceSet
    noise: Noise
    method: AnyMethod
    search: AnySearch = field(init=False)
    condition: str = field(init=False)
    evidence: Evidence = field(init=False)
    resolved: bool = field(init=False)
    settled: bool = field(init=False)
    pinned: str = field(init=False)

    def __post_init__(self) -> None:
        search = self.tracked.search
        object.__setattr__(self, "search", search)
        object.__setattr__(self, "condition", encodable(str(self.tracked.judging.predicate)))
        object.__setattr__(self, "evidence", search.evidence())
        always = [source.id for source in self.sources if source.id in self.sources.pinned]
        object.__setattr__(self, "pinned", pinned_in_words(always))
        settled = not self.noise.votes or all(map(self._is_voted, search.claims))
        object.__setattr__(self, "settled", settled)
        object.__setattr__(self, "resolved", search.finished and settled and not search.unresolved)

    @property
    def kind(self) -> RuleKind:
        """Returns the kind of rule that was searched for."""
        return self.search.kind

    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding (a rule with its evidence) for each claim of the search. Findings that name
        the fewest units (sources, or groups of tied ones) come first."""
        claims = self.search.claims
        rules = self.rules(claims)
        return tuple(self.finding(claim, rules) for claim in claims)

    def rules(self, claims: Iterable[Claim]) -> dict[Antecedent, ClaimStatus]:
        """Returns the antecedents (the units that a rule names) of all claims that are not *unverified*,
        each with the status of its claim, such as "proved"."""
        known: dict[Antecedent, ClaimStatus] = {claim.antecedent: self._status(claim) for claim in claims}
        return {antecedent: status for antecedent, status in known.items() if status != "unverified"}

    def finding(self, claim: Claim, rules: Mapping[Antecedent, ClaimStatus]) -> Finding:
        """Returns the finding, a rule with its evidence, for one claim of the search. ``rules``: the
        sets of units that all known rules name, by which it is decided whether the claimed rule is
        minimal."""
        evidence, tied = self.evidence, self.sources.tied_in(claim.antecedent)
        own_antecedent = claim.hangs_on[0]
        return Finding(
            kind=self.kind,
            sources=self.sources.ids_of(claim.antecedent),
            condition=self.condition,
            claim=self._status(claim),
            observed=evidence.observed(own_antecedent),
            broken=evidence.broken(own_antecedent),
            applicable=evidence.applicable(own_antecedent),
            draws=claim.draws,
            sampling=self._sampling(claim),
            minimal=self._is_minimal(claim, rules),
            breaking=self._breaking(claim),
            kept=self.sources.ids_of(claim.kept),
            with_others=bool(claim.tried),
            tied=tied,
            tied_beside=len(self.sources.ties) - len(tied),
            pinned=self.pinned,
        )

    @property
    def judging_warning(self) -> str:
        """Returns the warning that no claim counts as proved, because an answer may have influenced the
        judge; empty if no answer can have done so."""
        judging = self.tracked.judging
        if not judging.rests_on_batches:
            return ""
        return JUDGED_UNMARKED if judging.is_unmarked else JUDGED_TOGETHER

    def _status(self, claim: Claim) -> ClaimStatus:
        if self._is_below_full(claim):
            return "confident"
        if self.tracked.doubt() or self.judging_warning:
            # The replays may be wrong, or one answer may have influenced the judgement of another. So no
            # claim counts as proved.
            return "unverified"
        status: ClaimStatus = "proved" if claim.status == "confident" else claim.status
        if not self.noise.votes:
            return status
        if not self._is_voted(claim):
            return "unverified"
        return "voted" if status == "proved" else status

    def _is_below_full(self, claim: Claim) -> bool:
        return claim.status == "confident" and not self.evidence.holds_on_all(claim.antecedent)

    def _is_voted(self, claim: Claim) -> bool:
        return all(self.tracked.voted(self._subset(own)) is not None for own in claim.hangs_on)

    def _sampling(self, claim: Claim) -> str:
        doubt = _UP_TO_A_COLON.sub(r"\1", self.tracked.doubt())
        return "; ".join(
            filter(None, [doubt, self._tried(claim), loosely_judged([self.judging_warning])])
        )

    def _tried(self, claim: Claim) -> str:
        if not self.noise.votes:
            return claim.sampling
        if not (self._is_below_full(claim) or self._is_voted(claim)):
            return "it was asked about once, and not put to the vote"
        return f"{claim.sampling}; {self.noise.wording}" if claim.sampling else self.noise.wording

    def _breaking(self, claim: Claim) -> tuple[tuple[str, ...], ...]:
        if not self._is_below_full(claim):
            return ()
        broken = self.evidence.breaking(claim.antecedent)
        return tuple(self._kept(key) for key in sorted(broken, reverse=True)[:_MOST_BREAKING])

    def witnesses(self) -> tuple[Witness, ...]:
        """Returns, for each largest set of sources that makes no rule, a witness: the probe that shows
        this. With a minimum confidence below 1, a rule may break on some subsets, so a single probe shows
        nothing, and there are no witnesses."""
        if self.noise.min_confidence < 1:
            return ()
        return tuple(
            Witness(
                kind=self.kind,
                sources=self.sources.ids_of(antecedent),
                kept=self._kept(self._subset(antecedent)),
                answer=self._answer(antecedent),
            )
            for antecedent in self.evidence.border()
        )

    def counterfactuals(self) -> tuple[Counterfactual, ...]:
        """Returns the smallest changes that flip the verdict. For retention rules, they are removals from
        the set of all sources. For omission rules, they are additions to the empty set. If the condition
        of the rules does not hold on the set from which the changes start (all sources, or the empty
        set), there are no changes."""
        lattice = self.search.lattice
        changes = ((lattice.complement(antecedent), antecedent) for antecedent in self.evidence.border())
        return tuple(
            Counterfactual(
                kind=self.kind,
                change="removal" if self.kind is RuleKind.RETENTION else "addition",
                sources=self.sources.ids_of(change),
                answer=self._answer(antecedent),
                tied=self.sources.tied_in(change),
            )
            for change, antecedent in changes
            if change and self._is_smallest_change(antecedent)
        )

    def importance(self) -> tuple[Importance, ...]:
        """Returns the power indices (Banzhaf and Shapley) of every source, or group of tied sources.
        Returns none if the search may have missed a rule."""
        lattice = self.search.lattice
        # The indices depend on knowing for every set of sources whether it is a rule. They also assume
        # that every superset of a rule is a rule, which is not true with a minimum confidence.
        if not (self.resolved and self.method.finds_all) or self.noise.min_confidence < 1:
            return ()
        rules = minimal(claim.antecedent for claim in self.search.claims)
        return tuple(
            Importance(
                kind=self.kind,
                source=unit[0].id,
                banzhaf=float(power.banzhaf),
                shapley=float(power.shapley),
                error=power.error,
                tied=tuple(source.id for source in unit[1:]),
            )
            for unit, power in zip(self.sources.units, powers(lattice, rules), strict=True)
        )

    def unresolved(self) -> tuple[Unresolved, ...]:
        """Returns the subsets that the search needed and that have no verdict, in the order of their
        keys."""
        return tuple(
            Unresolved(
                kind=self.kind,
                kept=self._kept(key),
                reason=encodable(self._why_unknown(key)),
            )
            for key in self.search.unresolved
        )

    def _kept(self, key: ArrangementKey) -> tuple[str, ...]:
        return Arrangement.of(self.sources, key).ids

    def _subset(self, antecedent: Antecedent) -> ArrangementKey:
        return self.kind.subset(self.search.lattice, antecedent)

    def _answer(self, antecedent: Antecedent) -> str | None:
        probe = self.tracked.get(self._subset(antecedent))
        answer = probe.reply.answer if probe else None
        return encodable(answer.shown) if answer else None

    def _why_unknown(self, key: ArrangementKey) -> str:
        probe = self.tracked.get(key)
        if probe is None:
            return self.search.stop_reason or "not probed"
        return probe.judgement.reason or "the condition gave no verdict and no reason"

    def _is_minimal(self, claim: Claim, rules: Mapping[Antecedent, ClaimStatus]) -> bool | None:
        """Returns True if no part of the sources of the claimed rule makes a rule, and False if a part
        does. Returns None if this is not known: if the verdict on a part is not certain, or if the
        claimed rule is proved and the smaller rules have weaker evidence."""
        antecedent = claim.antecedent
        if self.noise.min_confidence < 1:
            # With a minimum confidence, an antecedent with two sources fewer may be a rule even if no
            # antecedent with one source fewer is. So all smaller antecedents are compared.
            if any(other != antecedent and is_subset(other, antecedent) for other in rules):
                return False
            return True if self.resolved else None
        smaller = tuple(self.search.lattice.one_fewer(antecedent))
        if known := {rules[child] for child in smaller if child in rules}:
            return None if rules.get(antecedent) == "proved" and "proved" not in known else False
        return True if self.resolved or all(map(self.evidence.is_broken, smaller)) else None

    def _is_smallest_change(self, antecedent: Antecedent) -> bool:
        """Returns True iff it is known that no smaller change flips the verdict: the condition held after
        each smaller change, or an exact search has ended with all its verdicts. ``antecedent``: the
        sources of the change."""
        return (self.resolved and self.method.sees_everything and self.noise.min_confidence == 1) or all(
            map(self.evidence.holds_on_all, self.search.lattice.one_more(antecedent))
        )


def with_relations(
    findings: Sequence[Finding], others: Sequence[Finding], *, others_complete: bool
) -> tuple[Finding, ...]:
    """Returns the findings with their relation to the rules of the other kind.

    ``others``: the findings of the other kind. A finding is *absolute* if it names all sources of one of
    the ``others``. A finding is *relative* if it does not, and the search for the ``others`` is complete
    (``others_complete``). The relation is None if it is not known, or if a rule is not certain enough.
    """

    def relation(finding: Finding) -> Relation | None:
        own = set(finding.sources)
        inside = [each for each in others if set(each.sources) <= own]
        if finding.claim not in _SURE:
            return None
        same = any(each.claim in _SURE for each in inside if set(each.sources) == own)
        if same or any(each.claim in _OF_SUPERSETS for each in inside):
            return "absolute"
        return "relative" if others_complete and not inside else None

    return tuple(replace(f, relation=relation(f)) for f in findings)
