"""This module reads an application's code and objects to find state that lasts from one run to the next
and may influence it.

Such state may be in no prompt, or may be equal in all runs on all sources. A comparison of prompts then
does not find this state.
"""

from collections.abc import Callable, Collection, Hashable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from ..copies.guarded_code import own_code
from .ambient import left_on_loop_or_thread
from .background import written_in_background
from .caching import Caches
from .code import users_functions
from .contents import is_collection, names_in
from .counting import is_read, place_in
from .emptied import cached_code
from .files import Left
from .framework_attributes import is_otherwise, of_frameworks
from .holdings import Holdings, changed_values
from .named_contents import Contents, contents_of
from .outside import Outside
from .statements import Statements
from .sticking import Sticking, holders_of, is_of_threads, keeps, place_of, set_at_times, sticking_in
from .writing import writes_in

_ASKING = frozenset(
    {
        *("exists", "is_file", "isfile", "is_dir", "isdir", "stat", "lexists", "access", "getsize"),
        *("getmtime", "utime", "lstat", "islink", "readlink", "ismount", "statvfs", "fstat"),
        *("glob", "rglob", "iterdir", "listdir", "scandir"),
    }
)
"""The names of functions that read properties of files, such as whether they exist, without opening
them."""

_ASKING_FOR_SIZES = frozenset({"getsize", "stat", "lstat", "fstat", "getmtime"})

# These classes are typed as Any. Otherwise, pyright would report unknown types of the values in them.
_WEAK: Any = (WeakKeyDictionary, WeakValueDictionary, WeakSet)
"""Collections of weak references, from which an entry disappears as soon as nothing else refers to it. An
entry that is still there after all runs is state that lasts from run to run."""

EVERYTHING = "all sources"
"""This text identifies a run on all sources. A run on fewer sources is identified by the sources that it
retains."""


@dataclass(slots=True, eq=False)
class Lasting:
    """This class finds state that lasts from one run to the next.

    ``before``: the application's state before the baseline. ``is_harmless``: returns True iff the user
    ignores changes of the state with this name. ``outside``: records the use of files and environment
    variables by the runs. ``emptied``: the collections and caches that every run empties at its start.
    ``handed``: returns the names of functions of libraries that the application's objects refer to, as a
    bound method; code calls such a function without its name.
    ``caches``: the cached functions of the application, except those whose cache is in ``emptied``.
    """

    before: Holdings
    is_harmless: Callable[[str], bool]
    outside: Outside = field(default_factory=Outside)
    emptied: Collection[object] = ()
    handed: Callable[[], Collection[str]] = tuple
    caches: Caches = field(init=False)
    _sticking: list[Sticking] | None = None
    _start: dict[str, Contents] = field(default_factory=dict[str, Contents])
    _changed: dict[str, Sticking] = field(default_factory=dict[str, Sticking])
    _grown: dict[str, int] = field(default_factory=dict[str, int])
    _replayed: set[Hashable] = field(default_factory=set[Hashable])
    _by_code: list[Left] = field(default_factory=list[Left])
    _unexplained: dict[str, Left] = field(default_factory=dict[str, Left])
    _statements: Statements | None = None
    _weak: list[tuple[Left, Any]] = field(default_factory=list[tuple[Left, Any]])

    def __post_init__(self) -> None:
        self.caches = Caches.among(self.before, cached_code(self.emptied))

    def begin(
        self,
        after: Holdings,
        reading: Holdings,
        variables: Collection[ContextVar[Any]] = (),
        *,
        is_missed: bool = False,
    ) -> None:
        """Stores the application's state between the baseline and the first replay, and searches its code
        for places that write state which lasts from run to run.

        ``after``: the state between the baseline and the first replay. ``reading``: the objects in this
        state whose code may run in replays. State that only other code reads, such as the code of tools
        that do not run again, is ignored. ``variables``: context variables that cannot be reset.
        ``is_missed``: True if the state was first read after the baseline had run; every value then
        counts as changed by the baseline.
        """
        self._sticking = sticking_in(after, reading, self.emptied)
        self._start = {each.name: contents_of(after, each.name) for each in self._sticking}
        for each in self._sticking:
            # If the baseline changed the value, this is recorded now. Perhaps no replay changes the
            # value again, and then no later comparison would show the change.
            was = contents_of(self.before, each.name)
            if not each.keyed and (is_missed or was != self._start[each.name]):
                self._changed.setdefault(each.name, each)
        self._by_code = list(self._left_by_code(after, reading, variables))
        self._unexplained = dict(self._without_code(after, reading))

    def _left_by_code(
        self, after: Holdings, reading: Holdings, variables: Collection[ContextVar[Any]]
    ) -> Iterator[Left]:
        for cached, name in self.caches.going_by_what_is_written(after):
            clause = f"{cached} keeps what it gave before, and goes by {name!r}, which runs write"
            yield Left(name, clause)
        for name, clause in written_in_background(after):
            yield Left(name, f"{clause} in a thread or task that nobody waits for")
        yield from left_on_loop_or_thread(after, reading)
        yield from self._of_others(after)
        for each in set_at_times(after, variables):
            yield Left(place_of(each)[0], f"{each.clause}, where the next run finds it")

    def look(self, now: Callable[[], Holdings], sources: Hashable) -> None:
        """Compares the state after a replay with the state after the baseline. Call it only if no other
        run was active during this replay. ``now``: returns the current state. ``sources``: identifies the
        replay's sources."""
        if not self._sticking:
            return
        holdings = now()
        self._replayed |= {sources} - {EVERYTHING}
        for each in self._sticking:
            now_there, start = contents_of(holdings, each.name), self._start[each.name]
            if each.keyed and now_there.plain.items() >= start.plain.items():
                self._grown[each.name] = now_there.size - start.size
            elif now_there != start:
                self._changed.setdefault(each.name, each)

    def look_inside(self) -> None:
        """Records which values of the frameworks' objects differ, at the start of a replay, from their
        state before the baseline. The baseline has changed these values, and the replay uses the changed
        objects instead of copies of the earlier ones."""
        for each in self._sticking or ():
            if not each.keyed and any(
                is_otherwise(held) for held in of_frameworks(self.before, each.name)
            ):
                self._changed.setdefault(each.name, each)

    def found(self) -> Left | None:
        """Returns some state that lasts from run to run, among the state that is known so far and that
        the user does not ignore; None if there is none."""
        return next((each for each in self._all() if not self.is_harmless(each.place)), None)

    def _all(self) -> list[Left]:
        found = [*self._by_code, *self._unexplained.values(), *self._of_databases()]
        if self.caches.searched:
            clause = f"{self.caches.searched} keeps what it gave before, and searches"
            found.append(Left(self.caches.searched, clause))
        outside = self.outside.left()
        if outside is not None:
            found.append(outside)
        found += self.outside.services.left()
        files = self.outside.files
        found += files.programs.values()
        left = files.left() or files.touched
        # A file to which runs only append, such as a log, influences a run only if the application's code
        # asks for the size of files.
        appended = files.appended if self._names_one_of(_ASKING_FOR_SIZES) else ""
        left = left if left and self.asks_for_files else appended
        if left:
            found.append(
                Left(left, f"{left!r} is left by a run, and the code asks which files are there")
            )
        found += (left for left, thing in self._weak if len(thing))
        for each in self._sticking or ():
            grown = self._grown.get(each.name, 0)
            # If every subset of sources has its own entry, no run reads the entry of a different subset.
            if each.name in self._changed or 0 < grown < len(self._replayed):
                found.append(Left(each.name, f"{each.written.clause}, where the next run finds it"))
        return found

    def _of_others(self, after: Holdings) -> Iterator[Left]:
        """Yields state that lasts in models and in objects whose content is not searched, such as
        clients. ``after``: the application's state after the baseline."""
        for each in sticking_in(after, after, of_models=True):
            if not each.keyed:
                yield Left(each.name, f"{each.written.clause}, which is a model and goes by it")
        for each in self._sticking or ():
            # If the application's code only creates a client (``is_made``), this gives no doubt, because
            # later runs use the client as if it had existed before the first run.
            own = () if each.is_made else (each.name,)
            names = (*own, *holders_of(each.written))
            outer = [after.outer[name] for name in names if name in after.outer]
            left = Left(each.name, f"{each.written.clause}, where the next run finds it")
            self._weak += [(left, thing) for thing in outer if each.changes and isinstance(thing, _WEAK)]
            outer = [thing for thing in outer if not isinstance(thing, _WEAK)]
            if each.changes and any(keeps(thing) and not is_of_threads(thing, each) for thing in outer):
                yield left

    def _without_code(self, after: Holdings, reading: Holdings) -> Iterator[tuple[str, Left]]:
        """Yields state that the baseline changed and that code in ``reading`` reads, although no code was
        found that writes the state. Each yielded pair is the state and the name by which code reads it.
        ``after``: the application's state after the baseline. ``reading``: the objects in ``after`` whose
        code may run in replays."""
        written = {place_of(each)[0] for each in writes_in(after)}
        for held, name, value in changed_values(self.before, after, after.is_in_users_or_models):
            if reading.complete and reading.of(held.thing) is None:
                continue  # only code reaches it that does not run in replays
            known = self.before.of(held.thing)
            label = name if not is_collection(held.thing) else held.name
            was = next((old for known, old in known.plain if known == name), None) if known else None
            if was is None or type(was) is not type(value) or label in written:
                continue
            # A model's own code may put a value into a text for the provider. The compared prompts do
            # not contain this text, so for values of models, reads that only put the value into a text
            # count too.
            if is_read(reading, label, in_texts=held.is_of_model):
                place = place_in(after, held, name)
                left = Left(place, f"the baseline changed {place}, where the next run finds it")
                yield label, left

    @property
    def asks_for_files(self) -> bool:
        """Returns True iff the application's code asks whether files exist, or for their properties."""
        return self._names_one_of(_ASKING) or not _ASKING.isdisjoint(self.handed())

    def files_read(self) -> list[str]:
        """Returns the paths of the files that runs read. Leaves out a database if no run reads a table
        that a run writes."""
        files, statements = self.outside.files, self._read_statements()
        is_harmless = statements.any and not statements.both
        return [each for each in files.read if not (is_harmless and each in files.databases)]

    def _read_statements(self) -> Statements:
        if self._statements is None:
            # ``before`` never changes, so its statements are read once.
            self._statements = Statements.among(
                value for held in self.before.all for _, value in held.plain if isinstance(value, str)
            )
        return self._statements

    def _of_databases(self) -> list[Left]:
        files, statements = self.outside.files, self._read_statements()
        if files.database and (statements.both or not statements.any):
            return [Left(files.database.place, files.database.clause)]
        if statements.both and not files.connects:
            table = statements.both
            return [Left(table, f"the code writes to and reads the table {table!r} of a database")]
        return []

    def _names_one_of(self, names: frozenset[str]) -> bool:
        codes = (own_code(function) for _, function in users_functions(self.before))
        return any(not names.isdisjoint(names_in(code)) for code in codes)
