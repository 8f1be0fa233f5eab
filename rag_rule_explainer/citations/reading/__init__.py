"""This package reads the citations of an answer: those in its text, and those in other data of the
output."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, cast

from ...allowed import brief, named_function, takes
from ...errors import InvalidInput
from ...predicates.without_marks import check_pattern
from .citable_sources import CitableSources
from .citing_text import Citable, CitingText, ReadCitation
from .meaning import NO_SUCH
from .of_outputs import read_output

CitationReader: TypeAlias = Callable[[Any, tuple[str, ...]], Iterable[str | ReadCitation]]
"""A function that reads the citations of an output. It gets the output and the ids of the shown sources,
and returns ids, or ``ReadCitation`` objects with their positions in the text."""
CitationReading: TypeAlias = CitationReader | str | None
"""The setting that says how citations are read: None for all known forms; a regular expression, whose
first group is the number or the name of a source; or a function of the user."""

__all__ = [
    "Citable",
    "CitableSources",
    "CitationReader",
    "CitationReading",
    "CitingText",
    "ReadCitation",
    "check_reading",
    "read_citations",
]


def check_reading(reading: object) -> None:
    """Raises InvalidInput if ``reading`` is none of the values that ``CitationReading`` allows."""
    if reading is None:
        return
    if isinstance(reading, str):
        check_pattern("reading", reading)
    elif not callable(reading):
        raise InvalidInput(
            f"reading is {brief(reading)}; give a function of (output, ids), or a regular expression"
        )
    elif not takes(reading, 2):
        raise InvalidInput(
            f"reading is {named_function(reading)}, which cannot be called with two arguments; give a "
            "function of (output, ids)"
        )


def read_citations(output: Any, shown: CitableSources, reading: CitationReading = None) -> CitingText:
    """Returns the text of an output, and its citations.

    ``output``: the output of the application: a text, or a message, a response or a dict of a framework.
    ``reading``: how citations are read: None for all known forms, a regular expression, or a function.
    Raises InvalidInput if a user's function returns anything else than ids and ``ReadCitation`` objects.
    """
    check_reading(reading)
    if reading is None or isinstance(reading, str):
        return read_output(output, shown, reading)
    returned = cast("object", reading(output, shown.ids))
    if not isinstance(returned, Iterable) or isinstance(returned, str):
        raise InvalidInput(f"reading returned {brief(returned)}; return a list of ids of sources")
    found = [_given(each, shown) for each in cast("Iterable[object]", returned)]
    return CitingText(read_output(output, shown).text, tuple(found))


def _given(given: object, shown: CitableSources) -> ReadCitation:
    if isinstance(given, ReadCitation):
        return given
    if not isinstance(given, str):
        raise InvalidInput(f"reading returned {brief(given)}; return ids of sources")
    is_known = given in shown.known
    return ReadCitation(given, given if is_known else None, why="" if is_known else NO_SUCH)
