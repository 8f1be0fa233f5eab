"""Whether replays that begin with what the application held before the baseline make the same of it
again.

What is made once and kept, such as a vocabulary, is harmless where every run makes the same, whatever is
retrieved.
"""

from dataclasses import dataclass, field
from typing import Any

from .parts import ABSENT, DICT, LISTED, SET, is_plain, is_same
from .snapshot import Kept

_DEEPEST = 6


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
        if _is_equal(was, made):
            return  # this replay had no need of it
        if _is_equal(made, today):
            self._without.setdefault(name, []).append(sources)
        else:
            self._others.add(name)


def _is_equal(one: Any, other: Any, depth: int = 0) -> bool:
    if is_same(one, other):
        return True
    if type(one) is not type(other) or is_plain(one) or depth > _DEEPEST:
        return False
    if isinstance(one, DICT):
        return one.keys() == other.keys() and all(
            _is_equal(value, other[key], depth + 1) for key, value in one.items()
        )
    if isinstance(one, LISTED):
        return len(one) == len(other) and all(
            _is_equal(each, others, depth + 1) for each, others in zip(one, other, strict=True)
        )
    if isinstance(one, (SET, frozenset)):
        return bool(one == other)
    held, others = getattr(one, "__dict__", None), getattr(other, "__dict__", None)
    return isinstance(held, DICT) and bool(held) and _is_equal(held, others, depth + 1)
