"""This module defines the results of a check of citations."""

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
"""The statuses of rules on which a verdict may depend. "relative" is not among them, because a rule that
holds only relative to some sources may be wrong."""
NeededBy = Literal["all", "some", "none"]
"""The answer to the question how many of the minimal sufficient sets contain a source: all, some or
none."""


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """A ``CitationVerdict`` states the influence of one cited source on the claim.

    ``written``: the text of the citation in the answer. ``source``: the id of the source; None if there
    is no such source. ``needed_by``: whether all, some or none of the minimal sufficient sets of sources
    contain this source; None if this is not known. ``alone``: True iff the source is sufficient alone.
    ``partners``: the cited sources that are sufficient together with it; ``uncited_partners``: such
    sources that are not cited. Both have one tuple for each minimal sufficient set.

    ``claim``: the status of the rules on which the verdict depends; None if it depends on no rule.
    ``rules``: these rules. ``why``: the reason why the citation is unresolvable or undecided, or a
    remark on the verdict. ``shown``: False iff the model was shown no such source.
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
        """Returns True if the answer makes the claim because of the cited source, alone or together with
        other cited sources. Returns False if it does not, or if the model was shown no such source.

        Returns None if this is not known: the citation is undecided, the source is pinned or tied to
        others, or the verdict holds only relative to some sources.
        """
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
    """A ``CitationCheck`` states which citations of one statement are real.

    ``statement``: the claim that is checked; the whole answer if it was not divided. ``verdicts``: one
    for each cited source, in the order of the answer. ``sufficient``: True iff some of the cited sources
    are sufficient for the claim, and the claim is not made without sources; None if this is not known.
    ``uncited``: the sources that are not cited although a minimal sufficient set contains them.
    ``smallest_honest``: the smallest sufficient set of sources, which the answer should cite; empty if
    the claim is made whichever sources are retained, None if it is not known.

    ``claim``: the status of the rules on which ``sufficient``, ``uncited`` and ``smallest_honest``
    depend. ``without_sources``: True iff the claim is also made without any source; None if this is not
    known, and ``remarks`` then gives the reason. ``explanation``: the explanation with the rules.
    ``reading``: the answer and the positions of its citations.
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
        """Returns True iff the answer has citations and all of them are faithful. Returns False if one of
        them is not. Returns None if no citation is unfaithful, but one is undecided or there are no
        citations."""
        found = {each.faithful for each in self.verdicts}
        return False if False in found else None if None in found or not found else True

    def of(self, source: str) -> CitationVerdict:
        """Returns the verdict on a cited source. Raises KeyError if it is not cited."""
        for each in self.verdicts:
            if each.source == source:
                return each
        raise KeyError(source)

    def of_mark(self, citation: ReadCitation) -> CitationVerdict | None:
        """Returns the verdict on one citation of the text; None if the citation was not checked."""
        same = (each for each in self.verdicts if each.source == citation.source)
        return next((each for each in same if each.source or each.written == citation.written), None)

    def __str__(self) -> str:
        from .text import lines_of

        return "\n".join(lines_of(self))
