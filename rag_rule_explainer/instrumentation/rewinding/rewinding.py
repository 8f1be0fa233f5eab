"""What an application held before the baseline, put back for a while.

What the baseline sets and every later run finds shows in no comparison of these runs. But it shows where
a subset of the sources is asked about once more with all that put back: the run is then the first one.
"""

import asyncio
import concurrent.futures
import dis
import pickle
import sys
from collections import deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, update_wrapper
from operator import attrgetter, itemgetter
from types import CodeType, MethodType, ModuleType
from typing import Any

from ..shared_state.counting import is_for_others, is_in, is_in_texts, reads, texts_in
from ..shared_state.files import Left
from ..shared_state.holdings import is_of_user, names_in
from ..shared_state.reaching import is_ours, is_users
from .apart import held_apart, things_in
from .beyond import Beyond
from .making import MadeAgain
from .parts import ABSENT, DICT, LISTED, OF_A_FUNCTION, SET, is_plain
from .reachable import Node, Owner
from .remembered import remember, remembered
from .snapshot import Kept, Snapshot

_OF_ALL = frozenset(
    {
        *("vars", "__dict__", "asdict", "astuple", "model_dump", "globals", "eval", "exec"),
        *("getattr", "setattr"),
    }
)
"""Names with which code may read what it does not name."""
_OF_PYTHON = frozenset(
    {
        *("__class__", "__pydantic_private__", "__pydantic_extra__", "__call__", *OF_A_FUNCTION),
    }
)
"""Names between two underscores that a run may set."""
_COLLECTIONS = (dict, list, set, deque)
_MOST_OF_DATA = 200
_ASKING: Any = (attrgetter, itemgetter)
_METHOD: Any = MethodType
_LONGEST_TEMPLATE = 20_000
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class _Change:
    """A part that holds something else than then. ``names``: of what is to be put back; none for all.
    ``place``: how a user would call it."""

    kept: Kept
    names: tuple[str, ...]
    place: str


class Rewinding:
    """Keeps what an application holds, and puts it back for a while.

    ``is_harmless``: of a place, whether the caller says so. ``isolated``: gives keys of what is kept
    apart run by run already.
    """

    def __init__(
        self,
        application: object,
        is_harmless: Callable[[str], bool],
        isolated: Callable[[], Iterable[Hashable]],
    ) -> None:
        self._snapshot = Snapshot(application)
        self._is_harmless = is_harmless
        self._isolated = isolated
        functions = self._snapshot.functions
        self._codes = [*_running(functions)]
        # Of those that are of no model.
        self._others = [node.thing.__code__ for node in functions if node.owner is not Owner.MODEL]
        self._named = frozenset(name for code in self._others for name in names_in(code))
        texts = (text for code in self._codes for text in texts_in(code))
        self._beyond = Beyond(self._snapshot.things, self._named, texts)
        self._read = dict[str, bool]()
        self._is_missed = False
        self.is_wanted = False
        self._places: tuple[str, ...] = ()
        self._made = MadeAgain()

    def miss_the_baseline(self) -> None:
        """Notes that the baseline had been run before the first look: nothing is known of before."""
        self._is_missed = True

    def is_useful(self) -> bool:
        """Returns True iff something that can be put back, and that may bear on a run, has changed."""
        if self._is_missed:
            return False
        found = list(self._changes())
        self._places = tuple(dict.fromkeys(each.place for each in found))
        return bool(found) or bool(self._new_modules()) or bool(self._grown_caches())

    def remember(self, names: Collection[str] | None = None) -> None:
        """Notes for later explanations that runs go by what has changed; by what has one of these names,
        where any are given."""
        for change in self._changes():
            if names is None or set(names) & {*change.names, *change.kept.node.names()}:
                remember(change.kept, change.names, change.place)

    def left(self) -> Left | None:
        """Returns what has changed and cannot be put back, or what an earlier explanation has left."""
        known = remembered(self._snapshot.kept)
        if known:
            told = f"an earlier explanation found that runs go by {known}, and has left that set"
            return None if self._is_harmless(known) else Left(known, told)
        left = None if self._is_missed else self._beyond.left(self._held_apart)
        return left if left is None or not self._is_harmless(left.place) else None

    def _held_apart(self) -> frozenset[int]:
        return held_apart(self._snapshot, self._isolated())

    @contextmanager
    def wanted(self) -> Generator[None, None, None]:
        """Inside, the next replay is to be made with what the application held then."""
        self.is_wanted = True
        try:
            yield
        finally:
            self.is_wanted = False

    @contextmanager
    def earlier(self, sources: Iterable[str] = ()) -> Generator[None, None, None]:
        """Inside, the application holds what it held then. Afterwards it holds again what it holds now.

        ``sources``: the ids of those that the replay inside is on.
        """
        changes = list(self._changes())
        renewed = {id(cached): _renewed(cached) for cached in self._grown_caches()}
        writes = [*self._earlier(changes, renewed)]
        modules = {name: sys.modules[name] for name in self._new_modules()}
        now = [(kept, kept.now()) for kept, _ in writes]
        today = {id(kept): content for kept, content in now}
        try:
            for name in modules:
                del sys.modules[name]
            for kept, content in writes:
                _write(kept, content)
            yield
        finally:
            for change in changes:
                self._made.note(change.kept, change.names, today[id(change.kept)], frozenset(sources))
            for (kept, put), (_, content) in zip(writes, now, strict=True):
                _write(kept, _with_what_was_added(kept, put, content))
            sys.modules.update(modules)

    def is_constant(self, name: str) -> bool:
        """Returns True iff replays made anew what has this name, and made the same without each
        source."""
        return self._made.is_constant(name)

    @property
    def told(self) -> str:
        """Names what has changed, in words."""
        more = len(self._places) - _MOST_NAMED
        listed = ", ".join(self._places[:_MOST_NAMED]) or "what they find outside of it"
        return listed + (f" and {more} more" if more > 0 else "")

    def _changes(self) -> Iterator[_Change]:
        apart = set(things_in(self._isolated()))
        for kept in self._snapshot.kept:
            if id(kept.node.thing) in apart:
                continue
            try:
                names = kept.changed()
            except Exception:  # noqa: S112 -- whatever an object of the user's raises that is looked at
                continue
            names = [name for name in names if self._matters(kept, name)]
            if not names:
                continue
            is_whole = "" in names
            place = self._place(kept, "" if is_whole else names[0])
            if not self._is_harmless(place):
                yield _Change(kept, () if is_whole else tuple(names), place)

    def _matters(self, kept: Kept, name: str) -> bool:
        """Whether a run may find what has changed there."""
        was, now = self._values(kept, name)
        if is_ours(was) or is_ours(now) or (_is_nothing(was) and not _is_data(now)):
            # What is made once, such as a client or an index, is the same in every run.
            return False
        if name.startswith("__") and name.endswith("__"):
            return name in _OF_PYTHON and (name != "__doc__" or self._is_read(name))
        if kept.node.owner in {Owner.FRAMEWORK, Owner.MODEL}:
            return self._is_users_doing(kept, name)
        if isinstance(kept.node.thing, ModuleType) and kept.node.owner is Owner.LIBRARY:
            return True
        if isinstance(kept.node.thing, _COLLECTIONS) or not name or kept.node.owner is Owner.LIBRARY:
            names = {*kept.node.names(), *filter(None, [name])}
            return not names or any(map(self._is_read, names))
        return self._is_read(name)

    def _is_users_doing(self, kept: Kept, name: str) -> bool:
        """Whether the user's code sets that on an object of a framework, or may change it there: all else
        is the object's own affair."""
        if isinstance(kept.node.thing, _COLLECTIONS):
            names = {*kept.node.names(), *filter(None, [name])}
            if names & self._named:
                return True
        else:
            names = {name}
        return any(each.removeprefix("_") in self._stored for each in names)

    def _values(self, kept: Kept, name: str) -> tuple[object, object]:
        if not kept.part.is_named or not name:
            return ABSENT, ""
        return kept.content.get(name, ABSENT), kept.now().get(name, ABSENT)

    @cached_property
    def _stored(self) -> frozenset[str]:
        """The attributes that the user's code sets."""
        by_text = (text for code in self._others for text in texts_in(code) if "setattr" in self._named)
        return frozenset((*(name for code in self._others for name in _set_in(code)), *by_text))

    @cached_property
    def _held_texts(self) -> list[str]:
        """The templates that the application holds, and the names that it asks things for by
        functions."""
        asking = [each for each in self._snapshot.things if isinstance(each, _ASKING)]
        names = [str(name) for each in asking for name in each.__reduce__()[1]]
        contents = [kept.content for kept in self._snapshot.kept if kept.part.is_named]
        held = [value for content in contents for value in content.values() if isinstance(value, str)]
        return [*names, *(text for text in held if "{" in text and len(text) < _LONGEST_TEMPLATE)]

    @cached_property
    def _is_forgiving(self) -> bool:
        """Whether something may catch an error of the application's own: then a limit decides what is
        answered instead."""
        return any(getattr(code, "co_exceptiontable", b"?") for code in self._codes) or any(
            "Fallback" in type(each).__name__ for each in self._snapshot.things
        )

    def _is_read(self, name: str) -> bool:
        if name not in self._read:
            self._read[name] = bool(_OF_ALL & self._named) or any(
                reads(code, name, in_texts=True, as_limit=self._is_forgiving) or is_in_texts(code, name)
                for code in self._codes
            )
            self._read[name] = self._read[name] or is_in(self._held_texts, name)
        return self._read[name]

    def _place(self, kept: Kept, name: str) -> str:
        names, holder = list(kept.node.names()), kept.node.object()
        owner: Any = holder if isinstance(holder, (type, ModuleType)) else type(holder)
        called = getattr(holder, "__name__", "") or owner.__name__
        own = name or next(iter(names), "")
        return f"{called}.{own}" if own else called

    def _earlier(self, changes: Iterable[_Change], renewed: dict[int, Any]) -> Iterator[tuple[Kept, Any]]:
        for change in changes:
            yield change.kept, change.kept.earlier(change.names)
        for kept in self._snapshot.kept if renewed else ():
            content = kept.now()
            if isinstance(content, DICT):
                if any(id(value) in renewed for value in content.values()):
                    yield kept, {name: renewed.get(id(value), value) for name, value in content.items()}
            elif isinstance(content, LISTED) and any(id(value) in renewed for value in content):
                yield kept, type(content)(renewed.get(id(value), value) for value in content)

    def _grown_caches(self) -> list[Any]:
        return [
            cached
            for cached, size in self._snapshot.caches
            if cached.cache_info().currsize != size and not is_ours(cached.__wrapped__)
        ]

    def _new_modules(self) -> list[str]:
        new = sys.modules.keys() - self._snapshot.modules
        # One that nobody has loaded from anywhere is made by the code.
        return [
            name for name in new if is_users(name) or getattr(sys.modules[name], "__spec__", None) is None
        ]


def _running(functions: list[Node]) -> Iterator[CodeType]:
    """The code that a run may call: not that of methods that no code names, such as those that report."""
    codes = [node.thing.__code__ for node in functions]
    for node, code in zip(functions, codes, strict=True):
        holder = None if node.holder is None else node.holder.thing
        if not is_for_others(holder, node.thing) or any(
            reads(each, node.thing.__name__, as_attribute=True) for each in codes
        ):
            yield code


def _set_in(code: CodeType) -> Iterator[str]:
    for each in dis.get_instructions(code):
        if each.opname in {"STORE_ATTR", "DELETE_ATTR"}:
            yield str(each.argval).removeprefix("_")
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _set_in(inner)


def _write(kept: Kept, content: Any) -> None:
    # An object of the user's may forbid it, such as an enumeration.
    with suppress(Exception):
        kept.part.write(kept.node.thing, content)


def _with_what_was_added(kept: Kept, put: Any, now: Any) -> Any:
    """What a part is to hold again, with what a collection has got meanwhile: it may be another
    thread's."""
    thing, came = kept.node.thing, kept.now()
    if isinstance(thing, DICT) and isinstance(now, DICT):
        return {**{key: value for key, value in came.items() if key not in put}, **now}
    if isinstance(thing, SET):
        return now | (came - put)
    if isinstance(thing, (list, deque)) and came[: len(put)] == put:
        return [*now, *came[len(put) :]]
    return now


def _renewed(cached: Any) -> Any:
    """A cache of the same function, with nothing in it."""
    return update_wrapper(lru_cache(**cached.cache_parameters())(cached.__wrapped__), cached.__wrapped__)


def _is_nothing(value: object) -> bool:
    return value is ABSENT or value is None


def _is_data(value: Any) -> bool:
    """Whether there is nothing in it but texts and numbers, or it is an object of the user's."""
    seen = set[int]()
    waiting: list[Any] = [value]
    while waiting and len(seen) < _MOST_OF_DATA:
        each = waiting.pop()
        if is_plain(each) or id(each) in seen or isinstance(each, type):
            continue
        seen.add(id(each))
        if is_of_user(each):
            return True
        if isinstance(each, _METHOD):
            waiting.append(each.__self__)
        if isinstance(each, (asyncio.Future, concurrent.futures.Future)):
            return True
        if isinstance(each, DICT):
            waiting += [*DICT.keys(each), *DICT.values(each)]
        elif isinstance(each, (*LISTED, SET, frozenset)):
            waiting += list(each)
        elif isinstance(getattr(each, "__dict__", None), DICT):
            waiting += [*DICT.values(vars(each))]
        elif not callable(each) and not _can_be_written_down(each):
            return False
    return True


def _can_be_written_down(thing: object) -> bool:
    """Whether it is no lock, no socket, and nothing else that is of this process alone."""
    try:
        pickle.dumps(thing)
    except Exception:  # whatever its class raises
        return False
    return True
