"""What of one run lasts until the next, and may decide there: by what the code says, and by what is seen.

Models are sent nothing of it, and every run on all sources may find the same, so that no comparison of
requests tells.
"""

from collections.abc import Callable, Collection, Hashable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .background import written_in_background
from .caching import Caches
from .code import users_functions
from .counting import is_read, place_in
from .files import Left
from .holdings import Held, Holdings, Plain, changed, is_collection
from .outside import Outside
from .statements import Statements
from .sticking import Sticking, keeps, place_of, set_at_times, sticking_in
from .writing import writes_in

_ASKING = frozenset(
    {
        *("exists", "is_file", "isfile", "is_dir", "isdir", "stat", "lexists", "access", "getsize"),
        *("getmtime", "utime", "lstat", "islink", "readlink", "ismount", "statvfs", "fstat"),
        *("glob", "rglob", "iterdir", "listdir", "scandir"),
    }
)
"""How code asks whether a file is there without opening it."""

EVERYTHING = "all sources"
"""Stands for them, where runs on the same ones may find what each other left."""


class Contents(NamedTuple):
    """What is held under a name. ``plain``: its texts and numbers; ``size``: of all its collections."""

    plain: dict[tuple[int, str], tuple[type, Plain]]
    size: int


@dataclass(slots=True, eq=False)
class Lasting:
    """Looks for it. ``before``: what the application held before the baseline; ``is_harmless``: of a
    place, whether the caller says so."""

    before: Holdings
    is_harmless: Callable[[str], bool]
    outside: Outside = field(default_factory=Outside)
    caches: Caches = field(init=False)
    _sticking: list[Sticking] | None = None
    _start: dict[str, Contents] = field(default_factory=dict[str, Contents])
    _changed: dict[str, Sticking] = field(default_factory=dict[str, Sticking])
    _grown: dict[str, int] = field(default_factory=dict[str, int])
    _replayed: set[Hashable] = field(default_factory=set[Hashable])
    _by_code: list[Left] = field(default_factory=list[Left])
    _statements: Statements | None = None

    def __post_init__(self) -> None:
        self.caches = Caches.among(self.before)

    def begin(
        self, after: Holdings, variables: Collection[ContextVar[Any]] = (), *, is_missed: bool = False
    ) -> None:
        """Takes what the code says, and what is there after the baseline, before the first replay.

        ``variables``: those of the context that replays find as the baseline left them. ``is_missed``:
        the baseline had been run before the first look, and may have set all of it.
        """
        self._sticking = sticking_in(after)
        self._start = {each.name: _contents(after, each.name) for each in self._sticking}
        for each in self._sticking:
            # What the baseline has filled wholly may never change again.
            was = _contents(self.before, each.name)
            if not each.keyed and (is_missed or was != self._start[each.name]):
                self._changed.setdefault(each.name, each)
        self._by_code = [
            *(
                Left(name, f"{cached} keeps what it gave before, and goes by {name!r}, which runs write")
                for cached, name in self.caches.going_by_what_is_written(after)
            ),
            *(
                Left(name, f"{told} in a thread or task that nobody waits for")
                for name, told in written_in_background(after)
            ),
            *self._of_others(after),
            *self._unexplained(after),
            *(
                Left(place_of(each)[0], f"{each.told}, where the next run finds it")
                for each in set_at_times(after, variables)
            ),
        ]

    def look(self, now: Callable[[], Holdings], sources: Hashable) -> None:
        """Takes what is there after a replay on these sources that was made alone."""
        if not self._sticking:
            return
        holdings = now()
        self._replayed |= {sources} - {EVERYTHING}
        for each in self._sticking:
            now_there, start = _contents(holdings, each.name), self._start[each.name]
            if each.keyed and now_there.plain.items() >= start.plain.items():
                self._grown[each.name] = now_there.size - start.size
            elif now_there != start:
                self._changed.setdefault(each.name, each)

    def look_inside(self) -> None:
        """Takes what objects of frameworks hold in a replay that is about to begin: what is not kept
        apart run by run, and is not what the baseline found, the baseline has set."""
        for each in self._sticking or ():
            if not each.keyed and any(_differ(held) for held in _of_frameworks(self.before, each.name)):
                self._changed.setdefault(each.name, each)

    def found(self) -> Left | None:
        """Returns what lasts, as far as it is known by now; None for nothing."""
        return next((each for each in self._all() if not self.is_harmless(each.place)), None)

    def _all(self) -> list[Left]:
        found = [*self._by_code, *self._of_databases()]
        if self.caches.searched:
            told = f"{self.caches.searched} keeps what it gave before, and searches"
            found.append(Left(self.caches.searched, told))
        outside = self.outside.left()
        if outside is not None:
            found.append(outside)
        left = self.outside.files.left() or self.outside.files.touched
        if left and self._asks_for_files():
            found.append(
                Left(left, f"{left!r} is left by a run, and the code asks which files are there")
            )
        for each in self._sticking or ():
            grown = self._grown.get(each.name, 0)
            # Where every choice of sources has an entry of its own, none is another one's.
            if each.name in self._changed or 0 < grown < len(self._replayed):
                found.append(Left(each.name, f"{each.written.told}, where the next run finds it"))
        return found

    def _of_others(self, after: Holdings) -> Iterator[Left]:
        """Yields what is not looked into: that of models, and of clients and the like."""
        for each in sticking_in(after, of_models=True):
            if not each.keyed:
                yield Left(each.name, f"{each.written.told}, which is a model and goes by it")
        for each in self._sticking or ():
            if each.name in after.outer and each.changes and keeps(after.outer[each.name]):
                yield Left(each.name, f"{each.written.told}, where the next run finds it")

    def _unexplained(self, after: Holdings) -> Iterator[Left]:
        """Yields what the baseline has changed and the code reads, though no code is seen to change
        it."""
        written = {place_of(each)[0] for each in writes_in(after)}
        for held, name, value in changed(self.before, after, after.is_in_users):
            known = self.before.of(held.thing)
            label = name if not is_collection(held.thing) else held.name
            was = next((old for known, old in known.plain if known == name), None) if known else None
            if was is None or type(was) is not type(value) or label in written:
                continue
            if is_read(after, label, in_texts=False):
                place = place_in(after, held, name)
                yield Left(place, f"the baseline changed {place}, where the next run finds it")

    def _of_databases(self) -> list[Left]:
        files, statements = self.outside.files, self._statements
        if statements is None:
            # What was held before is what it was, however often it is asked for what lasts.
            statements = self._statements = Statements.among(
                value for held in self.before.all for _, value in held.plain if isinstance(value, str)
            )
        if files.database and (statements.both or not statements.any):
            return [Left(files.database.place, files.database.told)]
        if statements.both and not files.connects:
            table = statements.both
            return [Left(table, f"the code writes to and reads the table {table!r} of a database")]
        return []

    def _asks_for_files(self) -> bool:
        return any(
            _ASKING & set(function.__code__.co_names) for _, function in users_functions(self.before)
        )


def _of_frameworks(holdings: Holdings, name: str) -> Iterator[Held]:
    """Yields what objects of frameworks that have this name, or an attribute of this name, hold."""
    for held in holdings.all:
        if held.values and (
            {name, f"_{name}"} & held.values.keys()
            or any(each.name == name for each in (held, *holdings.above(held)))
        ):
            yield held


def _differ(held: Held) -> bool:
    """Returns whether a run would find anything else there by now; what was not there yet does not
    count."""
    return any(
        _has_another(held.thing, name, was)
        for name, was in held.values.items()
        if was is not None and not isinstance(was, (float, list, dict, set))
    )


def _has_another(thing: object, name: str, was: object) -> bool:
    try:
        now = getattr(thing, name)
        return now is not None and now is not was and bool(now != was)
    except Exception:  # whatever an object raises that is looked at
        return False


def _contents(holdings: Holdings, name: str) -> Contents:
    """Returns the texts, numbers and sizes of what has this name."""
    plain, size = dict[tuple[int, str], tuple[type, Plain]](), 0
    for held in holdings.all:
        # What a framework's object holds is kept apart run by run, or refused.
        is_inside = is_collection(held.thing) and name in holdings.names(held)
        size += held.size if is_inside else 0
        for inner, value in held.plain:
            if is_inside or (inner == name and held.is_users and not held.is_code):
                # A set has no order.
                # What an object has of its own comes before what its class has.
                plain.setdefault((id(held.thing), inner or repr(value)), (type(value), value))
    return Contents(plain, size)
