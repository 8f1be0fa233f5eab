"""This module cuts parts out of a text. Every other character of the text stays unchanged."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...predicates.mark_places import Place
from .kinds import Omit


@dataclass(frozen=True, slots=True)
class CutParts:
    """A ``CutParts`` divides a text into parts: the items of a list in it, and perhaps a heading."""

    text: str
    """The whole text."""
    texts: Sequence[str]
    """The text of each part, as it is shown to the user."""
    spans: Sequence[Place]
    """The start and end of each item, in order."""
    blank: Callable[[int], str]
    """A function from the index of an item (from 0) to the text that replaces this item if the item is
    blanked."""
    room: Place
    """The start and end of all items together, which is cut out if no item is left."""
    counts: Sequence[Place] = ()
    """The start and end of each number that is the count of the items. If items are removed, each such
    number is lowered by the number of removed items."""
    heading: Place | None = None
    """The start and end of a line before the items, which is then the first part; None if there is no
    such line."""
    is_list: bool = True

    @property
    def has_heading(self) -> bool:
        """Returns True iff the first part is a line before the items."""
        return self.heading is not None

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the text without the parts with these indexes (from 0) and without their separators. If
        ``omit`` is "blank", returns the text with these parts blanked."""
        edits = list[tuple[Place, str]]()
        if self.heading is not None and 0 in omitted:
            edits.append((self.heading, ""))
        before = int(self.has_heading)
        places = sorted(each - before for each in omitted if each >= before)
        if omit == "blank":
            edits += ((self.spans[each], self.blank(each)) for each in places)
        elif len(places) == len(self.spans):
            edits.append((self.room, ""))
        else:
            edits += ((each, "") for each in self._cuts(places))
        if omit == "remove":
            edits += ((each, self._fewer(each, len(places))) for each in self.counts)
        return "".join(self._edited(sorted(edits)))

    def _edited(self, edits: Sequence[tuple[Place, str]]) -> Iterator[str]:
        done = 0
        for (start, end), left in edits:
            yield self.text[done:start]
            yield left
            done = end
        yield self.text[done:]

    def _cuts(self, places: Sequence[int]) -> Iterator[Place]:
        omitted = set(places)
        first_kept = next(n for n in range(len(self.spans)) if n not in omitted)
        for each in places:
            start, end = self.spans[each]
            is_before = each < first_kept
            yield (start, self.spans[each + 1][0]) if is_before else (self.spans[each - 1][1], end)

    def _fewer(self, span: Place, less: int) -> str:
        return str(max(0, int(self.text[slice(*span)]) - less))
