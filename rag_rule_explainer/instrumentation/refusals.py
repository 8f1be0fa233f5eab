"""This module makes the messages of errors and doubts about replays. A doubt is a warning for the user
that the rules may be wrong, because replays may differ from the baseline in more than their sources."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ..errors import StateShared, UntrueReplay
from ..printable import plain_id, shortened
from ..sources import Source
from .doubts import BASELINE, CACHED, FOLDERS, IGNORE, NOTHING_COMPARED, listed, named, pattern_of
from .requests.answering import Changed
from .requests.carrying import Carried
from .requests.courses import Difference
from .requests.leftovers import Leftover
from .shared_state.counting import Counted
from .shared_state.files import Left


@dataclass(frozen=True, slots=True)
class Refusals:
    """A ``Refusals`` makes the message for each way in which a replay can differ from the baseline in
    more than its sources. An error says that the replay cannot be used; a doubt is a warning for the
    user.

    ``making``: advice, for messages, on how to pass a function that makes a new application in this
    framework; empty if unknown.
    """

    making: str = ""

    @property
    def ways_out(self) -> str:
        """Returns advice for messages: what the user can do if an application keeps state from run to
        run. The text has no full stop at its end."""
        return StateShared.WAYS_OUT + (f": {self.making}" if self.making else "")

    def differs(self, found: Difference, writer: str) -> StateShared:
        """Returns the error for a replay whose request to a model differs from the baseline's.
        ``writer``: the end of the message, which says who wrote the additional text in the request; may
        be empty."""
        return StateShared(
            f"request {found.number} to a model differs between {BASELINE} and a replay on all sources: "
            f"{shortened(found.clause, 600)}{writer}",
            f"{self.ways_out}. {CACHED if found.came is None else IGNORE}",
        )

    def was_ended(self, found: Difference, cut: str) -> UntrueReplay:
        """Returns the error for a replay on all sources that was ended before it sent a request of the
        baseline. ``cut``: why it was ended."""
        return UntrueReplay(
            f"request {found.number} to a model was not sent in a replay on all sources: "
            f"{shortened(found.clause, 600)}; {cut}"
        )

    def lacks(self, found: Difference, tools: Sequence[str], *, is_one_action: bool) -> UntrueReplay:
        """Returns the error for a replay whose request lacks words that the baseline's has, after
        ``tools`` had run in the baseline that do not run in replays. ``is_one_action``: True if only the
        next action is explained."""
        whole = "replay_of='whole_run', " if is_one_action else ""
        named_tools = ", ".join(map(repr, tools))
        return UntrueReplay(
            f"request {found.number} to a model differs between {BASELINE} and a replay on all sources: "
            f"{shortened(found.clause, 600)}. Before it, {BASELINE} ran {named_tools}, which no replay "
            "runs: what a tool writes besides its result, as to a store, a context or an attribute, is "
            "missing there. Let the tool return what is new, and other code take it from the result (in "
            "LangGraph, by a Command); or, if running it again does no harm, name the one that writes: "
            f"{whole}safe_tools=[{tools[0]!r}]. Where no tool writes it, the application may keep it "
            f"from run to run: {self.ways_out[0].lower()}{self.ways_out[1:]}. {IGNORE}"
        )

    def lacks_in_answer(self, changed: Changed, tools: Sequence[str]) -> UntrueReplay:
        """Returns the error for a replay whose answer differs although the models replied the same, where
        ``tools`` had written something in the baseline that do not run in replays."""
        return UntrueReplay(
            f"{changed.clause}, in a replay on all sources, although models replied the same: the "
            "application makes its answer of more than their replies. No replay runs "
            f"{', '.join(map(repr, tools))}, and in {BASELINE} that changed what other code may read, as "
            "a list or a store. Let the application make its answer of the tools' results, as the model "
            "gets them; or, if running it again does no harm, name it: "
            f"safe_tools={list(tools)}. {IGNORE}"
        )

    def repeats_otherwise(self, found: Difference, kept: Sequence[Source]) -> StateShared:
        """Returns the error for two replays on the same sources that differ in a request."""
        change = shortened(found.clause_of("the first one", "the second one"), 600)
        return StateShared(
            f"{named(kept)} was made twice, and request {found.number} to a model differs: {change}",
            f"{self.ways_out}. Where runs at the same time are in each other's way, concurrency=1 is "
            f"enough. {IGNORE}",
        )

    def depends(self, places: str, seen: str) -> str:
        """Returns the doubt for a replay that began with the state from before the baseline, and then
        differed from an earlier replay on the same sources.

        ``places``: the names of the state that was restored. ``seen``: the difference in words.
        """
        return (
            f"{NOTHING_COMPARED}runs go by what earlier ones left: with {places} as before {BASELINE}, "
            f"{shortened(seen, 500)}. {self.ways_out}. {IGNORE}"
        )

    def is_of_another_year(self, came: Sequence[str], was: Sequence[str]) -> StateShared:
        """Returns the error for a date in a replay's request whose year differs from the baseline's.
        ``came``: the years in the replay; ``was``: the years in the baseline."""
        return StateShared(
            f"a date in a request to a model is of {', '.join(came)} in a replay on "
            f"all sources and of {', '.join(was)} in {BASELINE}",
            f"{self.ways_out}. {IGNORE}",
        )

    def asks(self, query: str, known: Sequence[str]) -> StateShared:
        """Returns the error for a query that the baseline did not make. ``known``: the queries that the
        baseline made."""
        asked = ", ".join(repr(shortened(each, 100)) for each in known[:3])
        return StateShared(
            f"a replay on all sources searched for {shortened(query, 200)!r}, where {BASELINE} searched "
            f"for {asked}, although all models said the same",
            f"{self.ways_out}. {IGNORE}",
        )

    def holds(self, carried: Carried, kept: Sequence[Source]) -> StateShared:
        """Returns the error for a request that holds a text which another run made."""
        return StateShared(
            f"{named(kept)} sent its model a text that {carried.maker} made: "
            f"{shortened(carried.text, 200)!r}",
            self.ways_out,
        )

    def may_hold(self, carried: Carried) -> str:
        """Returns the message for a refused replay whose request and reply both contain the same text of
        another run. ``carried``: this text, and the run that made it."""
        return (
            f"its model was sent {carried.text!r}, which {carried.maker} had made, and said the same: it "
            "may be there by chance, or the application remembers it from run to run"
        )

    def answers_for(self, foreign: Carried, kept: Sequence[Source]) -> StateShared:
        """Returns the error for an answer that contains the reply that a model gave to another run, but
        none of the replies to its own run."""
        return StateShared(
            f"{named(kept)} answered with what a model told {foreign.maker}, "
            f"{shortened(foreign.text, 200)!r}, and with nothing that it was told itself",
            f"{self.ways_out}. If it only keeps intermediate results where runs at the same time "
            "overwrite them, concurrency=1 is enough",
        )

    def keeps(self, leftover: Leftover, kept: Sequence[Source]) -> StateShared | str:
        """Returns the error for a request that contains text of an omitted source. If it is unknown where
        the application stores this text, returns a doubt (a warning for the user) instead."""
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
        """Returns a warning about a number or flag that every run changes and that the application
        reads, such as a counter."""
        return (
            f"{NOTHING_COMPARED}{counted.place} changes with every run (from {counted.was!r} to "
            f"{counted.came!r} in a replay on all sources), and the application's code reads it, so "
            f"later replays may have gone another way for that alone. {self._unless(counted.place)}"
        )

    def finds(self, place: str) -> str:
        """Returns the doubt for an attribute or variable that the baseline set and that later runs may
        read."""
        return (
            f"{NOTHING_COMPARED}{place} was set in {BASELINE} and is kept by later runs, so they may "
            f"go by what {BASELINE} retrieved. {self._unless(place)}"
        )

    def goes_by(self, left: Left) -> str:
        """Returns the doubt for state that one run left and that later runs may read."""
        return (
            f"{NOTHING_COMPARED}{left.clause}, so the answers of later runs may rest on what earlier "
            f"ones were given. {self._unless(left.place)}"
        )

    def answers_otherwise(self, changed: Changed, kept: Sequence[Source] | None) -> str:
        """Returns the doubt for an answer that differs from an earlier answer on the same sources.
        ``changed``: has both answers.

        ``kept``: the sources of the replay; None for all sources.
        """
        replied = (
            "replied the same after the search as before it"
            if changed.alike
            else "were asked the same, and replied otherwise after the search than before it"
        )
        return (
            f"{NOTHING_COMPARED}on {'all sources' if kept is None else listed(kept)} models {replied}, "
            f"and {changed.clause}: what replays left has changed it. {self.ways_out}. {IGNORE}"
        )

    def _unless(self, place: str) -> str:
        folders = FOLDERS if PurePath(place).is_absolute() else ""
        ignoring = f"Where no answer depends on it, name it: ignore=[{pattern_of(place)!r}]"
        return f"{self.ways_out}.{folders} {ignoring}"
