"""This module normalises texts for comparison, and measures how many words two texts have in common."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import lru_cache, update_wrapper
from itertools import groupby
from typing import Literal, TypeAlias

_SUPERSCRIPT = re.compile("[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]")
_TYPOGRAPHIC = {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u2212": "-"}
_TYPOGRAPHIC_MARK = re.compile(f"[{''.join(_TYPOGRAPHIC)}]")
_OPENING, _CLOSING = "\"'`*_ ", "\"'`*_.!?,;: "
"""The characters that are ignored at the beginning and at the end of an answer: quotation marks,
emphasis and, at the end, punctuation."""
_THOUSANDS = re.compile(r"\d{3}(?!\d)")
_NUMBER = re.compile(r"\.?\d")
_NO_WORD = re.compile(r"(?:[^\w\s]|_)+")
"""The pattern of characters that are no letter, digit or white space, such as punctuation, symbols and
combining accents."""
_MANY_MARKS = re.compile(r"[^\w\s]{32,}")
_LONG = 1 << 14
"""The maximum length of a text, in characters, for the large cache. Longer texts go to a small cache."""

Form: TypeAlias = Literal["NFC", "NFKD"]


def _remembered(function: Callable[[str], str]) -> Callable[[str], str]:
    """Returns the function with a cache of its latest results. Long texts have a separate, smaller
    cache."""
    short, long = lru_cache(maxsize=2048)(function), lru_cache(maxsize=8)(function)

    def remembering(text: str) -> str:
        return (short if len(text) <= _LONG else long)(text)

    return update_wrapper(remembering, function)


def normal_form(form: Form, text: str) -> str:
    """Returns the text in this Unicode normal form, in linear time.

    Python sorts the accents above one letter by insertion, which takes hours for a million unsorted
    accents. So they are sorted before Python gets them.
    """
    if text.isascii():
        return text
    return unicodedata.normalize(form, _MANY_MARKS.sub(_in_order, text))


def _in_order(found: re.Match[str]) -> str:
    classes = groupby(found[0], lambda character: unicodedata.combining(character) > 0)
    return "".join(
        "".join(sorted(run, key=unicodedata.combining) if combining else run)
        for combining, run in classes
    )


@_remembered
def same_wording(text: str) -> str:
    """Returns the text without differences of presentation: case, white space, typographic variants of
    characters, and quotation marks and punctuation around the whole text."""
    plain = _TYPOGRAPHIC_MARK.sub(lambda mark: _TYPOGRAPHIC[mark[0]], normal_form("NFC", text)).casefold()
    return " ".join(plain.split()).lstrip(_OPENING).rstrip(_CLOSING) or text.strip()


@_remembered
def near_exact(text: str) -> str:
    """Returns the text in the form in which the paper's near-exact match compares answers.

    The form is NFKD without accents on Latin letters, case folded, without punctuation, with single
    spaces. Unlike in the paper, characters that distinguish values are kept. They are letters of other
    scripts (as ASCII, all Chinese answers would be equal), symbols, the per cent sign, a decimal point, a
    plus or minus before or after (-3 is not 3, HER2+ is not HER2-), and an exponent. Punctuation between
    digits becomes a space (2-3 is not 23).
    """
    raised = _SUPERSCRIPT.sub(lambda found: "^" + found[0], text)
    decomposed = normal_form("NFKD", raised).replace("\u2212", "-")
    return " ".join(_NO_WORD.sub(_telling, decomposed).casefold().split())


def _telling(found: re.Match[str]) -> str:
    """Returns those characters of a run of punctuation and symbols that distinguish answers. Returns a
    space if the words on both sides must stay separate."""
    text, start = found.string, found.start()
    base = text[start - 1 : start]  # This is the last character that is no combining accent.
    kept: list[str] = []
    for place, character in enumerate(found[0], start=start):
        category = unicodedata.category(character)
        if category[0] == "M":
            # Vowel signs of Indic and other scripts count as letters and are kept. Accents on ASCII
            # letters are removed.
            kept.append("" if base.isascii() else character)
            continue
        if category[0] in "LN" or (category[0] == "S" and character not in "`^~") or character in "%^":
            kept.append(character)
        else:
            kept.append(_mark(text, place, base))
        base = character
    return "".join(kept)


def _mark(text: str, place: int, previous: str) -> str:
    """Returns the replacement of the punctuation character at ``place``. ``previous``: the character
    before it."""
    mark, following = text[place], text[place + 1 : place + 2]
    if previous.isdigit() and following.isdigit():
        thousands = mark == "," and _THOUSANDS.match(text, place + 1) is not None
        return "" if thousands else "." if mark == "." else " "
    starts = not previous.isalnum()
    if mark == "-" and starts and _NUMBER.match(text, place + 1):
        return "-"
    if mark == "." and starts and following.isdigit():
        return "."
    closes = previous.isalnum() and not (following.isalnum() or following in "-")
    return "-" if mark == "-" and closes else ""


def equivalent(first: str, second: str) -> bool:
    """Returns True iff ``near_exact`` gives the same form for both texts. Texts without words are
    compared unchanged."""
    left, right = near_exact(first), near_exact(second)
    return left == right and (bool(left) or first.strip() == second.strip())


_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
"""The characters of scripts without spaces between words. Each such character counts as one word."""
_WORD = re.compile(f"[{_UNSPACED}]|[^\\s{_UNSPACED}]+")


def overlap(first: str, second: str) -> float:
    """Returns the share of words that two texts have in common, in any order. It is the token-level F1,
    as for SQuAD: 2 * common words / (words of both).

    Words are those of ``near_exact``. Articles count, because hepatitis A is not hepatitis. Texts without
    words get 1 if they are equal, else 0.
    """
    left, right = (Counter(_WORD.findall(near_exact(text))) for text in (first, second))
    if not left or not right:
        return float(equivalent(first, second))
    return 2 * sum((left & right).values()) / (sum(left.values()) + sum(right.values()))
