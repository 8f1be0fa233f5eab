"""This module checks whether an application computes the same values again after its earlier state was
restored.

A value that is computed once and kept, such as a vocabulary, is harmless if every run computes the same
value from any sources.
"""

from dataclasses import dataclass, field
from typing import Any

from .snapshot import KeptPart
from .values import ABSENT, is_equal

_DEEPEST = 7
"""The number of levels of nested objects that are compared."""


@dataclass(slots=True, eq=False)
class MadeAgain:
    """This class compares the values that replays compute with those that the application held before the
    replays."""

    _without: dict[str, list[frozenset[str]]] = field(default_factory=dict[str, list[frozenset[str]]])
    _others: set[str] = field(default_factory=set[str])
    _sources: set[str] = field(default_factory=set[str])

    def note(self, kept: KeptPart, names: tuple[str, ...], today: Any, sources: frozenset[str]) -> None:
        """Compares the content of a part after a replay that began with the earlier state.

        ``names``: the names that were restored; empty if the whole part was. ``today``: the part's
        content before the earlier state was restored. ``sources``: the ids of the replay's sources.
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
        """Returns True iff every replay computed this value again and got an equal one, and each source
        was omitted from at least one of these replays."""
        made = self._without.get(name, [])
        return (
            name not in self._others
            and len(made) > 1
            and all(any(source not in sources for sources in made) for source in self._sources)
        )

    def _compare(self, name: str, was: Any, made: Any, today: Any, sources: frozenset[str]) -> None:
        if is_equal(was, made, _DEEPEST):
            return  # The replay did not compute this value, so there is nothing to compare.
        if is_equal(made, today, _DEEPEST):
            self._without.setdefault(name, []).append(sources)
        else:
            self._others.add(name)
