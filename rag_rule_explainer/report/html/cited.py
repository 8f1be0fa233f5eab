"""This module writes the section of the HTML report that shows the answer with its citations. Each class
of citations, such as *needs a partner*, has its own sign and its own underline, so that a reader does not
depend on colours."""

from collections.abc import Iterator

from markupsafe import Markup

from ...citations import CitationCheck, CitationVerdict, ReadCitation
from ...citations.text import said_together
from ...explanation.explanation import Explanation
from ...printable import printable, shortened
from ...rules import RuleKind
from .markup import isolated, joined_markup, one_line

_LONGEST = 5000
"""The maximum number of characters of the answer that the section shows."""
_MOST_SOURCES = 500
"""The maximum number of sources for which the section is written. With more, comparing all probes would
take too long."""
_MOST_LISTED = 50


def citation_section(explanation: Explanation) -> Markup:
    """Returns the answer with its citations marked by their classes, and a list of the verdicts on them.
    Empty if the answer cites nothing, if no retention rules were searched for, or if there are too many
    sources."""
    if len(explanation.sources) > _MOST_SOURCES or RuleKind.RETENTION not in explanation.predicates:
        return Markup()
    check = explanation.citations()
    if not check.verdicts:
        return Markup()
    entries = joined_markup(_entry(each) for each in check.verdicts[:_MOST_LISTED])
    left_out = len(check.verdicts) - _MOST_LISTED
    more = Markup('<p class="aside">… and {:,} more</p>').format(left_out) if left_out > 0 else Markup()
    remarks = joined_markup(
        Markup('<p class="aside">{}</p>').format(isolated(shortened(printable(each), 400)))
        for each in (said_together(check), *check.remarks)
    )
    return Markup(
        '<p class="aside">Whether the answer rests on what it cites. The claim is this condition: {}.</p>'
        '<div class="answer"><div class="text">{}</div></div><ul class="plain">{}</ul>{}{}'
    ).format(
        isolated(shortened(printable(check.statement), 300)),
        joined_markup(_marked(check)),
        entries,
        more,
        remarks,
    )


def _entry(verdict: CitationVerdict) -> Markup:
    found = verdict.citation_class
    return Markup('<li>{} <span class="{}">{}</span><small>{}</small></li>').format(
        _sign(verdict),
        "sure" if verdict.claim == "proved" else "open",
        isolated(str(verdict)),
        found.meaning,
    )


def _sign(verdict: CitationVerdict) -> Markup:
    found = verdict.citation_class
    return Markup('<span class="cited {}" aria-hidden="true">{}</span>').format(
        _name(verdict), found.mark
    )


def _name(verdict: CitationVerdict) -> str:
    """Returns the CSS class for the class of a citation, such as "needs-a-partner"."""
    return verdict.citation_class.value.replace(" ", "-")


def _marked(check: CitationCheck) -> Iterator[Markup]:
    """Yields the answer's text, with each citation in the style of its class."""
    text, end = check.reading.text[:_LONGEST], 0
    for (start, stop), verdicts in _places(check).items():
        if start < end or stop > len(text):
            continue
        yield _lines(text[end:start])
        signs = joined_markup(_sign(each) for each in verdicts)
        said = "; ".join(each.citation_class.value for each in verdicts)
        yield Markup('<span class="cited {}" title="{}">{}</span>{}').format(
            _name(verdicts[0]), said, one_line(text[start:stop]), signs
        )
        end = stop
    yield _lines(text[end:])
    if len(check.reading.text) > _LONGEST:
        yield Markup(" …")


def _places(check: CitationCheck) -> dict[tuple[int, int], list[CitationVerdict]]:
    """Returns the verdicts on the citations by the position (start and end) of each citation in the
    answer's text, in the order of the text."""
    found = dict[tuple[int, int], list[CitationVerdict]]()
    for citation in sorted(check.reading.citations, key=_place):
        verdict = check.of_mark(citation)
        if verdict is not None and citation.start is not None and citation.end is not None:
            found.setdefault((citation.start, citation.end), []).append(verdict)
    return found


def _place(citation: ReadCitation) -> tuple[int, int]:
    return citation.start or 0, citation.end or 0


def _lines(text: str) -> Markup:
    return Markup("\n").join(one_line(each) for each in text.split("\n"))
