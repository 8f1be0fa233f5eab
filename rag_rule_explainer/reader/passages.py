"""What a passage says, found once per text: its subject and its sentences."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from rag_rule_explainer.reader.spans import (
    ABBREVIATIONS,
    Span,
    SpanKind,
    Word,
    spans_of,
    words_of,
)
from rag_rule_explainer.reader.words import (
    NEGATIONS,
    WORD,
    carries_meaning,
    content_key,
    readable,
    terms,
)

LONGEST_READ: Final = 20_000
"""Characters of one passage that are read: a longer one is cut, so that a read stays bounded."""

_LONGEST_TITLE: Final = 120
_BREAK: Final = re.compile(r"\n+|[.!?][\"'”’)\]]?\s")
_BRACKETED: Final = re.compile(r"\s*\([^()]*\)\s*$")


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """One statement of a passage."""

    text: str
    words: tuple[Word, ...]
    terms: frozenset[str]
    spans: tuple[Span, ...]
    denies: bool
    counts: bool


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """An analysed passage, compared by identity: `analysed` gives equal texts one analysis."""

    subject: str
    subject_key: str
    subject_terms: frozenset[str]
    sentences: tuple[Sentence, ...]
    terms: frozenset[str]
    names: frozenset[str] = field(repr=False)
    key: str = field(repr=False)


@lru_cache(maxsize=256)
def analysed(text: str) -> Passage:
    """The passage's analysis, in time linear in its length."""
    title, body = _title_and_body(readable(text[:LONGEST_READ]))
    sentences = tuple(_sentence(part) for part in _sentence_texts(body))
    subject = title or _leading_name(sentences)
    return Passage(
        subject=subject,
        subject_key=content_key(subject),
        subject_terms=terms(subject),
        sentences=sentences,
        terms=frozenset[str]().union(terms(subject), *(each.terms for each in sentences)),
        names=frozenset(span.key for each in sentences for span in each.spans),
        key=content_key(title + " " + body),
    )


def _title_and_body(text: str) -> tuple[str, str]:
    first, newline, rest = text.strip().partition("\n")
    if newline and rest.strip() and _is_title(first):
        return _BRACKETED.sub("", first.strip()[:_LONGEST_TITLE]), rest
    first, colon, rest = text.strip().partition(": ")
    if colon and rest.strip() and _is_title(first) and len(first.split()) <= 8:
        return _BRACKETED.sub("", first), rest
    return "", text


def _is_title(line: str) -> bool:
    line = line.strip()
    return 0 < len(line) <= _LONGEST_TITLE and "\n" not in line and line[-1] not in ".?!;,"


def _leading_name(sentences: tuple[Sentence, ...]) -> str:
    spans = sentences[0].spans if sentences else ()
    opening = [span for span in spans if span.kind is SpanKind.NAME and span.first <= 1]
    return opening[0].text if opening else ""


def _sentence_texts(body: str) -> Iterator[str]:
    start = 0
    for mark in _BREAK.finditer(body):
        if "\n" in mark.group() or _ends_sentence(body, start, mark):
            yield from _stated(body[start : mark.end()])
            start = mark.end()
    yield from _stated(body[start:])


def _stated(text: str) -> Iterator[str]:
    text = " ".join(text.split())
    if WORD.search(text):
        yield text


def _ends_sentence(body: str, start: int, mark: re.Match[str]) -> bool:
    following = body[mark.end() : mark.end() + 1]
    if following.islower() or mark.group()[0] != ".":
        return not following.islower()
    before = body[max(start, mark.start() - 12) : mark.start()].split()
    last = before[-1].strip("(\"'“") if before else ""
    return not (len(last) == 1 and last.isupper()) and last.casefold() not in ABBREVIATIONS


def _sentence(text: str) -> Sentence:
    words = words_of(text)
    spans = spans_of(text, words)
    return Sentence(
        text=text,
        words=words,
        terms=frozenset(word.stem for word in words if carries_meaning(word.text)),
        spans=spans,
        denies=any(word.plain.replace("’", "'") in NEGATIONS for word in words),
        counts=any(span.kind is SpanKind.NUMBER for span in spans),
    )
