"""This module finds the subject of a text, its sentences, and the names, dates and numbers in them."""

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

from ..late_patterns import compiled_late

LONGEST_READ: Final = 20_000
"""The maximum number of characters of a passage that are read; the rest is cut off."""


def word_list(words: str) -> frozenset[str]:
    """Returns the words of a text, which are separated by white space, as a set."""
    return frozenset(words.split())


ASKING: Final = word_list("who whom whose which what where when why how")
GRAMMAR: Final = ASKING | word_list(
    """a about above after again against all also although am among an and any are as at be because been
    before being between both but by can could did do does doing during each either else ever few for from
    had has have having he her here hers him his i if in into is it its itself just may me might more most
    much must my name named neither no nor not of off on one only onto or other our out over own per same
    shall she should since so some such than that the their them then there these they this those through
    to too under until up upon us very was we were while will with within without would yet you your s
    t"""
)
# An attacker may have written a text, so the patterns must take only linear time. So each repetition in a
# pattern has a maximum, or is followed by something that the repeated part cannot match.
WORD: Final = compiled_late(r"(?:\d+(?:[.,]\d+)*[^\W\d]*|\w+)(?:[-'’]\w+)*")
UNREADABLE: Final = compiled_late("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\ufeff\ud800-\udfff]")
_TITLE: Final = compiled_late(
    r"([^\n]{0,119}[^\s.?!;,])[ \t]*\n\s*(?=\S)|((?:\S{1,40} ){0,7}\S{0,40}[^\s.?!;,]): \s*(?=\S)"
)
_BREAK: Final = compiled_late(
    r"\n+|(?:(?<=[.!?])|(?<=[.!?][\"'”’)\]]))(?<!\b[A-Z]\.)(?<!\b(?:M[rst]|Dr|St|Jr|vs|No|ca)\.)"
    r"(?<!\b(?:Mrs|Inc|Ltd)\.)\s+(?![a-zß-ÿ])"
)
_CAPITALISED: Final = r"[A-ZÀ-ÖØ-Þ]\w*(?:[-'’]\w+)*"
_JOINT: Final = r" (?:(?:of|the|de|la|le|van|von|der|du|da|del|di|for|y) ){0,2}"
NAMED: Final = (
    rf"{_CAPITALISED}(?:(?:(?:(?<=\b[A-Z])|(?<=\b[MDSJ][rst]))\. ?| & |/|{_JOINT}){_CAPITALISED}| \d+\b)*"
)
_MONTH: Final = "(?:(?:Jan|Febr)uary|March|April|May|June|July|August|(?:Septem|Octo|Novem|Decem)ber)"
_SCALE: Final = "hundred|thousand|million|billion|dozen"
_NUMERAL: Final = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    f"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|{_SCALE}"
)


class SpanKind(Enum):
    """A ``SpanKind`` is a kind of text that may answer a question, with the pattern by which it is found.
    If the patterns of several kinds match a text, the first of these kinds counts."""

    DATE = compiled_late(
        rf"\b(?:\d{{1,2}} {_MONTH}|{_MONTH} \d{{1,2}}\b|{_MONTH}(?= \d{{4}}))(?:,? \d{{4}}\b)?"
    )
    YEAR = compiled_late(r"(?<!\d)[12]\d{3}\b(?![-.,]\d)")
    NUMBER = compiled_late(rf"(?i)\b(?:\d+(?:[.,]\d+)*[^\W\d]*|{_NUMERAL})\b(?: (?:{_SCALE}|percent)\b)*")
    NAME = compiled_late(rf"\b{NAMED}")


class Span(NamedTuple):
    """A ``Span`` is a piece of text that may answer a question. ``start``: where it begins in its
    sentence. ``key``: its form for comparisons."""

    kind: SpanKind
    start: int
    text: str
    key: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """A ``Sentence`` holds the text of a sentence, the stems of its words, and its spans (pieces that may
    answer a question)."""

    text: str
    terms: frozenset[str]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """A ``Passage`` holds what was found in a text: its subject, its sentences, and the stems of words
    and the names in them."""

    subject: str
    subject_terms: frozenset[str]
    body: str
    sentences: tuple[Sentence, ...]
    terms: frozenset[str]
    names: frozenset[str]


@lru_cache(maxsize=256)
def analysed(text: str) -> Passage:
    """Returns the subject, the sentences, and the stems and names of a text. The time is linear in the
    length of the text. The results for the latest texts are cached."""
    text = UNREADABLE.sub(" ", text[:LONGEST_READ]).strip()
    titled = _TITLE.match(text)
    body = text[titled.end() :] if titled else text
    parts = (" ".join(part.split()) for part in _BREAK.split(body))
    sentences = tuple(Sentence(part, terms_of(part), spans(part)) for part in parts if WORD.search(part))
    if titled:
        subject = re.sub(r" ?\([^()]*\)$", "", titled.group(titled.lastindex or 0))
    else:
        opening = [
            span.text for each in sentences[:1] for span in each.spans if span.kind is SpanKind.NAME
        ]
        subject = opening[0] if opening and sentences[0].text.find(opening[0]) < 6 else ""
    names = frozenset(span.key for each in sentences for span in each.spans)
    terms = terms_of(subject).union(*(each.terms for each in sentences))
    return Passage(subject, terms_of(subject), body, sentences, terms, names)


def spans(text: str) -> tuple[Span, ...]:
    """Returns the dates, years, numbers and names in a text."""
    found: dict[tuple[int, int], Span] = {}
    opening = WORD.search(text)
    for kind in SpanKind:
        for match in kind.value.finditer(text):
            start, end = match.span()
            if opening and start == opening.start() and not stem(opening.group()):
                start = min(end, opening.end() + 1)
            key = key_of(text[start:end])
            if key and (start, end) not in found:
                found[start, end] = Span(kind, start, text[start:end], key, terms_of(text[start:end]))
    return tuple(found.values())


def folded(text: str) -> str:
    """Returns the text in lower case and without accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """Returns the stem of a word, such as ``direct`` for ``directed``; empty for words in ``GRAMMAR``,
    such as "the", which say nothing about the subject."""
    plain = folded(word).replace("’", "'").removesuffix("'s").strip("'")
    if plain in GRAMMAR or not plain.isalpha():
        return "" if plain in GRAMMAR else plain
    plain = re.sub(r"(?<=...)ies$", "y", plain)
    plain = re.sub(r"(?<=...)(?:ings?|[eo]rs?|ed|es|ly|(?<!s)s)$", "", plain)
    return re.sub(r"(?<=..)(.)\1$|(?<=...)e$", r"\1", plain)


def terms_of(text: str) -> frozenset[str]:
    """Returns the stems of a text's words, without words of grammar such as "the"."""
    return frozenset(map(stem, WORD.findall(text))) - {""}


def key_of(text: str) -> str:
    """Returns the form of the text by which answers are compared: its words in lower case, without
    accents, punctuation, and articles at the beginning."""
    return re.sub("^(?:(?:an?|the)(?: |$))+", "", " ".join(map(folded, WORD.findall(text))))
