"""This module represents the retrievals of the baseline and their results."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from ...sources import Source

Item = TypeVar("Item")
"""A retrieved document in the framework's own type."""

Keys: TypeAlias = tuple[Hashable, ...]
"""The keys by which a repeated retrieval is recognised, the most specific first."""

Searched: TypeAlias = tuple[str, ...]
"""The names of the classes of the object that a retrieval searches."""


@dataclass(frozen=True, slots=True)
class Retrieval(Generic[Item]):
    """A ``Retrieval`` holds one retrieval of the baseline and its result.

    ``retriever``: kept alive, so that no other object gets its ``id()``. ``form``: the form of the
    result, which the integration restores; ``error``: the error that the retrieval raised, if any.
    ``began``, ``ended``: moments, numbered in the order of the run. ``callers``: the user's functions
    that made the retrieval, the innermost first.
    """

    keys: Keys
    items: tuple[Item, ...]
    retriever: object = None
    form: object = ()
    error: Exception | None = None
    began: int = 0
    ended: int = 0
    callers: tuple[str, ...] = ()

    def overlaps(self, later: "Retrieval[Any]") -> bool:
        """Returns True iff ``later`` began before this retrieval ended."""
        return later.began < self.ended


Batch: TypeAlias = tuple[tuple[Source, Item], ...]
"""The items of one retrieval, each with its source."""


@dataclass(frozen=True, slots=True)
class Results(Generic[Item]):
    """A ``Results`` holds the results of all calls of one retrieval in the baseline.

    ``overlapping``: True if calls overlapped in time, so that their order is unknown.
    """

    key: Hashable
    batches: tuple[Batch[Item], ...]
    overlapping: bool

    @property
    def differ(self) -> bool:
        """Returns True iff the calls did not all find the same sources."""
        return len({tuple(source.id for source, _ in batch) for batch in self.batches}) > 1
