"""This module checks whether replays that start with the application's state from before the baseline
compute a value again, and get the same result.

A value that is computed once and then stored, such as a vocabulary, is harmless if every run computes the
same value, whatever its sources are.
"""

from dataclasses import dataclass, field
from typing import Any

from .snapshot import KeptPart
from .values import ABSENT, DICT, is_equal

_DEEPEST = 7
"""The number of levels of nested objects that are compared by content. Values at deeper levels are
compared only by ``is_same``."""


@dataclass(slots=True, eq=False)
class MadeAgain:
    """A ``MadeAgain`` compares the values that replays compute with the values that the application had
    before these replays."""

    _entries: dict[str, dict[str, list[frozenset[str]]]] = field(
        default_factory=dict[str, dict[str, list[frozenset[str]]]]
    )
    _without: dict[str, list[frozenset[str]]] = field(default_factory=dict[str, list[frozenset[str]]])
    _others: set[str] = field(default_factory=set[str])
    _sources: set[str] = field(default_factory=set[str])

    def note(self, kept: KeptPart, names: tuple[str, ...], today: Any, sources: frozenset[str]) -> None:
        """Compares an object's content after a replay with its content before the replay. The replay must
        have started with the application's state from before the baseline.

        ``kept``: the object, with its content before the baseline, which was restored for the replay.
        ``names``: the names whose values were restored; empty if the whole content was restored.
        ``today``: the object's content just before this restoration. ``sources``: the ids of the sources
        in the replay.
        """
        self._sources |= sources
        made = kept.now()
        if not names:
            called = next(iter(kept.node.names()), "")
            self._compare(called, kept.content, made, today, sources)
        holders = [*kept.node.names()] if isinstance(kept.node.thing, DICT) else []
        for name in names:
            was, came, there = (each.get(name, ABSENT) for each in (kept.content, made, today))
            is_same = self._compare(name, was, came, there, sources)
            for holder in holders:
                made_again = self._entries.setdefault(holder, {}).setdefault(name, [])
                if is_same:
                    made_again.append(sources)
                elif is_same is False:
                    self._others.add(holder)

    def is_constant(self, name: str) -> bool:
        """Returns True iff all replays that computed this value got the value that the application had
        before the replay. There must be at least two such replays, and each source must be omitted in at
        least one of them. For a dict, all this must be true for each entry that has changed."""
        if name in self._others:
            return False
        entries = self._entries.get(name, {})
        made = [self._without[name]] if name in self._without else []
        every = [*entries.values(), *made]
        return bool(every) and all(map(self._is_settled, every))

    def _is_settled(self, made: list[frozenset[str]]) -> bool:
        return len(made) > 1 and all(
            any(source not in sources for sources in made) for source in self._sources
        )

    def _compare(
        self, name: str, was: Any, made: Any, today: Any, sources: frozenset[str]
    ) -> bool | None:
        """Returns True if the replay computed a value equal to ``today``, False if it computed another
        value, and None if the replay computed no value.

        ``was``: the value before the baseline, with which the replay started. ``made``: the value after
        the replay. ``today``: the value just before the value ``was`` was restored.
        """
        if is_equal(was, made, _DEEPEST) and (was is ABSENT or was is None):
            return None
        if is_equal(made, today, _DEEPEST):
            self._without.setdefault(name, []).append(sources)
            return True
        self._others.add(name)
        return False
