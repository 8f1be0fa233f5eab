"""Makes text from outside safe to print: no control sequences, nothing that reorders the line."""

import unicodedata

_KEPT = frozenset(" \u200c\u200d")
"""The zero-width joiners shape Persian, Indic and emoji text and can do no harm to a terminal."""

_MOST_READ = 10**15
"""From here on a number is its magnitude."""


def printable(text: str) -> str:
    """The text on one line, with every control, format and unassigned character shown as an escape.

    Newlines and tabs become spaces. What is left cannot move the cursor, colour the terminal, or
    turn the reading direction around.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters, the last one an ellipsis where something was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def amount(number: float, decimals: int = 0) -> str:
    """With separators of thousands, "1,024"; as a power of two where nobody would read the digits."""
    if number < _MOST_READ:
        return f"{number:,.{decimals}f}"
    return f"about 2^{int(number).bit_length() - 1}"


def _shown(character: str) -> str:
    if character in _KEPT or character.isprintable():
        return character
    if character.isspace() or unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
