"""In which words a replay that is not the baseline but for its sources is refused, or doubted."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import StateShared
from ..printable import plain_id, shortened
from ..sources import Source
from .doubts import BASELINE, CACHED, IGNORE, NOTHING_COMPARED, listed, named, pattern_of
from .requests.answering import Changed
from .requests.carrying import Carried
from .requests.courses import Difference
from .requests.leftovers import Leftover
from .shared_state.counting import Counted
from .shared_state.files import Left


@dataclass(frozen=True, slots=True)
class Refusals:
    """Words all of them. ``making``: how a function that makes the application anew is passed in the
    framework at hand; empty where nobody knows."""

    making: str = ""

    @property
    def ways_out(self) -> str:
        """Says what the user may do, without a full stop at its end."""
        return StateShared.WAYS_OUT + (f": {self.making}" if self.making else "")

    def differs(self, found: Difference, writer: str) -> StateShared:
        """Refuses a request that differs; ``writer``: who made what it has more, in words."""
        return StateShared(
            f"request {found.number} to a model differs between {BASELINE} and a replay on all sources: "
            f"{shortened(found.told, 600)}{writer}",
            f"{self.ways_out}. {CACHED if found.came is None else IGNORE}",
        )

    def repeats_otherwise(self, found: Difference, kept: Sequence[Source]) -> StateShared:
        """Refuses a replay that was made again, for a request that differs."""
        told = shortened(found.told_of("the first one", "the second one"), 600)
        return StateShared(
            f"{named(kept)} was made twice, and request {found.number} to a model differs: {told}",
            f"{self.ways_out}. Where runs at the same time are in each other's way, concurrency=1 is "
            f"enough. {IGNORE}",
        )

    def depends(self, places: str, seen: str) -> str:
        """Doubts claims, as a replay differs where the application holds again what it held before the
        baseline; ``places``: where it holds something else since then."""
        return (
            f"{NOTHING_COMPARED}runs go by what earlier ones left: with {places} as before {BASELINE}, "
            f"{shortened(seen, 500)}. {self.ways_out}. {IGNORE}"
        )

    def is_of_another_year(self, came: Sequence[str], was: Sequence[str]) -> StateShared:
        """Refuses a date in a request."""
        return StateShared(
            f"a date in a request to a model is of {', '.join(came)} in a replay on "
            f"all sources and of {', '.join(was)} in {BASELINE}",
            f"{self.ways_out}. {IGNORE}",
        )

    def asks(self, query: str, known: Sequence[str]) -> StateShared:
        """Refuses a query; ``known``: those of the baseline."""
        asked = ", ".join(repr(shortened(each, 100)) for each in known[:3])
        return StateShared(
            f"a replay on all sources searched for {shortened(query, 200)!r}, where {BASELINE} searched "
            f"for {asked}, although all models said the same",
            f"{self.ways_out}. {IGNORE}",
        )

    def holds(self, carried: Carried, kept: Sequence[Source]) -> StateShared:
        """Refuses a request that holds what another run made."""
        return StateShared(
            f"{named(kept)} sent its model a text that {carried.maker} made: "
            f"{shortened(carried.text, 200)!r}",
            self.ways_out,
        )

    def answers_for(self, foreign: Carried, kept: Sequence[Source]) -> StateShared:
        """Refuses an answer that holds a reply of another run."""
        return StateShared(
            f"{named(kept)} answered with what a model told {foreign.maker}, "
            f"{shortened(foreign.text, 200)!r}, and with nothing that it was told itself",
            f"{self.ways_out}. If it only keeps intermediate results where runs at the same time "
            "overwrite them, concurrency=1 is enough",
        )

    def keeps(self, leftover: Leftover, kept: Sequence[Source]) -> StateShared | str:
        """Refuses a request that holds what is of a source that was left out; doubts it where nobody
        knows what holds that."""
        whose = shortened(", ".join(map(plain_id, leftover.owners)), 100)
        text = shortened(leftover.text, 100)
        seen = f"{named(kept)} sent its model {text!r}, which is of {whose}, and that was left out"
        ways_out = (
            f"{self.ways_out}. Where it always is in the prompt, name it: ignore=[{pattern_of(text)!r}]"
        )
        if leftover.held:
            held = f"the application keeps it since {BASELINE} in {leftover.held}"
            return StateShared(f"{seen}; {held}", ways_out)
        return f"{NOTHING_COMPARED}{seen}: the application may remember it from another run. {ways_out}"

    def counts(self, counted: Counted) -> str:
        """Doubts, for a number that every run changes."""
        return (
            f"{NOTHING_COMPARED}{counted.place} changes with every run (from {counted.was!r} to "
            f"{counted.came!r} in a replay on all sources), and the application's code reads it, so "
            f"later replays may have gone another way for that alone. {self._unless(counted.place)}"
        )

    def finds(self, place: str) -> str:
        """Doubts, for what the baseline left."""
        return (
            f"{NOTHING_COMPARED}{place} was set in {BASELINE} and is kept by later runs, so they may "
            f"go by what {BASELINE} retrieved. {self._unless(place)}"
        )

    def goes_by(self, left: Left) -> str:
        """Doubts, for what any run left."""
        return (
            f"{NOTHING_COMPARED}{left.told}, so the answers of later runs may rest on what earlier ones "
            f"were given. {self._unless(left.place)}"
        )

    def answers_otherwise(self, changed: Changed, kept: Sequence[Source] | None) -> str:
        """Doubts, for an answer that has changed; ``kept``: None for all sources."""
        return (
            f"{NOTHING_COMPARED}on {'all sources' if kept is None else listed(kept)} models replied the "
            f"same after the search as before it, and {changed.told}: what replays left has changed it. "
            f"{self.ways_out}. {IGNORE}"
        )

    def _unless(self, place: str) -> str:
        return f"{self.ways_out}. Where no answer depends on it, name it: ignore=[{pattern_of(place)!r}]"
