"""This module recognises texts that a run derived from retrieved texts, such as a summary or a new index.

A derived text is not a source: it changes with the retained sources. Every replay derives it again from
the sources that the replay is served.
"""

from collections.abc import Iterable

from ..requests.source_recognition import reading_of

_SHARE = 0.5
"""A text counts as derived if at least this share of its stretches (short runs of words) also occurs in
known texts. The share is below 1 because stretches across the joint of two joined texts occur in neither
of them."""


class Known:
    """A ``Known`` holds the texts that a run already knows, and recognises texts that are derived from
    them."""

    def __init__(self, texts: Iterable[str]) -> None:
        readings = [reading_of(each) for each in texts]
        self._lines = [each.line for each in readings]
        self._stretches = frozenset[object]().union(*(each.stretches for each in readings))

    def __bool__(self) -> bool:
        return bool(self._lines)

    def derives(self, text: str) -> bool:
        """Returns True iff the text was cut out of a known text, or put together from several. Also True
        for a blank text."""
        read = reading_of(text)
        if not read.line.strip() or any(read.line in each for each in self._lines):
            return True
        common = len(read.stretches & self._stretches)
        return bool(read.stretches) and common >= _SHARE * len(read.stretches)
