"""This module recognises bracketed numbers that may not be citations, such as the index in "list[1]" or
the interval [1, 5]."""

import re

from ..late_patterns import compiled_late
from .plain_signs import words_in

_WORD = compiled_late(r"[\w.]+\Z")
_ARRAYS = words_in(
    "list lists arr array arrays args argv vec vector tuple dict row rows col cols df data items "
    "values matrix tensor obj str string buf buffer map result results input inputs output outputs "
    "index liste lista tableau tablica массив список 数组 列表 配列"
)
_ASSIGNED = compiled_late(r"[ \t]?(?:[-+*/:]?=(?!>)|\.\w|\[\w+\][ \t]?=|\+\+)")
_SPANNING = compiled_late(
    r"(?:\b(?:vectors?|intervals?|ranges?|arrays?|lists?|tuples?|matrix|domain|coordinates?|bounds?|CI|IC|"
    r"scale|limits?|point|pair|vektor|intervall|bereich|liste|wertebereich|vecteur|intervalle|liste|vector|"
    r"intervalo|rango|lista|vettore|intervallo|vetor|faixa|przedział|вектор|интервал|интервале|диапазон|"
    r"диапазоне|список)(?: (?:of|is|from|von|de|di|от|is the))?[ \t:=]{0,3}|∈[ \t]?|[=≈<>][ \t]?|"
    r"\d ?% ?(?:CI|KI|IC)?[ \t:,]{0,3}|(?:区间|區間|範囲|范围|向量)[ \t:]?)\Z",
    re.IGNORECASE,
)
_VALUE = compiled_late(r"[\"']\s?:\s?\Z|\w\s?(?:==?|:=|\+=)\s?\Z")
"""Matches the text before a list in code or in JSON, such as "x = "."""
_SEVERAL = compiled_late(r"\[\s?[-−]?\d[\d.]*\s?[,;–-]\s?[-−]?\d[\d.,;\s–-]*\]")
INDEX = "it is not known whether {} is a citation or an index"
INTERVAL = "it is not known whether {} is a citation or a list of numbers"


def why_no_mark(text: str, start: int, end: int) -> str:
    """Returns the reason why the text from ``start`` to ``end`` may not be a citation; empty if it is
    certainly one."""
    written = text[start:end]
    if not any(map(str.isdigit, written)):
        return ""
    word = _WORD.search(text, max(0, start - 60), start)
    if word is not None and _is_array(word[0]):
        return INDEX.format(written)
    if word is not None and _ASSIGNED.match(text, end):
        return INDEX.format(written)
    if _VALUE.search(text, max(0, start - 40), start):
        return INTERVAL.format(written)
    several = _SEVERAL.fullmatch(written) is not None
    if several and (
        _SPANNING.search(text, max(0, start - 40), start) or re.match(r"\[\s?[-−]?0\b", written)
    ):
        return INTERVAL.format(written)
    return ""


def _is_array(word: str) -> bool:
    is_name = "_" in word or re.search(r"[a-z][A-Z]|\w\.[A-Za-z]", word) is not None
    return is_name or (len(word) == 1 and word.isascii() and word.isalpha()) or word.casefold() in _ARRAYS
