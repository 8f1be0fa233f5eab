"""This module defines the classes into which citations are sorted, and their meanings in words."""

from enum import Enum


class CitationClass(str, Enum):
    """A ``CitationClass`` is a class into which a check sorts citations, such as "decisive". ``meaning``
    describes the class in words."""

    DECISIVE = "decisive"
    DECISIVE_IN_FULL_CONTEXT = "decisive in full context"
    ONE_OF_SEVERAL = "one of several"
    NEEDS_A_PARTNER = "needs a partner"
    DECORATIVE = "decorative"
    FROM_MEMORY = "from memory"
    UNRESOLVABLE = "unresolvable"
    UNDECIDED = "undecided"

    # ``Enum.__hash__`` is slow, because it runs Python code. So the hash of ``str`` is used.
    __hash__ = str.__hash__

    @property
    def meaning(self) -> str:
        """Returns the meaning of this class in words: what it says about a citation."""
        return _MEANINGS[self]

    @property
    def mark(self) -> str:
        """Returns the sign of this class in reports: one character, so that no reader depends on
        colours."""
        return _MARKS[self]

    @property
    def is_faithful(self) -> bool | None:
        """Returns True if the answer makes the claim because of the cited source, alone or together with
        other cited sources; False if it does not; None if this is not known.

        ``CitationVerdict.faithful`` is more exact: it is None, and not False, for an unresolvable
        citation of a source that was shown.
        """
        return _FAITHFUL[self]


_MEANINGS = {
    CitationClass.DECISIVE: (
        "without this source the claim is never made, whichever of the others are there"
    ),
    CitationClass.DECISIVE_IN_FULL_CONTEXT: (
        "without this source the claim is not made if all others are there; among fewer sources it may be"
    ),
    CitationClass.ONE_OF_SEVERAL: (
        "this source is enough, alone or with others that are cited, and so is another set of sources "
        "without it"
    ),
    CitationClass.NEEDS_A_PARTNER: (
        "this source brings the claim about only together with sources that are not cited"
    ),
    CitationClass.DECORATIVE: "this source takes no part in bringing the claim about",
    CitationClass.FROM_MEMORY: "the claim is made whatever is there, also without any source",
    CitationClass.UNRESOLVABLE: "there is no source of which the rules could say anything",
    CitationClass.UNDECIDED: "the explanation does not decide this",
}
_MARKS = {
    CitationClass.DECISIVE: "●",
    CitationClass.DECISIVE_IN_FULL_CONTEXT: "◉",
    CitationClass.ONE_OF_SEVERAL: "◐",
    CitationClass.NEEDS_A_PARTNER: "◔",
    CitationClass.DECORATIVE: "○",
    CitationClass.FROM_MEMORY: "◇",
    CitationClass.UNRESOLVABLE: "✕",
    CitationClass.UNDECIDED: "?",
}
_FAITHFUL: dict[CitationClass, bool | None] = {
    CitationClass.DECISIVE: True,
    CitationClass.DECISIVE_IN_FULL_CONTEXT: True,
    CitationClass.ONE_OF_SEVERAL: True,
    CitationClass.NEEDS_A_PARTNER: False,
    CitationClass.DECORATIVE: False,
    CitationClass.FROM_MEMORY: False,
    CitationClass.UNRESOLVABLE: False,
    CitationClass.UNDECIDED: None,
}
