"""This module changes the results of searches as a change of the corpus would: documents that are left
out are removed, and replaced documents get their new text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple

from ...fixing.change import CorpusChange
from .retrievals import Identify, Item

RANK_KEPT = (
    "a replaced text keeps the place of its old text: it was not ranked anew, because the application's "
    "search still has the old text; put the new one into the index, and explain again"
)
CHOSEN_AMONG = (
    "a search chose by maximal marginal relevance, and what is left out had a part in the choice: "
    "production may choose others"
)
NOTHING_MORE = (
    "a search that was asked for more results ({raised}) found no more, so what is left out has no "
    "document in its place, if that is the number of its results"
)
ADDED_LAST = "added documents stand after the retrieved ones: where they would rank is not known"


@dataclass(slots=True)
class Refetch:
    """A ``Refetch`` describes the change of the corpus for the first run of one call, and records which
    documents of this change were found by searches.

    ``remarks``: sentences for the user. ``seen``: the ids and names of the documents of the change that a
    search found.
    """

    change: CorpusChange
    remarks: dict[str, None] = field(default_factory=dict[str, None])
    seen: set[str] = field(default_factory=set[str])


class ChangedItems(NamedTuple):
    """A ``ChangedItems`` holds the items of a result after the change. ``missing``: the number of removed
    items. ``replaced``: the number of items with a new text."""

    items: list[Any]
    missing: int
    replaced: int

    @property
    def is_same(self) -> bool:
        """Returns True iff the change affects none of the items."""
        return not (self.missing or self.replaced)


class Refetching(Generic[Item]):
    """A ``Refetching`` changes the results of the searches of a run, as the change of the corpus would.
    ``identify``: returns the sources of items. ``brought``: converts documents of the caller to items."""

    def __init__(
        self,
        refetch: Refetch,
        identify: Identify[Item],
        brought: Callable[[Sequence[Any]], list[Item]],
    ) -> None:
        self.refetch = refetch
        self._identify = identify
        self._brought = brought

    def changed(self, found: Sequence[Item]) -> ChangedItems:
        """Returns the items that the same search would find in the changed corpus. ``found``: the items
        that it found before the change. An item that replaces another one has its position."""
        change = self.refetch.change
        items, missing, replaced = list[Item](), 0, 0
        for item, source in zip(found, self._identify([found])[0], strict=True):
            if name := change.excluded_as(source):
                missing += 1
                self.refetch.seen.add(name)
            elif (new := change.in_place_of(source)) is not None:
                replaced += 1
                items += self._brought([new])
                self.refetch.seen.add(new.id)
                self.note(RANK_KEPT)
            else:
                items.append(item)
        return ChangedItems(items, missing, replaced)

    def note(self, remark: str) -> None:
        """Adds a sentence for the user to ``remarks``."""
        self.refetch.remarks[remark] = None

    @property
    def at_least(self) -> int:
        """Returns the number of documents that the change may remove from one result, but at least 1. A
        search is asked for this many additional results, which replace the removed documents."""
        change = self.refetch.change
        return max(1, len(change.excluded) + len(change.names))
