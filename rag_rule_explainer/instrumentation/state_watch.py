"""This module watches the state that an application keeps from one run to the next."""

from collections.abc import AsyncGenerator, Callable, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from types import FunctionType

from .chance.finding import doubt_about_chance
from .copies.contexts import Contexts
from .isolation.auditing import listen
from .reads_and_writes.changed_in_place import kept_before
from .requests.leftovers import Leftovers
from .requests.volatile import Steady
from .rewinding.rewinding import Rewinding
from .shared_state.code import users_functions
from .shared_state.counting import Counted, deciding
from .shared_state.emptied import emptied_by
from .shared_state.files import Left
from .shared_state.holdings import Holdings
from .shared_state.lasting import Lasting
from .shared_state.memos import first_made
from .shared_state.remaining import has_changed, remaining_in_words
from .shared_state.temporaries import OneAtATime
from .shared_state.writing import written_by


class StateWatch:
    """A ``StateWatch`` watches an application's state during the runs of one explanation. Make it before
    the baseline runs.

    ``leftovers``: finds texts of omitted sources in requests. ``lasting``: finds state that lasts after a
    run. ``outside``: watches files and environment variables. ``rewinding``: restores the state before
    the baseline. ``contexts``: isolates context variables. ``alone``: makes replays run one at a time if
    they share files. ``isolated``: returns the keys of the objects of which every run has a copy.
    """

    def __init__(
        self,
        root: object,
        given: Sequence[object],
        steady: Steady,
        isolated: Callable[[], Iterable[Hashable]],
    ) -> None:
        # All runs share the objects of an input that cannot be copied, such as objects of the user's
        # classes. So their state is watched as well.
        application: object = [root, *given] if given else root
        self._application = application
        self._steady = steady
        self._held: Holdings | None = None
        self._reading: Holdings | None = None
        self._by_chance: str | None = None
        self._replays = 0
        self._has_been_other = False
        self._tools: frozenset[str] | None = None
        self.contexts = Contexts()
        self.leftovers = Leftovers(application, steady)
        written = written_by(self.leftovers.before)
        self.lasting = Lasting(
            self.leftovers.before,
            self._is_settled,
            emptied=emptied_by(root),
            handed=lambda: self.rewinding.handed_functions,
        )
        self.outside = self.lasting.outside
        services = self.outside.services
        self._is_written = bool(written)
        self.rewinding = Rewinding(
            application,
            steady.is_ignored,
            isolated,
            lambda: self._is_written,
            lambda: services.asked(steady.is_ignored),
            self.outside.files.written.changed,
        )
        listen()
        self.alone = OneAtATime(root, written, self.outside)

    @property
    def kept(self) -> dict[int, object]:
        """Returns the objects that were there before the baseline, by their ids, without those that each
        run empties before all else, which are as good as made in the run."""
        kept = kept_before(each.thing for each in self.leftovers.before.all)
        for each in self.lasting.emptied:
            kept.pop(id(each), None)
        return kept

    def miss_the_baseline(self) -> None:
        """Records that this object was made after the baseline, so that the state before the baseline is
        unknown."""
        self.leftovers.miss_the_baseline()
        self.rewinding.miss_the_baseline()

    def limit_to(self, tools: frozenset[str] | None) -> None:
        """Limits the watch to state that replays can read. ``tools``: the names of the only tools that
        may run in replays; None if all tools may run. State that only functions of other tools read is
        ignored."""
        self._tools = tools
        self.rewinding.limit_to(tools)

    @contextmanager
    def of_the_baseline(self, *, live: bool) -> Generator[None, None, None]:
        """Records which context variables the baseline sets. The baseline runs in the block.

        ``live``: True if the baseline is a call that the user made; its effects then stay. If it is
        False, the environment variables and context variables that the baseline set get their earlier
        values back.
        """
        self.rewinding.is_live = live
        try:
            with self.contexts.of_the_baseline():
                yield
        finally:
            if not live:
                self.outside.environment.put_back()
                self.contexts.put_back()

    @contextmanager
    def turn(self, sources: Sequence[str]) -> Generator[None, None, None]:
        """Waits until a replay may run in the block; the thread is blocked meanwhile. If the block is
        inside ``rewinding.wanted()``, the replay starts with the state from before the baseline.

        ``sources``: the ids of the sources of the replay.
        """
        if not self.rewinding.is_wanted:
            with self.alone.turn():
                yield
            return
        with self.alone.exclusive_turn(), self.rewinding.earlier(sources):
            yield

    @asynccontextmanager
    async def aturn(self, sources: Sequence[str]) -> AsyncGenerator[None, None]:
        """Waits on the event loop until a replay may run in the block. ``sources``: the ids of the
        sources of the replay. The state is restored as in ``turn``."""
        if not self.rewinding.is_wanted:
            async with self.alone.aturn():
                yield
            return
        async with self.alone.exclusive_aturn():
            with self.rewinding.earlier(sources):
                yield

    @contextmanager
    def looking(
        self,
        sources: Hashable,
        is_a_sources_own: Callable[[str], bool],
        found: Callable[[Iterable[Left]], None],
        counted: Callable[[Counted | None], None],
    ) -> Generator[None, None, None]:
        """Compares the application's state before and after a replay, which runs in the block.

        After the first replay, calls ``found`` with the attributes or variables that the baseline
        changed, and ``counted`` with a number that every run changes. ``sources``: identifies the
        replay's sources. ``is_a_sources_own``: returns True iff a key of a dict is the id or the text of
        a source.
        """
        self._replays += 1
        if self.rewinding.is_wanted:
            # A replay in a block of ``rewinding.wanted()`` starts from the state before the baseline. A
            # comparison with the state after the baseline would report differences that the replay did
            # not make.
            yield
            return
        before = self._look_first()
        self.lasting.look_inside()
        yield
        holdings = _ReadOnce(self.holdings)
        if before is not None:
            self._compare(before, holdings(), is_a_sources_own, found, counted)
        self.lasting.look(holdings, sources)
        # The state is compared after each replay, not only at the end: a number such as a count of
        # failures may have its first value again after the last replay.
        if self._is_written:
            self._has_been_other = self._has_changed(holdings)
            if not self.rewinding.was_useful:
                self.rewinding.is_useful()

    def _look_first(self) -> Holdings | None:
        if self._held is not None:
            return None
        self._held = before = self.holdings()
        self.leftovers.look(before)
        is_missed = self.leftovers.is_after_the_run
        reading = before
        if self._tools is not None:
            reading = Holdings(self._application, self._tools, earlier=before)
        # If objects were left out of it, code that may run in replays may reach them.
        self._reading = reading if reading.complete else before
        self.lasting.begin(before, reading, self.contexts.kept, is_missed=is_missed)
        return before

    def _compare(
        self,
        before: Holdings,
        after: Holdings,
        is_a_sources_own: Callable[[str], bool],
        found: Callable[[Iterable[Left]], None],
        counted: Callable[[Counted | None], None],
    ) -> None:
        def is_harmless(place: str, key: str) -> bool:
            return (bool(key) and is_a_sources_own(key)) or self._steady.is_ignored(place)

        start, emptied = self.leftovers.before, self.lasting.emptied
        found(first_made(start, self._reading or before, after, is_harmless, emptied))
        counted(deciding(before, after, self._steady.is_ignored))

    def lasting_state(self) -> Left | None:
        """Returns state that one run left and that may influence later runs; None if none is known."""
        lasting = self.lasting
        read, asks = lasting.files_read(), lasting.asks_for_files
        return self.rewinding.earlier_doubt(read, asks_for_files=asks) or lasting.found()

    def doubt_about_chance(self) -> str:
        """Returns the doubt (a warning for the user) for code that decides by chance; empty if there is
        none."""
        if self._by_chance is None:
            self._by_chance = doubt_about_chance(self.leftovers.before, self._steady.is_ignored)
        return self._by_chance

    def functions_before(self) -> Iterator[FunctionType]:
        """Yields the user's functions that the application had when this object was made."""
        return (function for _, function in users_functions(self.leftovers.before))

    def functions_now(self) -> Iterator[FunctionType]:
        """Yields the user's functions that the application has at this moment."""
        return (function for _, function in users_functions(self.holdings()))

    def holdings(self) -> Holdings:
        """Returns the application's current state."""
        return Holdings(self._application, earlier=self._held or self.leftovers.before)

    def has_changed(self) -> bool:
        """Returns True iff state that the application's code reads has changed since the first replay
        began, even if it has its old value again by now."""
        return self._has_changed(self.holdings)

    def _has_changed(self, now: Callable[[], Holdings]) -> bool:
        return self._has_been_other or (self._held is not None and has_changed(self._held, now()))

    def remaining_in_words(self, known: str) -> str:
        """Returns a sentence that names the changes which replays have made to the user's own objects.
        The sentence is empty if there are no changes, or if the text ``known`` already names all of
        them."""
        return "" if self._held is None else remaining_in_words(self._held, self.holdings(), known)

    def state_of_runs_in_words(self) -> str:
        """Returns a sentence that names the changes which the baseline and the replays so far have made
        to the user's own objects. Empty if there are none, or if the state before the baseline is not
        known."""
        start = self.leftovers.before
        if self.leftovers.is_after_the_run:
            return ""
        count = self._replays
        runs = f"The baseline and {count} {'replay' if count == 1 else 'replays'}"
        return remaining_in_words(start, self.holdings(), "", runs)

    def remember_refusal(self) -> None:
        """Stores, for later explanations of this application, that this explanation was refused because
        its runs depend on state that earlier runs left."""
        self.rewinding.is_useful()
        self.rewinding.remember(self.rewinding.clause, None)

    def _is_settled(self, place: str) -> bool:
        """Returns True iff changes of this attribute or variable do not matter: ``ignore=`` names it, or
        every run leaves the same value in it. ``place``: its name in messages."""
        return self._steady.is_ignored(place) or self.rewinding.is_constant(place)


class _ReadOnce:
    """A ``_ReadOnce`` reads the application's state at its first call, and returns the same state at
    later calls. Reading the state takes longer than a replay without a real model."""

    def __init__(self, read: Callable[[], Holdings]) -> None:
        self._read = read
        self._found: Holdings | None = None

    def __call__(self) -> Holdings:
        self._found = self._found or self._read()
        return self._found
