"""This module recognises texts that a run derived from retrieved texts, for example by summarising or
splitting them.

A derived text is not a source, because it depends on the retained sources: every replay derives it again
from them.
"""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from ...errors import StateShared
from ..requests.source_recognition import STRETCH, Reading, reading_of
from ..run_context import participation, refused
from ..shared_state.reaching import latest_in
from ..shared_state.temporaries import Shared
from .items import text_in

_KEPT_COPIES = (
    "a search read a list, or another collection, to which the run had added what it had retrieved "
    "before; it stays there for the next run"
)
_MADE_INSIDE = (
    "Make that collection, and the search, inside the function that is explained, so that every run "
    "starts from the same"
)

_SHARE = 0.5
"""A text counts as derived if at least this share of its stretches (eight words in a row), or of its
words, is known. The share is less than 1, because if a text was joined from two known texts, the
stretches across the joint are in neither of them."""


class Known:
    """A ``Known`` holds texts that a run has retrieved or made so far, and recognises texts that are
    derived from them."""

    def __init__(self, texts: Iterable[str]) -> None:
        readings = [reading_of(each) for each in texts]
        self._lines = [each.line for each in readings]
        self._distinctive = {each.line for each in readings if each.is_distinctive}
        self._stretches = frozenset[object]().union(*(each.stretches for each in readings))

    def __bool__(self) -> bool:
        return bool(self._lines)

    def derives(self, text: str) -> bool:
        """Returns True iff the text was cut out of a known text, or combined from known texts. Also
        returns True for a blank text."""
        read = reading_of(text)
        if not read.line.strip() or any(read.line in each for each in self._lines):
            return True
        common = len(read.stretches & self._stretches)
        if read.stretches and common >= _SHARE * len(read.stretches):
            return True
        return self._is_put_together(read)

    def _is_put_together(self, read: Reading) -> bool:
        """Returns True iff whole known texts make up enough of the words of this text.

        This recognises a text that was joined from many short texts: most of its stretches (eight words
        in a row) cross a joint, so they are in no known text. Known texts may have been cut, so the first
        word of each stretch that is in a known text counts too. The other seven words do not, because
        unrelated texts of the same pattern, such as rows of a table, can have eight words in common.
        """
        words = read.line.split()
        known = [tuple(words[place : place + STRETCH]) in self._stretches for place in range(len(words))]
        for line in self._distinctive:
            place = read.line.find(line)
            while place >= 0:
                first, count = read.line.count(" ", 0, place), len(line.split())
                known[first : first + count] = [True] * count
                # Two known texts may follow each other with one space between them. This space belongs to
                # both, so the search continues at the space.
                place = read.line.find(line, place + len(line) - 1)
        return bool(self._distinctive) and sum(known) >= _SHARE * len(words)


def texts_of_models() -> list[str]:
    """Returns the texts that models and tools have made in the current run; empty outside of runs."""
    run = participation()
    if run is None:
        return []
    return [*(each.reply for each in run.watch.exchanges if each.reply), *run.made]


def texts_held_in(held: Iterable[Any]) -> Iterator[str]:
    """Yields the texts of the documents in a collection. An entry may be a document, or a tuple that
    contains a document, such as a pair of a document and its score."""
    for each in held:
        pair = cast("tuple[Any, ...]", each) if isinstance(each, tuple) else (each,)
        yield from (text for text in map(text_in, pair) if text is not None and text.strip())


def holds_copies(changed: Iterable[object], known: Known, before: Shared) -> bool:
    """Returns True iff the run put retrieved texts into a collection that the run made itself.

    ``changed``: the searched collections that are new or changed. ``known``: the texts that the run
    knows. ``before``: the state before the run. Raises StateShared if the run put retrieved texts into a
    collection that existed before the run, because later runs would find these texts there.
    """
    made, now = False, None
    for each in changed:
        if any(map(known.derives, texts_held_in(latest_in(each)))):
            now = now or before.now()
            if now.size_of(each) is not None:
                raise refused(StateShared(_KEPT_COPIES, _MADE_INSIDE))
            made = True
    return made
