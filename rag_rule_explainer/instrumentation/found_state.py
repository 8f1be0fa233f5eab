"""This module holds the state that one run left and that later runs may read, as far as it is a reason to
doubt the rules."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .refusals import Refusals
from .rewinding.rewinding import Rewinding
from .shared_state.counting import Counted
from .shared_state.files import Left


@dataclass(slots=True, eq=False)
class FoundState:
    """A ``FoundState`` collects what the comparisons of an application's state have found. Nothing that
    ``rewinding`` has settled is a reason for a doubt.

    ``refusals``: words the doubts. ``lasting``: returns state that one run left and that may influence
    later runs, or None.
    """

    refusals: Refusals
    lasting: Callable[[], Left | None]
    rewinding: Rewinding
    _made: tuple[Left, ...] = ()
    _counted: Counted | None = None

    def find(self, places: Iterable[Left]) -> None:
        """Stores variables that the baseline changed. The user is warned of them unless every run sets
        them to equal values, or no run goes by them."""
        self._made = tuple(places)

    def count(self, counted: Counted | None) -> None:
        """Stores a number or flag that all runs change and code reads; None if there is none."""
        self._counted = counted

    @property
    def is_counting(self) -> bool:
        """Returns True iff there is such a number or flag, and it is not settled."""
        return self._counting() is not None

    @property
    def made(self) -> list[str]:
        """Returns the names of variables that the baseline changed, without those that are settled."""
        return [each.place for each in self._unsettled()]

    @property
    def place(self) -> str:
        """Returns the name of the first state found; empty if there is none."""
        counted = self._counting()
        first = [*self.made, counted.place if counted else "", getattr(self.lasting(), "place", "")]
        return next(filter(None, first), "")

    @property
    def in_words(self) -> str:
        """Returns the doubt (a warning for the user) that the first state found gives; empty if none."""
        counted, found, left = self._counting(), self._unsettled(), self.lasting()
        if counted is not None:
            return self.refusals.counts(counted)
        if found:
            return self.refusals.finds(found[0].clause)
        return self.refusals.goes_by(left) if left else ""

    def _unsettled(self) -> list[Left]:
        return [each for each in self._made if not self.rewinding.is_settled(each.place)]

    def _counting(self) -> Counted | None:
        counted = self._counted
        return None if counted is None or self.rewinding.tried(counted.label) else counted
