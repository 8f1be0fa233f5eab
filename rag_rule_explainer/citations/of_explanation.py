"""This module checks the citations of an answer that was explained earlier."""

from collections.abc import Iterable, Sequence
from typing import Any

from ..allowed import brief, checked_list
from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from .causes import Causes
from .checking import checked_citations
from .reading import CitableSources, CitationReading, read_citations
from .reading.citing_text import CitingText, ReadCitation
from .reading.meaning import NO_SUCH
from .records import CitationCheck


def check_citations(
    explanation: Explanation,
    *,
    output: Any = None,
    cited: Iterable[str] | None = None,
    reading: CitationReading = None,
    numbers_from: int = 1,
) -> CitationCheck:
    r"""Returns which citations of the explained answer are real, by the explanation's rules.

    The condition of the explanation is the claim: it must hold iff the answer makes the claim. No model
    is called, and the application does not run.

    ``output``: the output of the application, if it contains citations outside of the text, as messages
    do; by default the answer's text. ``cited``: the ids of the cited sources, if the caller knows them;
    the answer is then not searched for citations. ``reading``: a function of an output and of the ids of
    the shown sources that returns the cited ids; or a regular expression for citations in another form,
    such as ``r"<(\d+)>"``. ``numbers_from``: the number that the application gives to its first source, 1
    or 0.

    Raises InvalidInput if ``explanation`` is no explanation, and for a malformed ``reading``.
    """
    if not isinstance(explanation, Explanation):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass values of other types
        raise InvalidInput(
            f"an Explanation is needed, and {brief(explanation)} was given; pass what explain() returned"
        )
    shown = shown_in(explanation, numbers_from)
    if cited is not None:
        found = _given(explanation, checked_list("cited", cited, "ids of sources"), shown)
    else:
        text = explanation.baseline.text if output is None else output
        found = read_citations(text, shown, reading)
    return checked_citations(Causes(explanation), found, claim_words(explanation))


def shown_in(explanation: Explanation, numbers_from: int = 1) -> CitableSources:
    """Returns the sources of an explanation as ``CitableSources``, which finds the source of a citation.
    ``numbers_from``: the number of the first source. Raises InvalidInput if it is neither 0 nor 1."""
    if type(numbers_from) is not int or numbers_from not in {0, 1}:
        raise InvalidInput(
            f"numbers_from is {numbers_from!r}; give the number of the first source, 0 or 1"
        )
    found = CitableSources(explanation.sources, explanation.held_out, numbers_from)
    return found.as_seen(explanation.baseline.seen)


def claim_words(explanation: Explanation) -> str:
    """Returns the claim in words. It is the condition of retention rules; if the explanation has no such
    condition, returns an empty text."""
    conditions = explanation.predicates
    return next((said for kind, said in conditions.items() if kind.value == "retention"), "")


def _given(explanation: Explanation, ids: Sequence[str], shown: CitableSources) -> CitingText:
    for each in ids:
        if not isinstance(each, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass values of other types
            raise InvalidInput(f"cited has {brief(each)}; give ids of sources")
    found = [
        ReadCitation(
            each, each if each in shown.known else None, why=NO_SUCH if each not in shown.known else ""
        )
        for each in ids
    ]
    return CitingText(explanation.baseline.text, tuple(found))
