"""The stretches of a sentence that could answer a question: names, dates, numbers, descriptions."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Final

from rag_rule_explainer.reader.words import (
    FUNCTION_WORDS,
    QUOTED,
    WORD,
    content_key,
    folded,
    listed,
    stem,
    terms,
)

_MONTHS: Final = listed(
    "january february march april may june july august september october november december"
)
_NUMBERS: Final = listed(
    """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
    hundred thousand million billion dozen"""
)
_SCALES: Final = listed("hundred thousand million billion dozen percent")
_JOINS_NAMES: Final = listed("of the de la le van von der du da del di for y")
ABBREVIATIONS: Final = listed("mr mrs ms dr st jr sr vs no prof inc ltd co etc ca mt ft")
"""Words whose full stop does not end a sentence or a name."""


class SpanKind(Enum):
    """What a span of text looks like."""

    NAME = "name"
    DATE = "date"
    YEAR = "year"
    NUMBER = "number"
    PHRASE = "phrase"


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a sentence and its place in it."""

    text: str
    stem: str
    start: int
    end: int
    plain: str


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a sentence that could answer a question; `first` and `last` count its words."""

    text: str
    kind: SpanKind
    first: int
    last: int
    key: str
    terms: frozenset[str]


def words_of(text: str) -> tuple[Word, ...]:
    """The words of a text with their places."""
    return tuple(
        Word(match.group(), stem(match.group()), match.start(), match.end(), folded(match.group()))
        for match in WORD.finditer(text)
    )


def spans_of(text: str, words: tuple[Word, ...]) -> tuple[Span, ...]:
    """Every span of a sentence; of two with the same bounds, the one of the more telling kind."""
    found: dict[tuple[int, int], Span] = {}
    bounds = chain(
        _dates(words),
        _numbers(words),
        _names(text, words),
        _quotations(text, words),
        _complements(text, words),
    )
    for kind, first, last in bounds:
        span_text = text[words[first].start : words[last].end]
        key = content_key(span_text)
        if key and (first, last) not in found:
            found[first, last] = Span(span_text, kind, first, last, key, terms(span_text))
    return tuple(found.values())


_Found = Iterator[tuple[SpanKind, int, int]]


def _dates(words: tuple[Word, ...]) -> _Found:
    for at, word in enumerate(words):
        if word.plain in _MONTHS and word.text[0].isupper():
            first, last = at, at
            if at and _is_day(words[at - 1].text):
                first = at - 1
            elif at + 1 < len(words) and _is_day(words[at + 1].text):
                last = at + 1
            if last + 1 < len(words) and _is_year(words[last + 1].text):
                last += 1
            if last > first:
                yield SpanKind.DATE, first, last
        elif _is_year(word.text):
            yield SpanKind.YEAR, at, at


def _is_day(text: str) -> bool:
    return text.isdecimal() and len(text) <= 2


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdecimal() and "1000" <= text <= "2100"


def _numbers(words: tuple[Word, ...]) -> _Found:
    last_end = -1
    for at, word in enumerate(words):
        if at > last_end and _is_number(word):
            last_end = at
            while last_end + 1 < len(words) and words[last_end + 1].plain in _SCALES:
                last_end += 1
            yield SpanKind.NUMBER, at, last_end


def _is_number(word: Word) -> bool:
    return word.text[0].isdecimal() or word.plain in _NUMBERS


def _names(text: str, words: tuple[Word, ...]) -> _Found:
    at = 0
    while at < len(words):
        if not _capitalised(words[at]) or (at == 0 and words[0].plain in FUNCTION_WORDS):
            at += 1
            continue
        last = _name_end(text, words, at)
        yield SpanKind.NAME, at, last
        at = last + 1


def _name_end(text: str, words: tuple[Word, ...], first: int) -> int:
    last = at = first
    while at + 1 < len(words) and _adjoins(text, words[at], words[at + 1]):
        at += 1
        if _capitalised(words[at]) or (words[at].text.isdecimal() and at == last + 1):
            last = at
        elif words[at].plain not in _JOINS_NAMES or at - last > 2:
            break
    return last


def _adjoins(text: str, left: Word, right: Word) -> bool:
    gap = text[left.end : right.start]
    shortened = len(left.text) == 1 or left.plain in ABBREVIATIONS
    return gap in (" ", " & ", "/") or (gap in (". ", ".") and shortened)


def _capitalised(word: Word) -> bool:
    return word.text[0].isupper()


def _quotations(text: str, words: tuple[Word, ...]) -> _Found:
    starts = [word.start for word in words]
    for match in QUOTED.finditer(text):
        first = bisect_left(starts, match.start())
        last = bisect_left(starts, match.end()) - 1
        if first <= last:
            yield SpanKind.NAME, first, last


def _complements(text: str, words: tuple[Word, ...]) -> _Found:
    """What stands after `is a`, `was the` and the like, up to the next joint of the sentence."""
    for at in range(len(words) - 2):
        if words[at].plain in ("is", "was", "are", "were") and words[at + 1].plain in (
            "a",
            "an",
            "the",
        ):
            last = at + 2
            while (
                last + 1 < len(words)
                and text[words[last].end : words[last + 1].start] == " "
                and words[last + 1].plain not in FUNCTION_WORDS
            ):
                last += 1
            yield SpanKind.PHRASE, at + 2, last
