"""This module cuts parts out of a text. Every other character of the text stays unchanged, except numbers
that count or number the parts."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...predicates.mark_places import Place
from .counting_lines import lowered
from .kinds import Omit
from .list_data import ListData


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
    number is lowered by the number of removed items. A number in the heading is never lowered if the
    heading is omitted."""
    heading: Place | None = None
    """The start and end of a line before the items, which is then the first part; None if there is no
    such line."""
    is_list: bool = True
    numbers: Sequence[Place] = ()
    """The start and end of the number before each item, if the items are numbered 1, 2, 3 ... If items
    are removed, the others are numbered anew."""
    is_doubtful: bool = False
    """Is True if the text has a number of which it is unknown whether it counts or numbers the items."""
    data: ListData | None = None
    """The list as data, if the text is JSON or a table."""

    @property
    def has_heading(self) -> bool:
        """Returns True iff the first part is a line before the items."""
        return self.heading is not None

    @property
    def other_headings(self) -> Sequence[str]:
        """Returns the other texts that the heading may have if items are removed, because it counts the
        items."""
        start, end = self.heading or (0, 0)
        spans = [each for each in self.counts if start <= each[0] < end]
        fewer = range(1, len(self.spans) + 1) if spans else ()
        edits = (
            [(each, lowered(self.text[slice(*each)], less)) for each in sorted(spans)] for less in fewer
        )
        return ["".join(self._edited(each, (start, end))).strip() for each in edits]

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
            edits += self._other_numbers(places, {*omitted})
        return "".join(self._edited(sorted(edits), (0, len(self.text))))

    def _edited(self, edits: Sequence[tuple[Place, str]], within: Place) -> Iterator[str]:
        done = within[0]
        for (start, end), left in edits:
            yield self.text[done:start]
            yield left
            done = end
        yield self.text[done : within[1]]

    def _cuts(self, places: Sequence[int]) -> Iterator[Place]:
        omitted = set(places)
        first_kept = next(n for n in range(len(self.spans)) if n not in omitted)
        for each in places:
            start, end = self.spans[each]
            is_before = each < first_kept
            yield (start, self.spans[each + 1][0]) if is_before else (self.spans[each - 1][1], end)

    def _other_numbers(
        self, places: Sequence[int], omitted: Collection[int]
    ) -> Iterator[tuple[Place, str]]:
        """Yields the numbers that count or number the items, each with the number that replaces it.
        ``places``: the indexes of the omitted items; ``omitted``: those of the omitted parts."""
        heading = self.heading if self.has_heading and 0 in omitted else None
        for start, end in self.counts if places else ():
            if heading is None or not heading[0] <= start < heading[1]:
                yield (start, end), lowered(self.text[start:end], len(places))
        kept = [each for number, each in enumerate(self.numbers) if number not in places]
        for own, new in zip(kept, self.numbers, strict=False) if places else ():
            yield own, self.text[slice(*new)]


def cut_parts_in(parts: object) -> CutParts | None:
    """Returns the parts of the text in a tool's result; None if the parts of the result are no parts of a
    text. ``parts``: the parts of the result."""
    while parts is not None and not isinstance(parts, CutParts):
        parts = getattr(parts, "inner", None)
    return parts
