"""This module recognises statements that may still contain words of a citation after the citation was
removed.

If the citation is removed from "As noted by [1], it is so.", the words "As noted by" are left over. An
answer without the source would not contain them. The module knows such words of many languages, but not
all. After unknown words it is uncertain what the statement says, so its citations stay undecided.
"""

import re
from collections.abc import Iterator, Sequence

from ..late_patterns import compiled_late
from ..predicates.attribution import is_attribution
from ..predicates.mark_places import Place
from ..predicates.plain_signs import words_in
from .reading import ReadCitation

_WORD = compiled_late(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,2}|[^\W\d_][^\s\d_,;:.!?()\[\]{}，。：；、（）।*|]*"
)
_MOST = 3
_GOES_ON = compiled_late(r"[\s*_`]*[,:，：、،]")
_SOON = compiled_late(r"[\s*_`]*(?:[^\s,:，：、،.]+[ \t]?)?[,:，：、،]")
_SAYING = compiled_late(
    r"[\s*_`]*(?:[^\s,:，：、،.]+ ?){1,3}(?:[:,，：、،]|\s(?:that|dass|que|che|что|dat|że|at|att|ki)\s)",
    re.IGNORECASE,
)
_ROUND = compiled_late(r"[(（][^()（）\n]{1,300}[)）]")
_LISTED = compiled_late(r"[\s>#*_|•+-]*(?:\(?\w{1,3}[.):]\s+)?")
_PREPOSITIONS = words_in(
    "in by from of per via with at under within laut von gemäß dans par selon de d'après avec en por "
    "según con da di secondo em na segundo volgens ifølge fra enligt från według согласно из по "
    "بحسب في من حسب وفق"
)
"""Prepositions, which need another word after them. None of them can be a whole answer, and they are
seldom the second part of a verb, as "up" is in "give up"."""
_LONGEST_LAST = 60
_FEWEST = 2
_SHORT = 9
ONLY_SOURCES = "it is not known whether this says something, or names the sources of what stands above"
LEFT_OVER = "it is not known whether “{}” belongs to the citation or to what is said"


def why_unclear(text: str, place: Place, marks: Sequence[Place], said: str) -> str:
    """Returns the reason why it is uncertain what the statement at this position says; empty if it is
    certain. ``marks``: the positions of its citations, in order. ``said``: the statement without the
    words that are known to belong to a citation."""
    found = next((each for each in _left_over(text, place, marks) if _is_in(each, said)), "")
    found = found or _without_object(text, place, marks, said)
    return LEFT_OVER.format(" ".join(found.split())) if found else ""


def _without_object(text: str, place: Place, marks: Sequence[Place], said: str) -> str:
    """Returns the preposition with which ``said`` ends before a citation at the end of the statement, as
    "in" in "as we read in [1]"; an empty text if there is none. ``place``: the position of the statement.
    ``marks``: those of its citations."""
    if not marks or _WORD.search(text, marks[-1][1], place[1]):
        return ""
    words = _WORD.findall(text[place[0] : marks[-1][0]][-_LONGEST_LAST:])
    last = words[-1].casefold() if words else ""
    return last if last in _PREPOSITIONS and said.casefold().endswith(f" {last}") else ""


def why_only_sources(text: str, spans: Sequence[Place], cited: Sequence[Sequence[ReadCitation]]) -> str:
    """Returns the reason why the last statement may only name the sources of the other statements, and
    say nothing itself; empty if there is no such reason.

    The reason applies if the last statement is a short separate paragraph and cites more than one
    source, and no other statement cites any. ``spans``, ``cited``: the position and the citations of
    each statement.
    """
    if len(spans) < _FEWEST or any(cited[:-1]) or len({each.source for each in cited[-1]}) < _FEWEST:
        return ""
    start, end = spans[-1]
    between = (
        text[spans[-2][1] : start]
        + text[start:end][: len(text[start:end]) - len(text[start:end].lstrip())]
    )
    before = text[spans[-2][0] : spans[-2][1]]
    ends = before[len(before.rstrip()) :] + between
    is_short = len(_WORD.findall(text[start:end])) <= _SHORT
    return ONLY_SOURCES if ends.count("\n") > 1 and is_short else ""


def _is_in(words: str, said: str) -> bool:
    first = _WORD.search(words)
    return first is not None and first[0].casefold() in said.casefold()


def _left_over(text: str, place: Place, marks: Sequence[Place]) -> Iterator[str]:
    if not marks:
        return
    start, end = marks[0]
    # The pattern also matches the empty text, so there always is a match.
    lead = text[_LISTED.match(text, place[0], start).end() : start]  # type: ignore[union-attr]
    after = text[end : place[1]]
    if lead.strip(" \t*_`([（"):
        if len(_WORD.findall(lead)) <= _MOST and _SOON.match(after):
            yield lead
    else:
        yield from _of_subject(text[start:end], after)
    yield from _in_brackets(text, place, marks)
    yield from _behind_last(text, place, marks)


def _of_subject(mark: str, after: str) -> Iterator[str]:
    """Yields the words after a citation at the start of a statement, if they may be a verb whose subject
    is the citation, as in "[1] reports that it is so."
    """
    bare = after.lstrip(" \t\n*_`:：")
    is_worded = mark[:1].isalpha()
    is_verb = bare[:1].islower() or (bare[:1].isalpha() and not bare[:1].isupper()) or bare[:1] in "'’"
    if (is_worded and is_verb and not after.lstrip("*_ ").startswith((":", "："))) or (
        is_verb and _SAYING.match(after)
    ):
        words = _WORD.findall(bare)
        yield words[0] if words else bare[:3]


def _in_brackets(text: str, place: Place, marks: Sequence[Place]) -> Iterator[str]:
    """Yields the words beside a citation in the same round brackets, if they are few, as in "It is so (as
    [1] says)." ``place``: the position of the statement. ``marks``: those of its citations."""
    for found in _ROUND.finditer(text, *place):
        inside = [each for each in marks if found.start() < each[0] and each[1] < found.end()]
        if inside and text[place[0] : found.start()].strip():
            ends = [found.start() + 1, *(end for _, end in inside)]
            starts = [*(start for start, _ in inside), found.end() - 1]
            rest = " ".join(text[a:b] for a, b in zip(ends, starts, strict=True))
            if 0 < len(_WORD.findall(rest)) <= _MOST + 1:
                yield rest


def _behind_last(text: str, place: Place, marks: Sequence[Place]) -> Iterator[str]:
    """Yields the words after the last citation of a statement, if they are few and follow a short last
    clause. In "It is so, as [1] confirms.", the last clause begins with "as", and the word after the
    citation is "confirms".

    ``text``: the whole answer. ``place``: the start and the end of the statement in it. ``marks``: those
    of the statement's citations.
    """
    start, end = marks[-1]
    after = text[end : place[1]]
    before = re.split(r"[,，、،—–]", text[place[0] : start])
    if len(before) > 1 and not _GOES_ON.match(after) and before[-1].strip():
        rest = f"{before[-1]} {after}"
        few = 0 < len(_WORD.findall(after)) <= _MOST and len(_WORD.findall(before[-1])) <= _MOST
        if few and not is_attribution(rest):
            yield after
