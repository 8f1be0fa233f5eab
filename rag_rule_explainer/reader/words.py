"""Words of ordinary English: which carry meaning, which only join, and which count as the same."""

import re
import unicodedata
from functools import lru_cache
from typing import Final


def listed(words: str) -> frozenset[str]:
    """The words of a list written as prose."""
    return frozenset(words.split())


QUESTION_WORDS: Final = listed("who whom whose which what where when why how")

FUNCTION_WORDS: Final = QUESTION_WORDS | listed(
    """a about above after again against all also although am among an and any are as at be because
    been before being between both but by can could did do does doing during each either else ever
    few for from had has have having he her here hers him his i if in into is it its itself just
    may me might more most much must my name named neither no nor not of off on one only onto or
    other our out over own per same shall she should since so some such than that the their them
    then there these they this those through to too under until up upon us very was we were while
    will with within without would yet you your s t"""
)

NEGATIONS: Final = listed(
    "no not none never nor neither nothing without cannot isn't wasn't aren't don't doesn't didn't"
    " hasn't haven't won't can't shouldn't failed fails lacks"
)

# Every repetition is followed by something it cannot itself match: no backtracking, linear time.
WORD: Final = re.compile(r"(?:\d+(?:[.,]\d+)*[^\W\d]*|\w+)(?:[-'’]\w+)*")

QUOTED: Final = re.compile(r"[\"“]([^\"“”\n]{1,80})[\"”]")

_UNREADABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\ufeff\ud800-\udfff]")
_ENDINGS: Final = ("ings", "ing", "ers", "ors", "er", "or", "ed", "es", "ly", "s")
_SHORTEST_STEM: Final = 3


def readable(text: str) -> str:
    """The text with control characters, zero-width characters and lone surrogates made spaces."""
    return _UNREADABLE.sub(" ", text)


def folded(text: str) -> str:
    """The text without case and accents, so that one word has one spelling."""
    if text.isascii():
        return text.casefold()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """The word's light stem: `directed`, `directs` and `director` share one."""
    plain = folded(word).replace("’", "'").removesuffix("'s").strip("'")
    if not plain.isalpha():
        return plain
    if plain.endswith("ies") and len(plain) > _SHORTEST_STEM + 2:
        return plain[:-3] + "y"
    for ending in _ENDINGS:
        if plain.endswith(ending) and len(plain) - len(ending) >= _SHORTEST_STEM:
            if ending == "s" and plain.endswith("ss"):
                break
            plain = plain[: -len(ending)]
            break
    return _without_doubling(plain)


def _without_doubling(stemmed: str) -> str:
    if len(stemmed) > _SHORTEST_STEM and stemmed[-1] == stemmed[-2]:
        return stemmed[:-1]
    return stemmed.removesuffix("e") if len(stemmed) > _SHORTEST_STEM else stemmed


def terms(text: str) -> frozenset[str]:
    """The stems of the text's content words."""
    return frozenset(stem(word) for word in WORD.findall(text) if carries_meaning(word))


def carries_meaning(word: str) -> bool:
    """Whether the word is more than grammar."""
    return folded(word).replace("’", "'").removesuffix("'s") not in FUNCTION_WORDS


def content_key(text: str) -> str:
    """The text as compared with others: folded words, without punctuation and leading articles."""
    words = [folded(word) for word in WORD.findall(text)]
    while words and words[0] in ("a", "an", "the"):
        del words[0]
    return " ".join(words)
