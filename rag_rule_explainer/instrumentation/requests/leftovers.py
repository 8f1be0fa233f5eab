"""This module finds texts in a replay's requests that identify a source omitted from that replay. Such a
text is called a *leftover*.

State that the baseline filled, such as a set of all retrieved titles, is the same in every later run.
Comparing runs does not show its influence, but a request that contains the title of an omitted source
does. If the application had this title before the baseline, for example in a catalogue in its prompt, the
title is no leftover.
"""

import re
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from ...sources import Source
from ..shared_state.holdings import Holdings, changed_values
from .exchanges import Exchange
from .marks import FoundMark, SourceMarks, texts_of
from .origins import Origins, line_of
from .source_recognition import readings
from .volatile import Steady

_PIECES = re.compile(r"[\n;,|•]+|(?<=[.!?])\s+")
_MOST_PIECES = 500
_MOST_LINES = 5000
"""The largest number of lines whose marks (texts that identify a source) are cached."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A ``Leftover`` is a text in a request that identifies omitted sources.

    ``owners``: the ids of these sources. ``held``: describes the object of the application that has held
    the text since the baseline; empty if the text's origin is unknown.
    """

    text: str
    owners: tuple[str, ...]
    held: str = ""


@dataclass(slots=True, eq=False)
class Leftovers:
    """A ``Leftovers`` finds texts that identify omitted sources (*leftovers*) in the requests of replays.
    Thread-safe.

    ``steady``: replaces the parts of texts that change in every run. ``before``: the application's state
    when this object was created. ``early``: the baseline's requests before its first retrieval; texts in
    them are no leftovers. ``is_after_the_run``: True if this object was created after the baseline.
    """

    application: object
    steady: Steady
    before: Holdings = field(init=False)
    early: list[str] = field(default_factory=list[str])
    is_after_the_run: bool = False
    _sources: tuple[Source, ...] = ()
    _marks: SourceMarks | None = None
    _given: tuple[str, ...] = ()
    _lines: dict[str, dict[frozenset[str], list[FoundMark]]] = field(
        default_factory=dict[str, dict[frozenset[str], list[FoundMark]]]
    )
    _judged: dict[FoundMark, Leftover | None] = field(default_factory=dict[FoundMark, "Leftover | None"])
    _looked: bool = False
    _origins: Origins | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.before = Holdings(self.application)

    def miss_the_baseline(self) -> None:
        """Records that the application's state was first read after the baseline. The content of
        collections in this state may then come from the baseline."""
        self.is_after_the_run = True

    def begin(self, sources: Sequence[Source], given: Iterable[str]) -> None:
        """Stores the sources that the baseline retrieved, and ``given``, the texts of the input of every
        run."""
        self._sources = tuple(sources)
        self._marks = SourceMarks(self._without_times())
        self._given = tuple(given)

    def look(self, after: Holdings) -> None:
        """Compares ``after``, the application's state after the baseline, with its state before. If the
        state has a new text that comes from a source, requests are searched for this text from now on,
        even if it is very short. Later calls do nothing."""
        with self._lock:
            if self._looked or self._marks is None:
                return
            self._looked = True
            spoken = {source.id: [line_of(text) for text in texts_of(source)] for source in self._sources}
            for held, name, value in changed_values(self.before, after, after.is_in_users):
                for piece in _pieces(value):
                    line = line_of(piece)
                    owners = [
                        each for each, lines in spoken.items() if any(line in said for said in lines)
                    ]
                    if owners and _is_long(piece):
                        self._marks.add(piece, owners, after.named(held, name))

    def found_in(
        self, exchanges: Iterable[Exchange], kept: Sequence[Source], made: Sequence[str]
    ) -> Leftover | None:
        """Returns a text in a request that identifies an omitted source; None if there is none. Prefers a
        text if the object of the application that holds it is known.

        Never returns a text that the application had before the baseline, a text of the run's input, or
        one of ``made``: texts that the run made, used as a query, or may remember. ``kept``: the retained
        sources.
        """
        ids = {source.id for source in kept}
        if self._marks is None or len(ids) >= len(self._sources):
            return None
        look: Callable[[], Holdings] | None = None
        doubtful: Leftover | None = None
        explained: list[str] | None = None
        for exchange in exchanges:
            suspects = self._suspects(exchange.request.text, ids)
            if not suspects:
                continue
            # Reading the state is slow. It is read only if a request has a suspicious text, and most
            # requests have none.
            if look is None:
                look = cache(lambda: Holdings(self.application, earlier=self.before))
            if explained is None:
                explained = self._explained(kept, made)
            said = [
                line_of(text) for each in exchange.after for text in (each.reply or "", each.said or "")
            ]
            for found in suspects:
                line = f" {' '.join(found.mark.words)} "
                if any(line in each for each in (*explained, *said)):
                    continue
                leftover = self._judgement(found, look)
                if leftover is not None and leftover.held:
                    return leftover
                doubtful = doubtful or leftover
        return doubtful

    def _explained(self, kept: Sequence[Source], made: Sequence[str]) -> list[str]:
        """Returns the texts that may be in a request although sources are omitted: those of retained
        sources, of the input, of the baseline's early requests, and ``made``."""
        explained = [line_of(text) for source in kept for text in texts_of(source)]
        # If two retained chunks overlap an omitted chunk, they may together contain its whole text.
        explained.append(line_of(" ".join(source.text for source in kept)))
        return explained + [line_of(text) for text in (*self._given, *self.early, *made)]

    def _without_times(self) -> list[Source]:
        def lasting(value: object) -> bool:
            return not (isinstance(value, str) and "<time>" in self.steady(value))

        return [
            Source(each.id, each.text, {k: v for k, v in each.metadata.items() if lasting(v)})
            for each in self._sources
        ]

    def _suspects(self, text: str, kept: Collection[str]) -> list[FoundMark]:
        suspects: list[FoundMark] = []
        for reading in readings(self.steady.without_ignored(text)):
            for line in reading.split("\n"):
                for owners, found in self._found_in_line(line).items():
                    if owners.isdisjoint(kept):
                        suspects += found
        return suspects

    def _found_in_line(self, line: str) -> dict[frozenset[str], list[FoundMark]]:
        known = self._lines.get(line)
        if known is not None or self._marks is None:
            return known or {}
        by_owners = dict[frozenset[str], list[FoundMark]]()
        for found in self._marks.found_in(line):
            by_owners.setdefault(found.mark.owners, []).append(found)
        if len(self._lines) < _MOST_LINES:
            self._lines[line] = by_owners
        return by_owners

    def _judgement(self, found: FoundMark, look: Callable[[], Holdings]) -> Leftover | None:
        with self._lock:
            if found not in self._judged:
                self._judged[found] = self._judged_anew(found, look)
            return self._judged[found]

    def _judged_anew(self, found: FoundMark, look: Callable[[], Holdings]) -> Leftover | None:
        origins = self._origins = self._origins or Origins(
            self.before, self._sources, self.is_after_the_run
        )
        if origins.stands_in_a_text(found):
            return None
        owners, after = tuple(sorted(found.mark.owners)), look()
        is_new, where = origins.newly_held(found, after)
        is_known = origins.is_an_entry(found)
        if where and not is_known:
            return Leftover(found.mark.text, owners, where)
        if is_known and not is_new and after.complete and not self.is_after_the_run:
            return None
        return Leftover(found.mark.text, owners)


def _pieces(value: str | float) -> Iterable[str]:
    if not isinstance(value, str):
        return [] if isinstance(value, bool) else [str(value)]
    parts = [part.strip() for part in _PIECES.split(value[:20_000])]
    return list(dict.fromkeys([value[:2_000].strip(), *parts]))[:_MOST_PIECES]


def _is_long(piece: str) -> bool:
    return len(piece) >= (2 if piece.isdigit() else 3)
