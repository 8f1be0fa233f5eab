"""This module normalises texts for comparison, and measures how many words two texts have in common."""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import lru_cache, update_wrapper
from itertools import groupby
from typing import Literal, TypeAlias

from ..late_patterns import compiled_late

_SUPERSCRIPT = compiled_late("[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]")
_TYPOGRAPHIC = {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u2212": "-"}
_TYPOGRAPHIC_MARK = compiled_late(f"[{''.join(_TYPOGRAPHIC)}]")
_OPENING, _CLOSING = "\"'`*_ ", "\"'`*_.!?,;: "
"""The characters that are ignored at the beginning (first text) and at the end (second text) of an
answer: quotation marks, signs of emphasis and white space; at the end also punctuation."""
_THOUSANDS = compiled_late(r"\d{3}(?!\d)")
_NUMBER = compiled_late(r"\.?\d")
_NO_WORD = compiled_late(r"(?:[^\w\s]|_)+")
"""Matches a run of characters that are neither letters, digits nor white space, such as punctuation,
symbols and combining accents."""
_MANY_MARKS = compiled_late(r"[^\w\s]{32,}")
_LONG = 1 << 14
"""Results for texts with more characters than this are kept in a separate cache of only a few entries,
because they need much memory."""

Form: TypeAlias = Literal["NFC", "NFKD"]


def _remembered(function: Callable[[str], str]) -> Callable[[str], str]:
    """Returns the function with a cache of its latest results. Long texts have a small cache of their
    own, because they need much memory."""
    short, long = lru_cache(maxsize=2048)(function), lru_cache(maxsize=8)(function)

    def remembering(text: str) -> str:
        return (short if len(text) <= _LONG else long)(text)

    return update_wrapper(remembering, function)


def normal_form(form: Form, text: str) -> str:
    """Returns the text in the Unicode normal form ``form``, in linear time.

    Python alone would need hours for a million unsorted accents above one letter, because it sorts them
    by insertion. So long runs of accents are sorted first.
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
    """Returns the text in a form in which texts with the same wording are equal. Case, white space,
    typographic variants of characters, and quotation marks and punctuation around the whole text make no
    difference."""
    plain = _TYPOGRAPHIC_MARK.sub(lambda mark: _TYPOGRAPHIC[mark[0]], normal_form("NFC", text)).casefold()
    return " ".join(plain.split()).lstrip(_OPENING).rstrip(_CLOSING) or text.strip()


@_remembered
def near_exact(text: str) -> str:
    """Returns the text in the form in which near-exact match compares answers. Two answers match if their
    forms are equal and not empty.

    The form is NFKD without accents on Latin letters, in lower case (case folded), without punctuation,
    with single spaces. Unlike in the paper on which this package is based, characters that distinguish
    values are kept: letters of other scripts (in ASCII, all Chinese answers would be equal), symbols, the
    per cent sign, a decimal point, a plus or minus before or after (-3 is not 3, HER2+ is not HER2-), and
    an exponent. Punctuation between digits becomes a space (2-3 is not 23).
    """
    raised = _SUPERSCRIPT.sub(lambda found: "^" + found[0], text)
    decomposed = normal_form("NFKD", raised).replace("\u2212", "-")
    return " ".join(_NO_WORD.sub(_in_words, decomposed).casefold().split())


def _in_words(found: re.Match[str]) -> str:
    """Returns the part of ``found``, a run of punctuation and symbols, that ``near_exact`` keeps: the
    characters that distinguish answers, and a space where two numbers must stay separate."""
    text, start = found.string, found.start()
    base = text[start - 1 : start]  # the last character before these that is not a combining accent
    kept: list[str] = []
    for place, character in enumerate(found[0], start=start):
        category = unicodedata.category(character)
        if category[0] == "M":
            # Accents on ASCII letters are removed. Other marks, such as the vowel signs of Indic scripts,
            # count as letters and are kept.
            kept.append("" if base.isascii() else character)
            continue
        if category[0] in "LN" or (category[0] == "S" and character not in "`^~") or character in "%^":
            kept.append(character)
        else:
            kept.append(_mark(text, place, base))
        base = character
    return "".join(kept)


def _mark(text: str, place: int, previous: str) -> str:
    """Returns the text that ``near_exact`` puts in place of the punctuation character at ``place``; this
    text is often empty. ``previous``: the character before ``place``."""
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
    """Returns True iff the texts match nearly exactly: ``near_exact`` gives the same form for both. If
    this form is empty, the texts must be equal apart from white space around them."""
    left, right = near_exact(first), near_exact(second)
    return left == right and (bool(left) or first.strip() == second.strip())


def papers_form(text: str) -> str:
    """Returns the text in the form in which the paper compares answers: case folded, without ASCII
    punctuation, decomposed (NFKD), without all characters beyond ASCII.

    This form has faults, which ``near_exact`` avoids: 3.5 equals 35, -3 equals 3, any two names in
    Chinese are equal, and two spaces differ from one.
    """
    folded = text.casefold().translate(_PUNCTUATION)
    return unicodedata.normalize("NFKD", folded).encode("ascii", "ignore").decode()


_PUNCTUATION = str.maketrans("", "", string.punctuation)
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
"""The characters of scripts that have no spaces between words. Each of these characters counts as one
word."""
_WORD = compiled_late(f"[{_UNSPACED}]|[^\\s{_UNSPACED}]+")


def overlap(first: str, second: str) -> float:
    """Returns the share of words that two texts have in common, in any order: 2 * common words / (words
    of both), which is the token-level F1 of SQuAD.

    The texts are split into words after ``near_exact``. Articles count, because hepatitis A is not
    hepatitis. Texts without words get 1 if they are equal, else 0.
    """
    left, right = (Counter(_WORD.findall(near_exact(text))) for text in (first, second))
    if not left or not right:
        return float(equivalent(first, second))
    return 2 * sum((left & right).values()) / (sum(left.values()) + sum(right.values()))
