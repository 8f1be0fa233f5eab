"""This module decides which citations of an answer are real, by the rules of an explanation. It does not
run the application."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..explanation.records import Finding
from ..explanation.wording import joined
from ..rules import ClaimStatus
from .causes import Causes, EnoughSources, weakest
from .classes import CitationClass
from .reading.citing_text import CitingText, ReadCitation
from .reading.meaning import NO_SUCH, with_all_copies
from .records import CitationCheck, CitationVerdict, NeededBy

_OF_PART = "it stands within a sentence that says more, and may be for a part of it: split it finer"
_NEEDED_BY: dict[bool | None, NeededBy | None] = {True: "all", False: "some", None: None}


def checked_citations(
    causes: Causes, reading: CitingText, statement: str, doubt: str = ""
) -> CitationCheck:
    """Returns the check of the citations in ``reading``. ``statement``: the claim that the explanation's
    condition is about. ``doubt``: the reason why the condition may be about something else than the
    statement; empty if there is none."""
    reading = replace(reading, citations=tuple(with_all_copies(reading.citations)))
    cited = frozenset(each.source for each in reading.citations if each.source is not None)
    is_open = any(each.is_open for each in reading.citations)
    whole = frozenset(each.source for each in reading.citations if not each.of_part)
    sorting = _Sorting(causes, cited, is_open, doubt, whole)
    without, remark = causes.without_sources()
    known = not causes.why_nothing and not doubt
    is_sure = known and not is_open and not (causes.enough and causes.all_claim == "unverified")
    remarks = _remarks(causes, without, remark) if known else (doubt or causes.why_nothing,)
    return CitationCheck(
        statement=statement,
        verdicts=tuple(sorting.verdict(each) for each in _once(reading.citations)),
        sufficient=sorting.is_sufficient() if is_sure else None,
        uncited=causes.uncited(cited) if is_sure else (),
        smallest_honest=sorting.smallest() if is_sure else None,
        claim=causes.all_claim if known and causes.enough else None,
        without_sources=without if known else None,
        remarks=remarks,
        explanation=causes.explanation,
        reading=reading,
    )


def _remarks(causes: Causes, without: bool | None, remark: str) -> tuple[str, ...]:
    """Returns remarks on the claim that are not about a single citation, such as that some sources are
    tied (only retained or omitted together). ``without``: whether the claim is also made without any
    source; None if this is not known, and ``remark`` then says why."""
    remarks = list[str]()
    if without is None:
        remarks.append(f"whether the claim is also made without any source is not known: {remark}")
    elif without and causes.anyhow() is None:
        remarks.append("the claim is also made without any source, but with some sources it is not")
    if tied := causes.tied(each for rule in causes.enough for each in rule.sources):
        remarks.append(f"{joined(tied)} are tied: whether one of them is enough was never asked")
    return tuple(remarks)


def _once(citations: Sequence[ReadCitation]) -> Iterator[ReadCitation]:
    """Yields the first citation of each source. For citations that name no source, yields the first one
    with each text."""
    seen = set[tuple[str | None, str]]()
    for each in citations:
        key = (each.source, "" if each.source is not None else each.written)
        if key not in seen:
            seen.add(key)
            yield each


@dataclass(frozen=True, slots=True)
class _Sorting:
    """A ``_Sorting`` assigns a class to each citation of one statement.

    ``cited``: the ids of all sources that the statement cites. ``is_open``: True if the source of one of
    the citations is not certain. ``doubt``: the reason why nothing can be decided; empty if there is
    none. ``whole``: the ids of the sources that are cited for the whole statement, and not only for a
    part of it.
    """

    causes: Causes
    cited: frozenset[str]
    is_open: bool
    doubt: str
    whole: frozenset[str | None]

    def verdict(self, citation: ReadCitation) -> CitationVerdict:
        """Returns the verdict on one citation. The verdict is undecided if it would depend on an
        unverified rule, because that rule may be wrong."""
        verdict = self._on_rules(citation)
        if verdict.claim != "unverified" or verdict.source is None:
            return verdict
        why = "the rules under it are unverified"
        more = self.causes.explanation.why_incomplete
        return self._undecided(citation, verdict.source, f"{why}: {more}" if more else why)

    def _on_rules(self, citation: ReadCitation) -> CitationVerdict:
        source, causes = citation.source, self.causes
        if citation.is_open:
            return self._undecided(citation, None, citation.why)
        why = self._why_unresolvable(citation)
        if source is None or why:
            shown = source in {each.id for each in causes.explanation.sources}
            return CitationVerdict(
                citation.written, source, CitationClass.UNRESOLVABLE, why=why, shown=shown
            )
        why = self.doubt or causes.why_nothing or causes.why_memory_is_open()
        if why:
            return self._undecided(citation, source, why)
        anyhow = causes.anyhow()
        if anyhow is not None:
            return self._made_anyhow(citation, source, anyhow)
        rules = causes.with_source(source)
        if not rules:
            return self._in_no_rule(citation, source)
        return self._by_rules(citation, source, rules)

    def _why_unresolvable(self, citation: ReadCitation) -> str:
        explanation, source = self.causes.explanation, citation.source
        if source is None:
            return citation.why or NO_SUCH
        known = {each.id: each for each in explanation.sources}
        if source not in known:
            held_out = any(each.id == source for each in explanation.held_out)
            return "it was retrieved, but not shown to the model" if held_out else NO_SUCH
        if known[source].pinned:
            return "it is pinned: every replay retained it, so no rule can name it"
        for tie in explanation.ties:
            if source in tie.sources:
                others = joined(each for each in tie.sources if each != source)
                return f"it is tied to {others}: what one of them does alone was never asked"
        return ""

    def _made_anyhow(self, citation: ReadCitation, source: str, anyhow: EnoughSources) -> CitationVerdict:
        """Returns the verdict on a citation of ``source`` in the case that the claim is made whichever
        sources are retained. ``anyhow``: the rule that says so."""
        pinned = self.causes.pinned
        found = CitationClass.DECORATIVE if pinned else CitationClass.FROM_MEMORY
        why = ""
        if pinned:
            why = f"the claim is made whatever else is there, from memory or from {joined(pinned)}"
        return CitationVerdict(
            citation.written,
            source,
            found,
            "none",
            claim=anyhow.rule.claim,
            rules=(anyhow.rule,),
            why=why,
        )

    def _in_no_rule(self, citation: ReadCitation, source: str) -> CitationVerdict:
        causes = self.causes
        if not causes.all_known or not causes.enough:
            return self._undecided(citation, source, self._why_open())
        if source not in self.whole:
            return self._undecided(citation, source, _OF_PART)
        rules = tuple(each.rule for each in causes.enough)
        claim = causes.all_claim
        return CitationVerdict(
            citation.written, source, CitationClass.DECORATIVE, "none", claim=claim, rules=rules
        )

    def _by_rules(
        self, citation: ReadCitation, source: str, rules: list[EnoughSources]
    ) -> CitationVerdict:
        """Returns the verdict on a citation of ``source``. ``rules``: the minimal rules that contain this
        source; at least one."""
        causes = self.causes
        inside = [each for each in rules if each.sources <= self.cited]
        in_all = causes.needed_by_all(source)
        never, omission = causes.never_without(source)
        found, under = CitationClass.UNDECIDED, list[Finding]()
        if not inside:
            if self._knows_partners() and source in self.whole:
                found, under = CitationClass.NEEDS_A_PARTNER, [each.rule for each in causes.enough]
        elif in_all:
            found = CitationClass.DECISIVE if never else CitationClass.DECISIVE_IN_FULL_CONTEXT
            under = [inside[0].rule, *([omission] if never and omission else [])]
        elif in_all is False:
            others = [each.rule for each in causes.enough if source not in each.sources]
            found, under = CitationClass.ONE_OF_SEVERAL, [inside[0].rule, *others[:1]]
        of_part = not inside and self._knows_partners()
        remark = "" if found is not CitationClass.UNDECIDED else _OF_PART if of_part else self._why_open()
        if found is CitationClass.DECISIVE_IN_FULL_CONTEXT and never is None:
            remark = "whether another source can take its place was not decided"
        return CitationVerdict(
            citation.written,
            source,
            found,
            _NEEDED_BY[in_all],
            alone=any(len(each.sources) == 1 for each in rules),
            partners=self._partners(source, inside),
            uncited_partners=self._partners(source, [each for each in rules if each not in inside]),
            claim=self._claim(found, under),
            rules=tuple(under),
            why=remark,
        )

    def _claim(self, found: CitationClass, under: list[Finding]) -> ClaimStatus | None:
        """Returns the weakest status (such as "proved") of the rules and the probes on which a verdict
        depends; None for an undecided verdict. ``found``: the class of the citation. ``under``: the rules
        on which the verdict depends."""
        if found is CitationClass.UNDECIDED:
            return None
        claims: list[ClaimStatus] = [each.claim for each in under]
        if found is CitationClass.NEEDS_A_PARTNER:
            claims.append(self.causes.all_claim)
        return weakest([*claims, self.causes.seen_claim])

    def _partners(self, source: str, rules: list[EnoughSources]) -> tuple[tuple[str, ...], ...]:
        """Returns, for each of these rules, the sources that it contains beside ``source``: only the
        uncited ones, or all of them if all are cited. Repeated and empty results are left out."""
        order = [each.id for each in self.causes.explanation.sources]
        partners = list[tuple[str, ...]]()
        for rule in rules:
            others = rule.sources - {source}
            named = others - self.cited or others
            partners.append(tuple(each for each in order if each in named))
        return tuple(dict.fromkeys(each for each in partners if each))

    def _undecided(self, citation: ReadCitation, source: str | None, why: str) -> CitationVerdict:
        return CitationVerdict(citation.written, source, CitationClass.UNDECIDED, why=why)

    def _knows_partners(self) -> bool:
        """Returns True iff two things are known: all sets of sources that are sufficient, and the source
        of every citation."""
        return self.causes.all_known and not self.is_open

    def _why_open(self) -> str:
        explanation = self.causes.explanation
        if self.is_open and self.causes.all_known:
            return "its partners may be cited: of another citation it is not known which source it means"
        seldom = f"the miner {explanation.miner.name!r} did not look for all rules"
        return explanation.why_incomplete or seldom

    def is_sufficient(self) -> bool | None:
        """Returns True iff some of the cited sources are sufficient for the claim and the claim is not
        made without any sources; None if this is not known."""
        causes = self.causes
        if causes.why_memory_is_open():
            return None
        if causes.anyhow() is not None:
            return None if causes.pinned else False
        if causes.lies_within(self.cited):
            # Pinned sources were retained in every replay, so the claim may need them too.
            return True if self.cited.issuperset(causes.pinned) else None
        return False if causes.all_known and causes.enough and not self._is_split() else None

    def _is_split(self) -> bool:
        """Returns True iff the answer cites some but not all of several tied sources. Nothing is known
        about one of them alone, because they are retained or omitted only together."""
        ties = (frozenset(tie.sources) for tie in self.causes.explanation.ties)
        return any(tie & self.cited and not tie <= self.cited for tie in ties)

    def smallest(self) -> tuple[str, ...] | None:
        """Returns the smallest set of sources that is sufficient for the statement. Among several sets
        of the same size, returns the one with the most cited sources.

        Returns None if the smallest set is not known, for example because sources are pinned, or because
        the set contains tied sources.
        """
        causes = self.causes
        is_open = causes.pinned or causes.why_memory_is_open()
        if is_open or not causes.all_known or not causes.enough:
            return None
        best = min(
            causes.enough, key=lambda each: (len(each.sources), len(each.sources - self.cited))
        ).sources
        if causes.tied(best):
            return None
        return tuple(source.id for source in causes.explanation.sources if source.id in best)
