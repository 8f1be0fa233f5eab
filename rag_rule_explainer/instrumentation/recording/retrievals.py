"""One retrieval of the baseline, and what came of it."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from ...sources import Source

Item = TypeVar("Item")
"""One retrieved document, as the integration hands it back."""

Keys: TypeAlias = tuple[Hashable, ...]
"""How one retrieval may be recognised when it happens again, most specific first."""

Kind: TypeAlias = tuple[str, ...]
"""The classes of what a retrieval searches."""


@dataclass(frozen=True, slots=True)
class Retrieval(Generic[Item]):
    """One retrieval of the baseline. The retriever is kept alive: no other may come by its id.

    ``form``: how its result came, for the integration; ``error``: what it raised, if it did. ``began``,
    ``ended``: when, as places in the order of all such moments of the run. ``callers``: the functions of
    the user's that made it, the innermost first.
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
        """Returns True iff the later one began before this one had ended."""
        return later.began < self.ended


Batch: TypeAlias = tuple[tuple[Source, Item], ...]


@dataclass(frozen=True, slots=True)
class Results(Generic[Item]):
    """What came of one and the same retrieval, each time that the baseline made it.

    ``overlapping``: it was made again before the first one had ended, so nobody knows their order.
    """

    key: Hashable
    batches: tuple[Batch[Item], ...]
    overlapping: bool

    @property
    def differ(self) -> bool:
        """Returns True iff not all of them had the same sources."""
        return len({tuple(source.id for source, _ in batch) for batch in self.batches}) > 1
