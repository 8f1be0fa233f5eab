"""This module represents the retrievals of the baseline and their results."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from ...sources import Source

Item = TypeVar("Item")
"""A retrieved document in the framework's own type."""

Keys: TypeAlias = tuple[Hashable, ...]
"""The keys of a retrieval, the most specific first. Two retrievals with a common key count as the same: a
retrieval of a replay then gets the recorded result of the baseline's."""

Searched: TypeAlias = tuple[str, ...]
"""The names of the classes of the objects that a retrieval searches."""


@dataclass(frozen=True, slots=True)
class Retrieval(Generic[Item]):
    """A ``Retrieval`` holds one retrieval of the baseline and its result.

    ``began``, ``ended``: the moments at which the retrieval began and ended, as numbers that are larger
    for later moments.
    """

    keys: Keys
    items: tuple[Item, ...]
    retriever: object = None
    """The object that was called; this reference keeps it alive, so that no other object gets its
    ``id()``."""
    form: object = ()
    """The form of the result (such as the type of its container); results in replays have the same
    form."""
    error: Exception | None = None
    """The error that the retrieval raised, or None."""
    began: int = 0
    ended: int = 0
    callers: tuple[str, ...] = ()
    """The user's functions that led to the retrieval, the innermost first."""
    inside: "tuple[Retrieval[Item], ...]" = ()
    """The retrievals that this retrieval made itself."""

    def overlaps(self, later: "Retrieval[Any]") -> bool:
        """Returns True iff ``later`` began before this retrieval ended."""
        return later.began < self.ended


Identify: TypeAlias = Callable[[Sequence[Sequence[Item]]], Sequence[Sequence[Source]]]
"""A function that gets the items of several retrievals and returns their sources, one for each item.
Equal documents get the same source."""

Batch: TypeAlias = tuple[tuple[Source, Item], ...]
"""The items of one retrieval, each with its source."""


@dataclass(frozen=True, slots=True)
class Results(Generic[Item]):
    """A ``Results`` holds the results that the baseline got for one retrieval, which it may have made
    several times.

    ``overlapping``: True if some of these calls overlapped in time, so that the order of their results is
    unknown.
    """

    key: Hashable
    batches: tuple[Batch[Item], ...]
    overlapping: bool

    @property
    def differ(self) -> bool:
        """Returns True iff two of the calls found different sources, or the same sources in a different
        order."""
        return len({tuple(source.id for source, _ in batch) for batch in self.batches}) > 1
