"""What a question asks for: the kind of its answer, its weighty words, the names it gives."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from rag_rule_explainer.reader.choices import alternatives, pair
from rag_rule_explainer.reader.words import (
    FUNCTION_WORDS,
    QUESTION_WORDS,
    QUOTED,
    WORD,
    carries_meaning,
    content_key,
    folded,
    listed,
    readable,
    stem,
    terms,
)

LONGEST_QUESTION: Final = 2_000
_HEAVIEST_WORD: Final = 8
_NAME_WEIGHT: Final = 4
_POLAR: Final = listed("is are was were do does did has have had can could")
_EARLIER: Final = listed("first earlier older oldest earliest before eldest longer")
_LATER: Final = listed("later younger youngest latest newer newest recent recently last")
_COUNTED: Final = listed("many much population old often far long tall high large big")


class Wanted(Enum):
    """What kind of answer a question wants."""

    PERSON = "person"
    PLACE = "place"
    DATE = "date"
    YEAR = "year"
    NUMBER = "number"
    NAME = "name"
    MEASURE = "measure"
    STATEMENT = "statement"


_ASKS: Final[tuple[tuple[frozenset[str], frozenset[str], Wanted], ...]] = (
    # the question word, one of the four words after it, what is wanted; empty: whichever
    (listed("why"), listed(""), Wanted.STATEMENT),
    (listed("who whom whose"), listed(""), Wanted.PERSON),
    (listed("where"), listed(""), Wanted.PLACE),
    (listed("when"), listed(""), Wanted.DATE),
    (listed(""), listed("year"), Wanted.YEAR),
    (listed(""), listed("date born birthday"), Wanted.DATE),
    (listed(""), listed("population number"), Wanted.NUMBER),
    (listed(""), listed("should ought must may can could"), Wanted.STATEMENT),
    (listed(""), listed("city town country state county"), Wanted.PLACE),
)


class Order(Enum):
    """Which end of time a comparison asks for."""

    EARLIER = "earlier"
    LATER = "later"


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """An analysed question, compared by identity: `understood` gives equal texts one analysis."""

    text: str
    wanted: Wanted
    weights: dict[str, int]
    names: tuple[frozenset[str], ...]
    head: str
    key: str
    options: tuple[str, ...]
    polar: bool
    order: Order | None
    total: int

    def weight(self, covered: Iterable[str]) -> int:
        """The weight of the question's words among those given (each counted once)."""
        return sum(self.weights.get(term, 0) for term in covered)


@lru_cache(maxsize=64)
def understood(text: str) -> Question:
    """The question's analysis."""
    text = " ".join(readable(text[:LONGEST_QUESTION]).split())
    words = WORD.findall(text)
    plain = [folded(word) for word in words]
    weights = _weights(words)
    names = _names(text)
    polar = bool(plain) and plain[0] in _POLAR
    return Question(
        text=text,
        wanted=_wanted(plain),
        weights=weights,
        names=names,
        head=_head(plain),
        key=content_key(text),
        options=pair(text) if polar else alternatives(text),
        polar=polar,
        order=_order(plain),
        total=sum(weights.values()),
    )


def _weights(words: list[str]) -> dict[str, int]:
    weights: dict[str, int] = {}
    for at, word in enumerate(words):
        if carries_meaning(word):
            named = (at > 0 and word[0].isupper()) or word[0].isdecimal()
            weight = min(len(word), _HEAVIEST_WORD) + (_NAME_WEIGHT if named else 0)
            weights[stem(word)] = max(weight, weights.get(stem(word), 0))
    return weights


def _names(text: str) -> tuple[frozenset[str], ...]:
    found = [terms(match.group(1)) for match in QUOTED.finditer(text)]
    run: list[str] = []
    words = list(WORD.finditer(text))
    for at, match in enumerate(words):
        word = match.group()
        gap = text[words[at - 1].end() : match.start()] if at else " "
        if gap.strip(". ") and run:
            found.append(terms(" ".join(run)))
            run = []
        if word[0].isupper() and (at > 0 or folded(word) not in FUNCTION_WORDS):
            run.append(word)
        elif run:
            found.append(terms(" ".join(run)))
            run = []
    found.append(terms(" ".join(run)))
    return tuple(dict.fromkeys(name for name in found if name))


def _asking(plain: list[str]) -> int:
    """Where the question word stands; the last one, for questions that begin with a setting."""
    places = [at for at, word in enumerate(plain) if word in QUESTION_WORDS]
    if not places:
        return -1
    if places[0] == 0 or plain[places[0] - 1] in (
        "in",
        "at",
        "of",
        "on",
        "from",
        "for",
        "to",
        "by",
    ):
        return places[0]
    what = [at for at in places if plain[at] in ("what", "which", "how")]
    return what[-1] if what else places[0]


def _wanted(plain: list[str]) -> Wanted:
    at = _asking(plain)
    if at < 0:
        return Wanted.STATEMENT
    word, after = plain[at], plain[at + 1 : at + 5]
    if word == "how":
        return _how(after)
    for words, among, wanted in _ASKS:
        if (not words or word in words) and (not among or not among.isdisjoint(after)):
            return wanted
    return Wanted.NAME


def _how(after: list[str]) -> Wanted:
    if not after or after[0] in FUNCTION_WORDS - _COUNTED:
        return Wanted.STATEMENT
    return Wanted.NUMBER if after[0] in _COUNTED else Wanted.MEASURE


def _head(plain: list[str]) -> str:
    """The stem of the noun asked for: `which English director won` wants a director."""
    at = _asking(plain)
    if at < 0 or plain[at] not in ("what", "which", "how"):
        return ""
    head = ""
    for word in plain[at + 1 : at + 5]:
        if word in FUNCTION_WORDS:
            if head:
                break
            continue
        head = stem(word)
    return head


def _order(plain: list[str]) -> Order | None:
    if any(word in _LATER for word in plain):
        return Order.LATER
    return Order.EARLIER if any(word in _EARLIER for word in plain) else None
