"""This module finds citations that are written in superscript, such as "so it is¹" or "<sup>1</sup>"."""

from collections.abc import Iterator

from ..late_patterns import compiled_late
from .plain_signs import words_in

_HIGH = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_FORM = compiled_late(
    rf"<sup(?: [^<>]{{0,100}})?>\s*(?:<a [^<>]{{0,200}}>)?(?P<tag>\d[\d,;\s–-]{{0,20}})(?:</a>)?\s*</sup>"
    rf"|(?P<high>[{_HIGH}]+(?:[,˒،;⁻–-]\s?[{_HIGH}]+){{0,20}})"
    rf"|\^(?P<caret>\d[\d,;–-]{{0,12}})\^|\$\^\{{?(?P<formula>\d[\d,;–-]{{0,12}})\}}?\$"
    r"|\\textsuperscript\{(?P<tex>\d[\d,;–-]{0,12})\}"
)
HIGH = str.maketrans(dict(zip(_HIGH, "0123456789", strict=True)) | {"⁻": "-", "˒": ",", "–": "-"})
"""A table for ``str.translate`` that replaces superscript digits by plain ones."""
_WORD = compiled_late(r"[^\W_]+\Z")
_UNITS = words_in(
    "km cm mm dm nm hm µm μm mi ft yd in sq m s kg sec min h meter metre meters metres metern "
    "mètre mètres metro metros metri м км см мм sin cos tan log ln exp chi"
)
_NUMBERS = compiled_late(r"(\d{1,3})(?:-(\d{1,3}))?")
_TOGETHER = "it is not known whether {} is one number or several"


def superscripts(text: str) -> Iterator[tuple[int, int, list[tuple[str, str | None]], str]]:
    """Yields each citation in superscript: its start, its end, its numbers, and the reason why these are
    not certain (empty if they are).

    The numbers are pairs, because they may be ranges; the second is None for a single number. "¹²" is
    not certain: it may mean 12, or 1 and 2. A power or a unit, such as "5 m²", is not a citation.
    """
    for found in _FORM.finditer(text):
        word = _WORD.search(text, max(0, found.start() - 40), found.start())
        if found.start() == 0 or text[found.start() - 1] == "\n" or (word and _is_raised(word[0])):
            continue
        written = next(filter(None, found.groups())).translate(HIGH)
        numbers = [(each[1], each[2]) for each in _NUMBERS.finditer(written)]
        is_joined = found["high"] and any(len(end) > 1 for pair in numbers for end in pair if end)
        yield *found.span(), numbers, _TOGETHER.format(found[0]) if is_joined else ""


def _is_raised(word: str) -> bool:
    """Returns True iff a superscript number after this word is a power or belongs to a unit, as in "x²"
    or "5 m²"."""
    is_letter = len(word) == 1 and word.isascii()
    return is_letter or word[-1:].isdigit() or word.casefold() in _UNITS
