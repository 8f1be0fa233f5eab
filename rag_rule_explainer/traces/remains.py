"""This module recognises a text, or a part of it, that an application wrote into a prompt in another
form: escaped, indented, in other letters, or cut short."""

import html
import re
import unicodedata
from collections.abc import Iterable

_LONGEST_RUN, _SHORTEST_RUN = 30, 12
"""How many letters and digits in a row two texts have in common, if one is in part in the other. Of a
short text it is half of them, and of a very short one all."""
_FEW = 100_000
_STEP = 10
_CODE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_SPACE = re.compile(r"\\[nrtbf]")


def stands_in_part(text: str, pieces: Iterable[str]) -> bool:
    """Returns True if a part of the text stands in one of the pieces, whatever its form: spaces and marks
    are not compared, nor capitals, nor the escapes of JSON, HTML and XML."""
    own = _letters(text)
    if not own:
        return False
    half = max(_SHORTEST_RUN, min(_LONGEST_RUN, len(own) // 2))
    run = len(own) if len(own) < 2 * _SHORTEST_RUN else half
    return any(
        _have_in_common(own, other, run)
        for piece in pieces
        for other in {_letters(piece), _letters(_unescaped(piece))}
        if len(other) >= run
    )


def _have_in_common(own: str, other: str, run: int) -> bool:
    if len(own) <= 2 * _LONGEST_RUN:
        return any(own[at : at + run] in other for at in range(len(own) - run + 1))
    # Of a long text only every tenth run is kept, so that it takes no more memory than the text.
    step = 1 if len(other) <= _FEW else _STEP
    known = {other[at : at + run] for at in range(0, len(other) - run + 1, step)}
    return any(own[at : at + run] in known for at in range(len(own) - run + 1))


def _letters(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFKC", text).casefold() if each.isalnum())


def _unescaped(text: str) -> str:
    plain = _CODE.sub(lambda found: chr(int(found[1] or found[2], 16)), text)
    return html.unescape(_SPACE.sub(" ", plain))
