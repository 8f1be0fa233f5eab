"""This module compares a repeated replay with the first replay on the same sources.

Some state, such as a cache of decisions, changes nothing in runs on all sources. Its influence shows if a
replay on fewer sources is repeated after all other replays. The repetition also shows whether replays
that ran in parallel influenced each other.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...sources import Source
from .courses import Course, Difference, difference
from .exchanges import Exchange
from .volatile import Steady

_MOST_TEXT = 10_000_000
"""The maximum number of characters of requests that are stored. When it is reached, further first replays
are not stored, and no repetition of them is compared."""

Sent = tuple[tuple[Exchange, ...], tuple[str, ...]]
"""The requests and replies of a replay, and the results of its tools."""


@dataclass(slots=True, eq=False)
class Repeated:
    """This class stores the requests of the first replay on each subset of sources. Thread-safe."""

    steady: Steady
    _first: dict[tuple[str, ...], Sent] = field(default_factory=dict[tuple[str, ...], Sent])
    _room: int = _MOST_TEXT
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def knows(self, ids: tuple[str, ...]) -> bool:
        """Returns True iff the first replay on these sources was stored, so that ``take`` compares a
        later one with it."""
        return ids in self._first

    def take(
        self, kept: Sequence[Source], exchanges: Sequence[Exchange], made: Sequence[str]
    ) -> Difference | None:
        """Stores the requests of the first replay on these sources, and returns None. For a later replay,
        returns how its requests differ from those of the first; None if they are equal.

        ``kept``: the retained sources. ``made``: the results of tools in the replay.
        """
        ids, sent = tuple(source.id for source in kept), (tuple(exchanges), tuple(made))
        with self._lock:
            first = self._first.get(ids)
            if first is None:
                self._room -= sum(len(each.request.text) for each in exchanges)
                if self._room >= 0:
                    self._first[ids] = sent
                return None
        texts = [source.text for source in kept]
        was, came = (Course.of(each, self.steady, texts, beside) for each, beside in (first, sent))
        return difference(was, came)
