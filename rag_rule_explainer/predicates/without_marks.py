"""This module defines a predicate that judges an answer without its citations.

An application that numbers the shown sources numbers them anew in every replay: [2] becomes [1] if the
first source is omitted. A condition on the content of the answer must not depend on this change.
"""

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ..allowed import brief, called_as
from ..errors import InvalidInput
from ..verdicts import Answer, Case
from .combine import Combinable, as_predicate, negation_of
from .footnotes import footnotes
from .inside import predicates_in
from .mark_places import Place, places_of_marks, widened
from .plain_signs import UNSEEN
from .protocol import Judged, Predicate, PredicateLike
from .remembering import remembered_name
from .source_lists import source_lists

_BEFORE = f" \t\u00a0\u202f{UNSEEN}"
_PUNCTUATION = ".,;:!?)…。，、；：！？）】」』।॥۔؟،؛"


def without_marks(
    text: str, kept: Iterable[str], known: Iterable[str], pattern: str | None = None
) -> str:
    """Returns the text without its citations, footnotes and list of references.

    ``kept``: the ids of the sources that were shown, in order. ``known``: the ids of all sources.
    ``pattern``: a regular expression for further citations; None for none.
    """
    ids = tuple(known) or tuple(kept)
    places = [_with_unseen(text, each) for each in widened(text, places_of_marks(text, ids, pattern))]
    places += [(each.start, each.end) for each in source_lists(text, places) if each.is_line]
    places += [(note.start, note.end) for note in footnotes(text)]
    if not places:
        return text
    pieces, end = list[str](), 0
    for start, stop in sorted(places):
        if start >= end:
            _add(pieces, text[end:start])
        end = max(end, stop)
    _add(pieces, text[end:])
    return "".join(pieces).strip()


def _with_unseen(text: str, place: Place) -> Place:
    """Returns the position of a citation, extended by the invisible characters next to it."""
    start, end = place
    while start and text[start - 1] in UNSEEN:
        start -= 1
    while end < len(text) and text[end] in UNSEEN:
        end += 1
    return start, end


def _add(pieces: list[str], piece: str) -> None:
    """Adds ``piece``, the text after a citation, to ``pieces``. If ``piece`` is empty or begins with a
    space or a punctuation mark, the spaces before the citation are dropped."""
    if pieces and (not piece or piece[0] in _BEFORE + _PUNCTUATION + "\n"):
        pieces[-1] = pieces[-1].rstrip(_BEFORE)
    pieces.append(piece)


@lru_cache(maxsize=1024)
def _bare(text: str, kept: tuple[str, ...], known: tuple[str, ...], pattern: str | None) -> str:
    return without_marks(text, kept, known, pattern)


@dataclass(frozen=True, slots=True)
class IgnoringCitations(Combinable):
    """This predicate judges an answer by ``inner``, but without the answer's citations, footnotes and
    list of references. ``pattern``: a regular expression for further citations; None for none."""

    inner: Predicate
    pattern: str | None = None

    def __call__(self, case: Case) -> Judged:
        """Returns the judgement that ``inner`` makes of the answer without its citations."""
        return self.inner(self._without(case))

    def _without(self, case: Case) -> Case:
        kept = tuple([source.id for source in case.kept])
        known = tuple([source.id for source in case.sources]) or kept
        answer, baseline = self._stripped(case.answer, kept, known), case.baseline
        return replace(case, answer=answer, baseline=self._stripped(baseline, known, known))

    def _stripped(self, answer: Answer, kept: tuple[str, ...], known: tuple[str, ...]) -> Answer:
        text = _bare(answer.text, kept, known, self.pattern)
        return answer if text == answer.text else replace(answer, text=text)

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the cache key of ``inner`` for the answer without its citations; None if judgements of
        ``inner`` must not be cached."""
        return self.inner.memo_key(self._without(case))

    @property
    def remembered_as(self) -> str | None:
        """Returns the name under which a store keeps the judgements of ``inner``; None if they have no
        name."""
        return remembered_name(self.inner)

    def __str__(self) -> str:
        return f"citations aside, {self.inner}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, as in "citations aside, the answer
        changes"."""
        return f"citations aside, {negation_of(self.inner)}"


@called_as("ignoring_citations")
def ignoring_citations(predicate: PredicateLike, *, pattern: str | None = None) -> IgnoringCitations:
    """Returns a predicate that judges the answer by ``predicate`` after its citations were removed.

    What is removed: all citations that ``cites`` recognises, footnotes, and a list of references at the
    end. ``pattern``: a regular expression for citations in another form. Raises InvalidInput if
    ``predicate`` is about citations itself, and for a malformed pattern.
    """
    inner = as_predicate(predicate)
    if any(_is_about_citations(part) for part in predicates_in(inner)):
        raise InvalidInput(f"{inner}: this is about citations, so they cannot be ignored; leave it out")
    if pattern is not None:
        check_pattern("pattern", pattern)
    return inner if isinstance(inner, IgnoringCitations) else IgnoringCitations(inner, pattern)


def check_pattern(name: str, pattern: object) -> None:
    """Raises InvalidInput unless ``pattern`` is a regular expression. ``name``: the name of the
    parameter, for the error message."""
    try:
        if not isinstance(pattern, str) or not pattern:
            raise InvalidInput(f"{name} is {brief(pattern)}; give a regular expression")
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidInput(f"{name} is {pattern!r}, which is no regular expression: {error}") from error


def _is_about_citations(part: Any) -> bool:
    from .citing import Cites  # imported late, since few conditions are about citations

    return isinstance(part, Cites)
