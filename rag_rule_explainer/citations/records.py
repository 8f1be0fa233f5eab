"""This module defines what a check of citations returns."""

from dataclasses import dataclass, field
from typing import Literal

from ..explanation.explanation import Explanation
from ..explanation.records import Finding
from ..explanation.wording import joined
from ..printable import plain_id, printable, shortened
from ..rules import ClaimStatus
from .classes import CitationClass
from .reading.citing_text import CitingText, ReadCitation

SURE_CLAIMS: frozenset[ClaimStatus] = frozenset({"proved", "confident", "tested", "voted"})
"""The claims by which a verdict counts. One that is only relative to some sources may be wrong."""
NeededBy = Literal["all", "some", "none"]
"""Of the minimal sets of sources that are enough for a claim, those that need a source."""


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """A ``CitationVerdict`` says what one cited source has to do with the claim.

    ``written``: how the answer cites it. ``source``: its id; None if there is no such source.
    ``needed_by``: whether all minimal sets of sources that are enough for the claim need this source, or
    some, or none; None if this is not known. ``alone``: True iff it is enough alone. ``partners``: the
    cited sources with which it is enough; ``uncited_partners``: those that are not cited. Each has one
    tuple for each minimal set. ``claim``: what the verdict rests on, in the kinds of claim that rules
    have; None if it rests on no rule. ``rules``: the rules under it. ``why``: the reason why the citation
    is unresolvable or undecided, or a remark that belongs to the verdict. ``shown``: False iff the model
    was shown no such source.
    """

    written: str
    source: str | None
    citation_class: CitationClass
    needed_by: NeededBy | None = None
    alone: bool = False
    partners: tuple[tuple[str, ...], ...] = ()
    uncited_partners: tuple[tuple[str, ...], ...] = ()
    claim: ClaimStatus | None = None
    rules: tuple[Finding, ...] = ()
    why: str = ""
    shown: bool = True

    @property
    def faithful(self) -> bool | None:
        """Returns True if the answer makes the claim because of the cited source, alone or with other
        cited ones. Returns False if it does not, or if the model was shown no such source. Returns None
        if this is not known: the citation is undecided, the source is pinned or tied to others, or the
        verdict holds only relative to some sources."""
        if self.citation_class is CitationClass.UNRESOLVABLE:
            return None if self.shown else False
        if self.claim not in SURE_CLAIMS:
            return None
        return self.citation_class.is_faithful

    def __str__(self) -> str:
        named = "" if self.source is None else f" ({plain_id(self.source)})"
        claim = "" if self.claim is None else f" [{self.claim}]"
        why = f": {shortened(printable(self.why), 200)}" if self.why else ""
        written = shortened(printable(self.written), 60)
        named = "" if self.source is not None and self.source in self.written else named
        return f"{written}{named} {self.citation_class.value}{self._with_whom()}{why}{claim}"

    def _with_whom(self) -> str:
        if self.citation_class is CitationClass.NEEDS_A_PARTNER and self.uncited_partners:
            return f", not cited: {' or '.join(joined(each) for each in self.uncited_partners)}"
        shown = [joined(each) for each in self.partners if each]
        return f", with {' or '.join(shown)}" if shown and not self.alone else ""


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """A ``CitationCheck`` says which citations of one statement are real.

    ``statement``: the claim that is checked; the whole answer if it was not divided. ``verdicts``: one
    for each cited source, in the order of the answer. ``sufficient``: True iff some of the cited sources
    are enough for the claim, and it is not always made; None if this is not known. ``uncited``: the
    sources that are needed by some minimal set of sources that is enough, but not cited.
    ``smallest_honest``: the smallest set of sources that is enough, the one to cite; empty if the claim
    is made whatever is there, and None if it is not known. ``claim``: what these three rest on.
    ``without_sources``: whether the claim is also made without any source; None if this is not known, and
    ``remarks`` then say why. ``explanation``: the explanation with the rules. ``reading``: the answer and
    the places of its citations.
    """

    statement: str
    verdicts: tuple[CitationVerdict, ...]
    sufficient: bool | None
    uncited: tuple[str, ...]
    smallest_honest: tuple[str, ...] | None
    claim: ClaimStatus | None
    without_sources: bool | None
    remarks: tuple[str, ...]
    explanation: Explanation = field(repr=False)
    reading: CitingText = field(repr=False)

    @property
    def cited(self) -> tuple[str, ...]:
        """Returns the ids of the cited sources."""
        return tuple(each.source for each in self.verdicts if each.source is not None)

    @property
    def faithful(self) -> bool | None:
        """Returns True iff every citation is faithful, and there is at least one. Returns False if one is
        not. Returns None if none is unfaithful, but one is undecided, or nothing is cited."""
        found = {each.faithful for each in self.verdicts}
        return False if False in found else None if None in found or not found else True

    def of(self, source: str) -> CitationVerdict:
        """Returns the verdict on a cited source. Raises KeyError if it is not cited."""
        for each in self.verdicts:
            if each.source == source:
                return each
        raise KeyError(source)

    def of_mark(self, citation: ReadCitation) -> CitationVerdict | None:
        """Returns the verdict on one citation of the text; None if there is none."""
        same = (each for each in self.verdicts if each.source == citation.source)
        return next((each for each in same if each.source or each.written == citation.written), None)

    def __str__(self) -> str:
        from .text import lines_of

        return "\n".join(lines_of(self))
