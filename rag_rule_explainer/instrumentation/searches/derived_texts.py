"""Which texts a run made of what it had retrieved: an index or a summary that is built inside the run.

Such a document is no source of its own: it changes with the sources that are kept. So it is made anew in
every replay, of what that replay was served.
"""

from collections.abc import Iterable

from ..requests.source_recognition import reading_of

_SHARE = 0.5
"""Of the stretches of a derived text so many stand in what was known. Where texts were joined, those
across the joints stand nowhere else."""


class Known:
    """This class keeps the texts that a run knows, and tells what was made of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        readings = [reading_of(each) for each in texts]
        self._lines = [each.line for each in readings]
        self._stretches = frozenset[object]().union(*(each.stretches for each in readings))

    def __bool__(self) -> bool:
        return bool(self._lines)

    def derives(self, text: str) -> bool:
        """Returns whether the text was made of known ones: cut out of one, or put together from
        several."""
        read = reading_of(text)
        if not read.line.strip() or any(read.line in each for each in self._lines):
            return True
        common = len(read.stretches & self._stretches)
        return bool(read.stretches) and common >= _SHARE * len(read.stretches)
