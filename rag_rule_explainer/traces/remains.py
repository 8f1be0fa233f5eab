"""This module recognises a text, or a part of it, that an application wrote into a prompt in another
form: escaped, indented, in other letters, or cut short."""

import html
import re
import unicodedata
from collections.abc import Iterable

_LONGEST_RUN, _SHORTEST_RUN = 30, 12
"""A prompt contains a part of a text if it contains this many of the text's letters and digits in a row:
30 of a text with at least 60 of them, half of a text with 24 to 60, and all of a shorter text."""
_FEW = 300_000
"""If a prompt has at most this number of letters and digits, every sequence of 30 of them is kept for
comparison."""
_STEP = 10
"""In a longer prompt, only the sequences that begin at every tenth letter or digit are kept."""
_CODE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_SPACE = re.compile(r"\\[nrtbf]")


class Remains:
    """A ``Remains`` holds the rest of a prompt after sources were cut out, and finds parts of texts in
    it. ``pieces``: the texts of the rest. These texts are prepared once for all searches."""

    def __init__(self, pieces: Iterable[str]) -> None:
        forms = {form for piece in pieces for form in (piece, _unescaped(piece))}
        self._others = sorted({_letters(form) for form in forms} - {""})
        self._runs: frozenset[str] | None = None

    def have_part_of(self, text: str) -> bool:
        """Returns True if one of the pieces contains a part of the text, in whatever form: spaces,
        punctuation, capitals, and the escapes of JSON, HTML and XML make no difference."""
        own = _letters(text)
        if not own:
            return False
        if len(own) > 2 * _LONGEST_RUN:
            known = self._known()
            return any(own[at : at + _LONGEST_RUN] in known for at in range(len(own) - _LONGEST_RUN + 1))
        half = max(_SHORTEST_RUN, min(_LONGEST_RUN, len(own) // 2))
        run = len(own) if len(own) < 2 * _SHORTEST_RUN else half
        return any(
            own[at : at + run] in other for other in self._others for at in range(len(own) - run + 1)
        )

    def _known(self) -> frozenset[str]:
        """Returns the sequences of 30 letters and digits in all pieces. If the pieces have more than
        ``_FEW`` letters and digits, returns only every tenth sequence, to save memory."""
        if self._runs is None:
            step = 1 if sum(map(len, self._others)) <= _FEW else _STEP
            self._runs = frozenset(
                each[at : at + _LONGEST_RUN]
                for each in self._others
                for at in range(0, len(each) - _LONGEST_RUN + 1, step)
            )
        return self._runs


def _letters(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFKC", text).casefold() if each.isalnum())


def _unescaped(text: str) -> str:
    plain = _CODE.sub(lambda found: chr(int(found[1] or found[2], 16)), text)
    return html.unescape(_SPACE.sub(" ", plain))
