"""This module writes a check of citations as lines of text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..explanation.wording import joined
from ..predicates.next_action import NEXT_ACTION
from ..printable import printable, shortened
from .classes import CitationClass

if TYPE_CHECKING:  # a runtime import would be circular
    from .records import CitationCheck

_SUFFICIENT = {
    True: "what is cited is enough for it",
    False: "what is cited is not enough for it",
    None: "whether what is cited is enough is not decided",
}


def lines_of(check: "CitationCheck") -> Iterator[str]:
    """Yields the lines of the check: the statement, each of its citations, and then the summary of
    ``said_together``."""
    yield shortened(printable(check.statement), 300)
    for each in check.verdicts:
        yield f"  {each.citation_class.mark} {each}"
    if not check.verdicts:
        yield "  nothing is cited"
    yield f"  {said_together(check)}"
    if any(NEXT_ACTION in each for each in check.explanation.predicates.values()):
        yield f"  the model says it {NEXT_ACTION}"
    said = {each.why for each in check.verdicts}
    for remark in check.remarks:
        if remark not in said:
            yield f"  {shortened(printable(remark), 300)}"


def said_together(check: "CitationCheck") -> str:
    """Returns a sentence about all citations of a statement together: whether the cited sources are
    sufficient, which sources are not cited, and the smallest set of sources to cite."""
    if check.smallest_honest == ():
        return f"no citation is needed: {CitationClass.FROM_MEMORY.meaning}{_claim(check)}"
    parts = [_SUFFICIENT[check.sufficient]]
    if check.uncited:
        parts.append(f"needed by some rule and not cited: {joined(check.uncited)}")
    if check.smallest_honest:
        parts.append(f"the smallest honest citation is {joined(check.smallest_honest)}")
    return "; ".join(parts) + _claim(check)


def _claim(check: "CitationCheck") -> str:
    return "" if check.claim is None else f" [{check.claim}]"
