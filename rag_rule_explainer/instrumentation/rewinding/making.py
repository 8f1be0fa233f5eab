"""Whether replays that begin with what the application held before the baseline make the same of it
again.

What is made once and kept, such as a vocabulary, is harmless where every run makes the same, whatever is
retrieved.
"""

from dataclasses import dataclass, field
from typing import Any

from .snapshot import Kept
from .values import ABSENT, is_equal

_DEEPEST = 7
"""Levels of what holds others that are compared."""


@dataclass(slots=True, eq=False)
class MadeAgain:
    """Compares what replays make with what was there."""

    _without: dict[str, list[frozenset[str]]] = field(default_factory=dict[str, list[frozenset[str]]])
    _others: set[str] = field(default_factory=set[str])
    _sources: set[str] = field(default_factory=set[str])

    def note(self, kept: Kept, names: tuple[str, ...], today: Any, sources: frozenset[str]) -> None:
        """Takes what a replay on these sources made of a part that was as before the baseline.

        ``names``: what was put back; ``today``: what the part held before that replay.
        """
        self._sources |= sources
        made = kept.now()
        if not names:
            called = next(iter(kept.node.names()), "")
            self._compare(called, kept.content, made, today, sources)
        for name in names:
            was, came, there = (each.get(name, ABSENT) for each in (kept.content, made, today))
            self._compare(name, was, came, there, sources)

    def is_constant(self, name: str) -> bool:
        """Returns True iff what has this name was made anew, never otherwise, and without each source
        once."""
        made = self._without.get(name, [])
        return (
            name not in self._others
            and len(made) > 1
            and all(any(source not in sources for sources in made) for source in self._sources)
        )

    def _compare(self, name: str, was: Any, made: Any, today: Any, sources: frozenset[str]) -> None:
        if is_equal(was, made, _DEEPEST):
            return  # this replay had no need of it
        if is_equal(made, today, _DEEPEST):
            self._without.setdefault(name, []).append(sources)
        else:
            self._others.add(name)
