"""What an application remembers: every run reads what the baseline read, and writes to a copy.

The integrations know whose methods are replaced for that. What each thing held when the baseline first
used it is kept; a run on copies starts from that, and what it writes is gone with it.
"""

import threading
from collections.abc import Awaitable, Callable, Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from .copying import copied


class Same:
    """This class represents a key for one very object, which it keeps alive: no other may come by its
    address."""

    __slots__ = ("thing",)

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


@dataclass(slots=True, eq=False)
class State:
    """This class represents the state that one run sees. ``live``: it writes to the real things, as an
    ordinary run does.

    ``before``: what each thing held when the baseline first used it. ``aside``: the same of things that
    answers do not depend on but by what is retrieved, such as an index or a cache. ``first``: the
    baseline's state, for a run on copies.
    """

    live: bool = False
    before: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    aside: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    first: "State | None" = None
    _copies: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    _own: dict[int, tuple[object, object]] = field(default_factory=dict[int, tuple[object, object]])
    _born: dict[Same, Hashable] = field(default_factory=dict[Same, Hashable])
    _written: set[Same] = field(default_factory=set[Same])
    _told: dict[Same, Hashable] = field(default_factory=dict[Same, Hashable])
    _unsaid: dict[Hashable, list[tuple[Same, ...]]] = field(
        default_factory=dict[Hashable, list[tuple[Same, ...]]]
    )
    _being_made: set[int] = field(default_factory=set[int])
    _lock: Any = field(default_factory=threading.RLock)

    def of_a_replay(self) -> "State":
        """Returns the state of a run on copies of what this one first read."""
        return State(before=self.before, aside=self.aside, first=self)

    def read(self, key: Hashable, reading: Callable[[], Any]) -> Any:
        """Returns what was there before; ``reading`` is asked the first time."""
        with self._lock:
            if key not in self.before:
                self.before[key] = copied(reading())
            return copied(self.before[key])

    async def aread(self, key: Hashable, reading: Callable[[], Awaitable[Any]]) -> Any:
        """Returns the same, where reading has to be awaited."""
        if key not in self.before:
            # Whoever reads at the same time reads the same.
            self.before.setdefault(key, copied(await reading()))
        return copied(self.before[key])

    def kept(self, key: Hashable, making: Callable[[], Any]) -> Any:
        """Returns what ``making`` gave the first time that any run asked, aside. All runs share it."""
        with self._lock:
            return self.aside[key] if key in self.aside else self.aside.setdefault(key, making())

    def own(self, key: Hashable, making: Callable[[], Any]) -> Any:
        """This run's own copy, made the first time."""
        with self._lock:
            if key not in self._copies:
                made = self._copies[key] = making()
                self._own[id(made)] = made, None
            return self._copies[key]

    def note_copy(self, copy: object, original: object) -> None:
        """The copy is this run's own, and of that thing."""
        self._own[id(copy)] = copy, original

    def owned(self, key: Hashable) -> Any:
        """This run's own copy, or None where it has made none."""
        return self._copies.get(key)

    def has(self, key: Hashable) -> bool:
        """Returns True where this run has made its own copy under the key."""
        return key in self._copies

    def owns(self, thing: object) -> bool:
        """Returns True for one of this run's own copies."""
        return id(thing) in self._own

    def original(self, thing: object) -> Any:
        """Returns the thing that one of the baseline's copies, which may have come here, is a copy of."""
        return None if self.first is None else self.first.copied_from(thing)

    def copied_from(self, copy: object) -> Any:
        """Returns the thing that one of this run's own copies is a copy of; None for anything else."""
        return self._own.get(id(copy), (None, None))[1]

    @contextmanager
    def birth_of(
        self, thing: object, told: Hashable = None, unsaid: tuple[object, ...] = ()
    ) -> Generator[None, None, None]:
        """Inside, the thing is made during this run: no other run knows it, so it needs no copy.

        ``told``: how another run may recognise one that stands for something outside of the process;
        ``unsaid``: what it was made of beside that, which is only the same within one run.
        """
        with self._lock:
            if unsaid:
                told = told, self._place_of(told, unsaid)
            outermost = id(thing) not in self._being_made
            self._being_made.add(id(thing))
            self._born.setdefault(Same(thing), told)
        try:
            yield
        finally:
            if outermost:
                self._being_made.discard(id(thing))

    def _place_of(self, told: Hashable, unsaid: tuple[object, ...]) -> int:
        known = self._unsaid.setdefault(told, [])
        key = tuple(map(Same, unsaid))
        if key not in known:
            known.append(key)
        return known.index(key)

    def is_being_made(self, thing: object) -> bool:
        """True until a thing that is made during this run is complete."""
        return bool(self._being_made) and id(thing) in self._being_made

    def note_birth(self, thing: object, told: Hashable = None) -> None:
        """The thing was made during this run, as in ``birth_of``; several that are told in the same way
        are told apart by which came first."""
        with self._lock:
            if Same(thing) not in self._born:
                self._born[Same(thing)] = None if told is None else self._next_of(told)

    def _next_of(self, told: Hashable) -> Hashable:
        known = set(self._born.values())
        return next((told, place) for place in count() if (told, place) not in known)

    def bore(self, thing: object) -> bool:
        """Returns True for a thing that was made during this run."""
        return Same(thing) in self._born

    def note_write(self, thing: object) -> None:
        """Notes that this run writes to a thing that others know as well."""
        self._written.add(Same(thing))

    def holds_own(self, thing: object) -> bool:
        """Returns True for a thing that this run made or wrote to."""
        return Same(thing) in self._born or Same(thing) in self._written

    def tell(self, thing: object, told: Hashable) -> None:
        """That is how another run may recognise the thing, if it is not the same there."""
        self._told[Same(thing)] = told

    def told_of(self, thing: object) -> Hashable:
        """Returns how another run may recognise the thing; None where it is the same there."""
        return self._told.get(Same(thing), self._born.get(Same(thing)))
