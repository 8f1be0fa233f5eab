"""Normal forms of wording: what counts as the same answer, and how much two answers share."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

_SUPERSCRIPT = re.compile("[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]")
_TYPOGRAPHIC = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u2212": "-"})
_OPENING, _CLOSING = "\"'`*_ ", "\"'`*_.!?,;: "
"""Quotation marks and emphasis around a whole answer, and what may end one."""
_THOUSANDS = re.compile(r"\d{3}(?!\d)")
_NUMBER = re.compile(r"\.?\d")


@lru_cache(maxsize=2048)
def same_wording(text: str) -> str:
    """The text without what a model varies when it says the same: case, white space, typographic marks,
    and quotation marks or a full stop around the whole."""
    plain = unicodedata.normalize("NFC", text).translate(_TYPOGRAPHIC).casefold()
    return " ".join(plain.split()).lstrip(_OPENING).rstrip(_CLOSING) or text.strip()


@lru_cache(maxsize=2048)
def near_exact(text: str) -> str:
    """The text in the form in which the paper's near-exact match compares answers.

    NFKD, accents taken off Latin letters, case folded, punctuation stripped, white space collapsed.
    Beyond the paper, what tells values apart stays: letters of other scripts (turned to ASCII, all
    Chinese answers would be equal), symbols, per cent, a decimal point, a sign before or after (-3 is not
    3, HER2+ not HER2-), an exponent; and punctuation between digits parts them (2-3 is not 23).
    """
    raised = _SUPERSCRIPT.sub(lambda found: "^" + found[0], text)
    decomposed = unicodedata.normalize("NFKD", raised).replace("\u2212", "-")
    return " ".join("".join(_telling(decomposed)).casefold().split())


def _telling(text: str) -> Iterator[str]:
    """The characters that tell answers apart, and a space where two of them are to stay apart."""
    base = ""  # the last character that is no combining mark
    for place, character in enumerate(text):
        category = unicodedata.category(character)
        if category[0] == "M":
            # Vowel signs of Indic and other scripts are letters too; accents on ASCII letters go.
            yield "" if base.isascii() else character
            continue
        if category[0] in "LN" or (category[0] == "S" and character not in "`^~") or character in "%^":
            yield character
        else:
            yield " " if character.isspace() else _mark(text, place, base)
        base = character


def _mark(text: str, place: int, previous: str) -> str:
    """What is left of the punctuation mark at this place, after this character."""
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
    """True iff both are the same under ``near_exact``; texts of marks alone are compared as such."""
    left, right = near_exact(first), near_exact(second)
    return left == right and (bool(left) or first.strip() == second.strip())


_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
"""Scripts that part no words: each of their characters counts as one."""
_WORD = re.compile(f"[{_UNSPACED}]|[^\\s{_UNSPACED}]+")


def overlap(first: str, second: str) -> float:
    """The token-level F1 of two texts, as for SQuAD: 2 * shared / (words of both), order aside.

    Words are those of ``near_exact``, so articles count: hepatitis A is not hepatitis. Texts of marks
    alone share all or nothing.
    """
    left, right = (Counter(_WORD.findall(near_exact(text))) for text in (first, second))
    if not left or not right:
        return float(equivalent(first, second))
    return 2 * sum((left & right).values()) / (sum(left.values()) + sum(right.values()))
