"""This module isolates the memory of an application, so that every replay reads the same content as the
baseline. *Memory objects* are objects that store data between runs, such as a chat history.

When the baseline first uses a memory object, its content is copied. A replay works on its own copy of
this content, and its writes are dropped with this copy. For this, the integrations replace the methods of
the memory objects.
"""

import threading
from collections.abc import Awaitable, Callable, Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from .copying import copied
from .live import entries_now, unchanged


class Same:
    """A ``Same`` is a dict key for an object. Two keys are equal only if they are keys of the same
    object.

    The key keeps the object alive, so that no other object gets its address.
    """

    __slots__ = ("thing",)

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


@dataclass(slots=True, eq=False)
class State:
    """A ``State`` holds the content of memory objects for one run, and knows which objects the run
    made."""

    live: bool = False
    """True if the run writes to the real objects, because it is the user's own run."""
    before: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    """For each key, the content of an object when the baseline first used it. This content shows what the
    application remembers."""
    aside: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    """For each key, the earlier content of an object that is no memory, such as an index. Such an object
    influences answers only through retrieval."""
    first: "State | None" = None
    """The state of the baseline; None if this state is the baseline's."""
    edit: Callable[[Any], Any] | None = None
    """Returns content without the sources that a replay omits; None if no content is changed."""
    _copies: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    _own: dict[int, tuple[object, object]] = field(default_factory=dict[int, tuple[object, object]])
    _born: dict[Same, Hashable] = field(default_factory=dict[Same, Hashable])
    _written: set[Same] = field(default_factory=set[Same])
    _keys: dict[Same, Hashable] = field(default_factory=dict[Same, Hashable])
    _unsaid: dict[Hashable, list[tuple[Same, ...]]] = field(
        default_factory=dict[Hashable, list[tuple[Same, ...]]]
    )
    _being_made: set[int] = field(default_factory=set[int])
    _lock: Any = field(default_factory=threading.RLock)

    def of_a_replay(self) -> "State":
        """Returns the state of a new replay. The replay works on copies of the content that the baseline
        first read."""
        return State(before=self.before, aside=self.aside, first=self)

    def read(self, key: Hashable, reading: Callable[[], Any]) -> Any:
        """Returns a copy of the content that a memory object had when it was first read. The baseline
        reads it first, or a replay if the baseline does not read it.

        ``key``: identifies the object. ``reading``: reads the content from the real object; it is called
        for the first read only.
        """
        with self._lock:
            if key not in self.before:
                self.before[key] = copied(unchanged(reading))
            return self.known(key)

    async def aread(self, key: Hashable, reading: Callable[[], Awaitable[Any]]) -> Any:
        """Returns a copy of the content that a memory object had when it was first read, as ``read``
        does. ``reading``: an async function that reads the content from the real object."""
        if key not in self.before:
            # Several reads may run concurrently. All of them return the result of the read that ends
            # first.
            self.before.setdefault(key, copied(await reading()))
        return self.known(key)

    def known(self, key: Hashable) -> Any:
        """Returns a copy of the content that was read with this key, without the sources that the run
        omits."""
        return self.edited(copied(self.before[key]))

    def edited(self, content: Any) -> Any:
        """Returns content, or an input, without the sources that the run omits."""
        return content if self.edit is None else self.edit(content)

    def edit_attributes(self, thing: Any) -> Any:
        """Removes the sources that the run omits from the attributes of ``thing``, and returns ``thing``.
        ``thing``: one of the run's own copies of objects."""
        if self.edit is None:
            return thing
        attributes: dict[str, Any] = getattr(thing, "__dict__", {})
        for name, content in entries_now(attributes).items():
            left = self.edited(content)
            if left is not content:
                attributes[name] = left
        slots = [name for each in type(thing).__mro__ for name in getattr(each, "__slots__", ())]
        for name in (each for each in slots if not each.startswith("__")):
            content = getattr(thing, name, None)
            left = self.edited(content)
            if left is not content:
                object.__setattr__(thing, name, left)
        return thing

    def kept(self, key: Hashable, making: Callable[[], Any]) -> Any:
        """Returns the object that is stored in ``aside`` under the key. At the first call of any run,
        ``making`` makes it; later calls return the same object."""
        with self._lock:
            return self.aside[key] if key in self.aside else self.aside.setdefault(key, making())

    def own(self, key: Hashable, making: Callable[[], Any]) -> Any:
        """Returns this run's own copy of the object with this key. At the first call, ``making`` makes
        the copy."""
        with self._lock:
            if key not in self._copies:
                made = making()
                made = self._copies[key] = self.edited(made) if type(made) is dict else made
                self._own[id(made)] = made, None
            return self._copies[key]

    def note_copy(self, copy: object, original: object) -> None:
        """Records that ``copy`` is this run's own copy of ``original``."""
        self._own[id(copy)] = copy, original

    def owned(self, key: Hashable) -> Any:
        """Returns this run's own copy of the object with this key; None if the run has made no copy of
        it."""
        return self._copies.get(key)

    def has(self, key: Hashable) -> bool:
        """Returns True iff this run has made its own copy of the object with this key."""
        return key in self._copies

    def owns(self, thing: object) -> bool:
        """Returns True iff the object is one of this run's own copies."""
        return id(thing) in self._own

    def original(self, thing: object) -> Any:
        """Returns the original of which the baseline made the copy ``thing``. Returns None if ``thing``
        is no such copy, or if this state is the baseline's."""
        return None if self.first is None else self.first.copied_from(thing)

    def copied_from(self, copy: object) -> Any:
        """Returns the original of which this run made ``copy``; None if ``copy`` is none of this run's
        copies."""
        return self._own.get(id(copy), (None, None))[1]

    @contextmanager
    def birth_of(
        self, thing: object, key: Hashable = None, unsaid: tuple[object, ...] = ()
    ) -> Generator[None, None, None]:
        """Records that this run constructs an object in the block, so that the run uses it without a
        copy.

        ``thing``: the object. ``key``: equal for the objects that different runs construct for the same
        purpose; None if such objects need not be recognised. ``unsaid``: arguments of the constructor of
        which ``key`` contains only the class. If a second object is constructed with the same ``key`` but
        with other such arguments, it counts as an object for another purpose.
        """
        with self._lock:
            if unsaid:
                key = key, self._place_of(key, unsaid)
            outermost = id(thing) not in self._being_made
            self._being_made.add(id(thing))
            self._born.setdefault(Same(thing), key)
        try:
            yield
        finally:
            if outermost:
                self._being_made.discard(id(thing))

    def _place_of(self, key: Hashable, unsaid: tuple[object, ...]) -> int:
        known = self._unsaid.setdefault(key, [])
        given = tuple(map(Same, unsaid))
        if given not in known:
            known.append(given)
        return known.index(given)

    def is_being_made(self, thing: object) -> bool:
        """Returns True while this run constructs the object."""
        return bool(self._being_made) and id(thing) in self._being_made

    def note_birth(self, thing: object, key: Hashable = None) -> None:
        """Records that this run made the object. ``key``: equal for the objects that different runs make
        for the same purpose; None if such objects need not be recognised. If a run makes several objects
        with the same ``key``, they are numbered in order."""
        with self._lock:
            if Same(thing) not in self._born:
                self._born[Same(thing)] = None if key is None else self._next_of(key)

    def _next_of(self, key: Hashable) -> Hashable:
        known = set(self._born.values())
        return next((key, place) for place in count() if (key, place) not in known)

    def bore(self, thing: object) -> bool:
        """Returns True iff this run made the object, which then belongs to this run alone."""
        return Same(thing) in self._born

    def note_write(self, thing: object) -> None:
        """Records that this run writes to an object that other runs share."""
        self._written.add(Same(thing))

    def holds_own(self, thing: object) -> bool:
        """Returns True iff this run made the object or wrote to it, so that the object may hold texts of
        this run."""
        return Same(thing) in self._born or Same(thing) in self._written

    def set_key(self, thing: object, key: Hashable) -> None:
        """Stores a key for an object. If other runs make an object for the same purpose, such as for the
        history of the same chat session, ``key`` must be equal for all these objects."""
        self._keys[Same(thing)] = key

    def key_of(self, thing: object) -> Hashable:
        """Returns the key that ``set_key`` stored for this object; None if there is none. Objects that
        other runs make for the same purpose have an equal key."""
        return self._keys.get(Same(thing), self._born.get(Same(thing)))
