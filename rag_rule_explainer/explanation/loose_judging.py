"""This module contains the texts that say why the judgements of a judge do not prove a rule: an answer
may contain instructions to the judge."""

from collections.abc import Iterable

JUDGED_TOGETHER = (
    "the judge saw several answers at once (batch), and one of them can have told it what to say of the "
    "others, so no rule is called proved; leave batch out, and it is asked about one answer a request"
)
"""The warning for a search in which a judge got several answers in one request."""
TOGETHER = "the judge saw several answers at once"
"""The short form of ``JUDGED_TOGETHER``: a judge got several answers in one request. Reports show it as
the reason why a rule is undecided."""
JUDGED_UNMARKED = (
    "the judge's prompt does not mark answers as data, and an answer can have told it what to say, so no "
    "rule is called proved; use the package's own prompt, which marks them"
)
"""The warning for a search with a judge that has a prompt of its own."""
UNMARKED = "the judge's prompt does not mark answers as data"
"""The short form of ``JUDGED_UNMARKED``: the judge has a prompt of its own. Reports show it as the reason
why a rule is undecided."""
_LOOSE = {JUDGED_TOGETHER: TOGETHER, JUDGED_UNMARKED: UNMARKED}


def loosely_judged(warnings: Iterable[str]) -> str:
    """Returns the short form of the first of these ``warnings`` that says that a judge may have been
    influenced; empty if there is none."""
    return next((_LOOSE[warning] for warning in warnings if warning in _LOOSE), "")
