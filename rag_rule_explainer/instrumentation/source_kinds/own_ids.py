"""This module makes unique ids for sources that are named after a text from outside, such as a
heading."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...printable import cut_in_the_middle, printable

LONGEST_NAME = 80
"""The maximum number of characters of a name in an id."""


@dataclass(slots=True, eq=False)
class OwnIds:
    """An ``OwnIds`` gives each source a unique id. ``taken``: the ids that sources already have."""

    taken: set[str] = field(default_factory=set[str])
    _tried: Counter[str] = field(default_factory=Counter[str])

    @classmethod
    def beside(cls, taken: Iterable[str]) -> "OwnIds":
        """Returns an ``OwnIds`` that never gives an id that is in ``taken``."""
        return cls(set(taken))

    def of(self, identity: str) -> str:
        """Returns ``identity`` as the id of a new source. If another source has this id, adds a number,
        as in "Refunds (2)"."""
        own = identity
        while own in self.taken:
            self._tried[identity] += 1
            own = f"{identity} ({self._tried[identity] + 1})"
        self.taken.add(own)
        return own


def readable_name(written: str) -> str:
    """Returns the text as a name for an id: on one line, and with control characters as escapes. If it
    has more than ``LONGEST_NAME`` characters, its middle is left out."""
    return cut_in_the_middle(" ".join(printable(written).split()), LONGEST_NAME)
