"""This module defines arrangements: ordered sequences of sources."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import cast

from ..lattice import ArrangementKey, Subset
from .source import Source
from .source_set import SourceSet


@dataclass(frozen=True, slots=True)
class Arrangement:
    """An ``Arrangement`` is the ordered sequence of sources that one replay shows to the application.
    Caches and stores identify it by ``key`` (ids and contents, in order) instead of by a mask (one bit
    for each unit), because a mask has a meaning only within its own source set."""

    sources: tuple[Source, ...]
    key: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """A key of the arrangement. Two arrangements have equal keys iff they show the same ids and texts in
    the same order."""

    def __post_init__(self) -> None:
        _set_key(self, tuple([source.fingerprint for source in self.sources]))

    @classmethod
    def of(cls, sources: SourceSet, key: ArrangementKey) -> "Arrangement":
        """Returns the arrangement with this key: the sources of the units that the key retains, and the
        pinned sources, in the order of the set. If ``key`` is an ``Order``, the units are in that order;
        pinned sources keep their positions, and the sources of one unit stay together."""
        if not isinstance(key, int):
            recorded = cls.of(sources, Subset(sources.lattice.mask(key)))
            is_recorded = list(key) == sorted(key)
            return recorded if is_recorded else cls(tuple(sources.reordered(recorded.sources, key)))
        made = object.__new__(cls)
        retained, fingerprints = sources.selected(key)
        _set_sources(made, retained)
        _set_key(made, fingerprints)
        return made

    @property
    def ids(self) -> tuple[str, ...]:
        """Returns the ids of the shown sources, in order."""
        return tuple([source.id for source in self.sources])


# Thousands of subsets each have an arrangement. Setting the slots of the frozen dataclass takes half of
# the time of ``Arrangement(...)``.
_set_sources, _set_key = (
    cast("Callable[[Arrangement, object], None]", getattr(Arrangement, each.name).__set__)
    for each in fields(Arrangement)
)
