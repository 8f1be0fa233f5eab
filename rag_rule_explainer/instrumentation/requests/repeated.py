"""Whether a replay that is made again on the same sources is the same again.

State that a run on all sources never shows (a cache of decisions, a list of what was not found) shows
where a replay on fewer sources is made a second time, after all the others. So does what replays at the
same time do to each other.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...sources import Source
from .courses import Course, Difference, difference
from .exchanges import Exchange
from .volatile import Steady

_MOST_TEXT = 10_000_000
"""Characters of requests that are kept for it."""

Sent = tuple[tuple[Exchange, ...], tuple[str, ...]]
"""What the models of a replay were sent, and what the run made beside replies."""


@dataclass(slots=True, eq=False)
class Repeated:
    """Keeps what the first replay on each choice of sources sent. Thread-safe."""

    steady: Steady
    _first: dict[tuple[str, ...], Sent] = field(default_factory=dict[tuple[str, ...], Sent])
    _room: int = _MOST_TEXT
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def knows(self, ids: tuple[str, ...]) -> bool:
        """Returns True iff a replay on the sources of these ids would be compared."""
        return ids in self._first

    def take(
        self, kept: Sequence[Source], exchanges: Sequence[Exchange], made: Sequence[str]
    ) -> Difference | None:
        """Keeps the first replay on these sources; returns how a later one differs, if it does."""
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
