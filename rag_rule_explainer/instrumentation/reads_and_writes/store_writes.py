"""This module records what a run writes to stores of a framework, such as a long-term store, by the place
in the store.

A tool that does not run in replays writes nothing there. What another tool reads at such a place is then
not compared. Instead, the replay must have made the same calls that wrote there, and all other code must
have written the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..comparable import are_same, comparable_value
from ..requests.tools_in_use import tools_in_use

StorePlace = tuple[str, ...]
"""A ``StorePlace`` is a place in a store: the names that lead to it. The place of a group is the
beginning of the places of all that is in it."""


class StoreWrite(NamedTuple):
    """A ``StoreWrite`` is one write to a store. ``is_by_tool``: True if a tool was running."""

    place: StorePlace
    content: Any
    is_by_tool: bool


@dataclass(slots=True, eq=False)
class StoreWrites:
    """A ``StoreWrites`` holds all writes of one run to stores, the earliest first."""

    made: list[StoreWrite] = field(default_factory=list[StoreWrite])

    def note(self, place: StorePlace, content: object) -> None:
        """Records a write that is made now."""
        self.made.append(StoreWrite(place, comparable_value(content), bool(tools_in_use.get())))

    def of_tools(self, place: StorePlace) -> bool:
        """Returns True iff a tool has written something that a read at this place may find."""
        return any(each.is_by_tool and are_related(each.place, place) for each in self.made.copy())

    def of_others(self, place: StorePlace) -> list[StoreWrite]:
        """Returns the writes of all code but tools that a read at this place may find."""
        made = self.made.copy()
        return [each for each in made if not each.is_by_tool and are_related(each.place, place)]


def are_related(one: StorePlace, other: StorePlace) -> bool:
    """Returns True iff a write at one place may change what is read at the other: one of the two is the
    beginning of the other, or both are the same."""
    return all(first == second for first, second in zip(one, other, strict=False))


def are_same_writes(one: Iterable[StoreWrite], other: Iterable[StoreWrite]) -> bool:
    """Returns True iff the same was written, in the same order."""
    first, second = list(one), list(other)
    return len(first) == len(second) and all(
        before.place == after.place and are_same(before.content, after.content)
        for before, after in zip(first, second, strict=True)
    )
