"""This module cuts parts out of a text, and leaves every other character of it as it is."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...predicates.mark_places import Place
from .kinds import Omit


@dataclass(frozen=True, slots=True)
class CutParts:
    """The parts in a ``CutParts`` are places (start and end) in a text.

    ``text``: the whole text. ``texts``: the text of each part, as it is shown to the user. ``spans``: the
    places of the items, in order. ``blank``: a function from the index of an item (from 0) to the text
    that replaces it if it is blanked. ``room``: the place of all items together, which is cut out if no
    item is left. ``counts``: the places of numbers that count the items; they are lowered with each item
    that is removed. ``heading``: the place of a line before the items, which is then the first part; else
    None.
    """

    text: str
    texts: Sequence[str]
    spans: Sequence[Place]
    blank: Callable[[int], str]
    room: Place
    counts: Sequence[Place] = ()
    heading: Place | None = None
    is_list: bool = True

    @property
    def has_heading(self) -> bool:
        """Returns True iff the first part is a line before the items."""
        return self.heading is not None

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the text without the parts at these places (counted from 0) and without their
        separators; if ``omit`` is "blank", with these parts blanked instead."""
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
