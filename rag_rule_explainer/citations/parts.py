"""This module finds citations that may support only a part of their sentence, or the sentence after them.
These are citations inside a sentence with several statements, and citations between two sentences."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ..late_patterns import compiled_late
from ..predicates.attribution import is_attribution
from ..predicates.mark_places import Place
from .leading_marks import ENDING
from .reading import ReadCitation

_FEWEST_WORDS = 3
_WORD = compiled_late(r"[\u3040-\u30ff\u3400-\u9fff]{2}|[\w'’.-]*[^\W_][\w'’.-]*")
_AND = (
    r"and|but|while|whereas|although|though|because|so|yet|nor|und|aber|während|doch|sondern|et|mais|tandis|"
    r"y|pero|mientras|e|ma|mentre|mas|enquanto|и|а|но|en|maar|terwijl|oraz|ale|ve|ama|و|لكن|और|लेकिन"
)
_GOES_ON = compiled_late(
    rf"[\s)\]*_`]*(?:[,;:，；：、،—–]|(?<=\s)(?:{_AND})(?!\w)|而|但|并且|而且|が、|そして|그리고)",
    re.IGNORECASE,
)
_WENT_ON = compiled_late(
    rf"(?:[,;，；、،—–]|[.!?。][\"”’»)]|(?<!\w)(?:{_AND})|而|但|并且|而且)[\s(*_`]*\Z", re.IGNORECASE
)


def of_parts(
    text: str, place: Place, marks: Sequence[Place], citations: Sequence[ReadCitation]
) -> Iterator[ReadCitation]:
    """Yields the citations of the statement at this position.

    If a citation stands between two parts of the statement, as in "It is so [1], but not here [2]",
    ``of_part`` becomes True for all citations inside the statement. ``marks``: the positions of the
    citations in the statement, in order.
    """
    is_several = _says_several(text, place, marks)
    for each in citations:
        is_inside = each.start is not None and (each.scope is None or place[0] <= each.start < place[1])
        yield replace(each, of_part=True) if is_several and is_inside else each


def _says_several(text: str, place: Place, marks: Sequence[Place]) -> bool:
    ends = [place[0], *(end for _, end in marks)]
    starts = [*(start for start, _ in marks), place[1]]
    pieces = [text[start:end] for start, end in zip(ends, starts, strict=True) if start <= end]
    says = list(map(_says, pieces))
    cuts = [
        number
        for number, (before, after) in enumerate(pairwise(pieces), start=1)
        if _GOES_ON.match(after) is not None or _WENT_ON.search(before) is not None
    ]
    return any(any(says[:cut]) and any(says[cut:]) for cut in cuts)


def _says(piece: str) -> bool:
    return len(_WORD.findall(piece)) >= _FEWEST_WORDS and not is_attribution(piece)


def between_two(
    text: str, places: Sequence[Place], marks: Sequence[Place], citations: Sequence[ReadCitation]
) -> Iterator[ReadCitation]:
    """Yields the citations. If a citation may support the sentence before or after it, its ``scope``
    becomes both sentences.

    An example is [2] in "So it is [1]. [2] That too.": the sentence before it already cites a source,
    and another sentence follows on the same line. ``places``: the positions of all statements.
    ``marks``: the positions of all citations.
    """
    for each in citations:
        scope = None if each.scope is not None else _scope_of(text, places, marks, each)
        yield each if scope is None else replace(each, scope=scope)


def _scope_of(
    text: str, places: Sequence[Place], marks: Sequence[Place], citation: ReadCitation
) -> Place | None:
    if citation.start is None or citation.end is None:
        return None
    at, end = next(
        (each for each in marks if each[0] <= citation.start < each[1]), (citation.start, citation.end)
    )
    for own, following in pairwise(places):
        if own[0] <= at < own[1]:
            said = text[own[0] : at].rstrip(" \t\"'”’»)")
            is_behind = bool(said) and said[-1] in ENDING
            cites = any(own[0] <= start and last < at for start, last in marks)
            is_before = "\n" not in text[end : following[0]] and not text[end : own[1]].strip(" .,;:")
            return (own[0], following[1]) if is_behind and cites and is_before else None
    return None
