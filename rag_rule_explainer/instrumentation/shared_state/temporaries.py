"""This module makes the runs of an application take place one at a time if they write to shared objects.
An example is a workflow that stores an intermediate result in an attribute of itself. If two runs of this
workflow were active at the same time, one run would read the result of the other.
"""

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from types import CodeType

import anyio

from .outside import Outside
from .reaching import LEAVES, places, size_of
from .turns import LONGEST_WAIT, turns_of

_MOST = 2000
"""The largest number of objects that are visited. Further objects are ignored."""
_PAUSE = 0.002
"""The number of seconds between two checks whether other runs have ended."""
_DATA = (str, bytes, list, tuple, dict, set)


class OneAtATime:
    """This class makes the baselines and replays of an application run one at a time, if this is needed.
    It is needed if the application's code writes to shared state, if the first replay leaves data on
    shared objects, or if runs would disturb each other by files or environment variables.

    ``written``: describes the code that writes to shared state; empty if there is none. ``outside``:
    records which files and environment variables the runs use.
    """

    def __init__(self, application: object, written: str, outside: Outside) -> None:
        self.is_needed = bool(written)
        self._written = written
        self._outside = outside
        self._application = application
        self._noticed = False
        self.at_start = Shared(application)
        self._turns = turns_of(application)

    @contextmanager
    def noticing(self) -> Generator[None, None, None]:
        """Notices whether the first replay, which runs inside the block, leaves data on shared objects.
        If it does, only one replay runs at a time from then on.

        Texts and collections that the baseline left on shared objects count too, because each run may
        leave other ones. An object that the baseline created and that later runs use, such as a client,
        does not count.
        """
        if self._noticed:
            yield
            return
        self._noticed = True
        before = Shared(self._application)
        try:
            yield
        finally:
            after = Shared(self._application)
            left = before.has_new_data(self.at_start) or after.differs_from(before)
            self.is_needed = self.is_needed or left

    @contextmanager
    def first_turn(self) -> Generator[None, None, None]:
        """Makes the baseline inside the block wait. Usually, it waits until no exclusive run of
        another explanation is under way. If runs must be made one at a time, it waits until no other
        run is active. Unlike ``turn``, this method does not restore the environment variables that the
        run sets."""
        for _ in self._turns.beginning(self, may_block=not _has_a_loop()):
            time.sleep(_PAUSE)
        try:
            with self._turns.lock if self.is_needed else nullcontext():
                yield
        finally:
            self._turns.leave()

    @asynccontextmanager
    async def first_aturn(self) -> AsyncGenerator[None, None]:
        """Does the same as ``first_turn`` on an event loop."""
        for _ in self._turns.beginning(self):
            await anyio.sleep(_PAUSE)
        try:
            async with self._turns.on_loop() if self.is_needed else nullcontext():
                yield
        finally:
            self._turns.leave()

    @contextmanager
    def turn(self) -> Generator[None, None, None]:
        """Waits until no other replay is active, if runs must be made one at a time. The replay runs
        inside the block, and its changes of environment variables are then undone. This method is for
        replays in threads; ``aturn`` is for event loops."""
        while not self._turns.enter(self):
            time.sleep(_PAUSE)
        try:
            if not self._begins_alone():
                yield
                return
            with self._turns.lock, self._outside.environment.as_before():
                yield
        finally:
            self._turns.leave()

    @contextmanager
    def exclusive_turn(self) -> Generator[None, None, None]:
        """Waits until no other run of the application is active, even if runs need not be made one at a
        time. The replay runs inside the block, and no other run begins meanwhile. This method is used for
        replays in threads.

        Raises TimeoutError if the other runs do not end within 30 seconds.
        """
        try:
            until = time.monotonic() + LONGEST_WAIT
            while not self._turns.claim(self):
                _check_time(until)
                time.sleep(_PAUSE)
            with self._outside.environment.as_before():
                yield
        finally:
            self._turns.release(self)

    @asynccontextmanager
    async def exclusive_aturn(self) -> AsyncGenerator[None, None]:
        """Waits on the event loop until no other run of the application is active; the replay runs inside
        the block. Raises TimeoutError if the other runs do not end within 30 seconds."""
        try:
            until = time.monotonic() + LONGEST_WAIT
            while not self._turns.claim(self):
                _check_time(until)
                await anyio.sleep(_PAUSE)
            with self._outside.environment.as_before():
                yield
        finally:
            self._turns.release(self)

    @asynccontextmanager
    async def aturn(self) -> AsyncGenerator[None, None]:
        """Waits on the event loop until no other replay is active, if runs must be made one at a time.
        The replay runs inside the block, and its changes of environment variables are then undone."""
        while not self._turns.enter(self):  # noqa: ASYNC110 -- runs in threads set no asyncio event
            await anyio.sleep(_PAUSE)
        try:
            if not self._begins_alone():
                yield
                return
            async with self._turns.on_loop():
                with self._outside.environment.as_before():
                    yield
        finally:
            self._turns.leave()

    def _begins_alone(self) -> bool:
        self.is_needed = self.is_needed or bool(self._outside.shared)
        return self.is_needed

    @property
    def written(self) -> str:
        """Returns a description, for messages, of the shared state that is written during runs; empty if
        there is none."""
        return self._written or self._outside.shared


def _has_a_loop() -> bool:
    """Returns True iff an event loop runs in this thread. A run on this loop cannot end while the thread
    is blocked."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _check_time(until: float) -> None:
    if time.monotonic() > until:
        raise TimeoutError("another replay of the application goes on and on")


_Marks = dict[tuple[int, str], int]


class Shared:
    """A ``Shared`` records to which objects the shared names of an application refer at this moment.

    Shared names are the attributes of the user's objects, enclosed variables of functions, and globals
    that the functions name. All runs use these names. Numbers are left out, because they may be counters
    of calls.
    """

    def __init__(self, application: object) -> None:
        # Visited objects are kept alive, so that Python does not give the ``id()`` of a visited object to
        # a new object.
        self._alive: list[object] = []
        self._visited: set[int] = set()
        self._data: set[tuple[int, str]] = set()
        self._sizes: dict[int, int] = {}
        self._application = application
        self._marks = self._marked(application)

    @property
    def code(self) -> CodeType | None:
        """Returns the code of the application; None if the application is neither a function or a method,
        nor an object that only calls a function, such as a ``partial`` or a ``RunnableLambda``."""
        names = ("__func__", "func", "afunc")
        found = next(
            (each for name in names if callable(each := getattr(self._application, name, None))),
            self._application,
        )
        code = getattr(inspect.unwrap(found) if callable(found) else found, "__code__", None)
        return code if isinstance(code, CodeType) else None

    def now(self) -> "Shared":
        """Returns a ``Shared`` of the same application at the present moment."""
        return Shared(self._application)

    def size_of(self, container: object) -> int | None:
        """Returns the number of entries that a collection had when this record was made; None if the
        collection was not among the shared objects."""
        return self._sizes.get(id(container))

    def knew(self, thing: object) -> bool:
        """Returns True iff the object was reachable from the application when this record was made."""
        return id(thing) in self._visited

    def differs_from(self, other: "Shared") -> bool:
        """Returns True iff a name that is in both records refers to different objects in them."""
        return any(other._marks.get(place, held) != held for place, held in self._marks.items())

    def has_new_data(self, earlier: "Shared") -> bool:
        """Returns True iff a name refers to a text or a collection to which it did not refer in
        ``earlier``."""
        return any(
            earlier._marks.get(place) != held
            for place, held in self._marks.items()
            if place in self._data
        )

    def _marked(self, application: object) -> _Marks:
        marks: _Marks = {}
        seen = self._visited
        waiting: list[object] = [application]
        while waiting and len(seen) < _MOST:
            thing = waiting.pop()
            if id(thing) in seen or isinstance(thing, LEAVES):
                continue
            seen.add(id(thing))
            self._alive.append(thing)
            size = size_of(thing)
            if size is not None:
                self._sizes[id(thing)] = size
            for name, value, is_shared in places(thing):
                waiting.append(value)
                if is_shared and not isinstance(value, (int, float)):
                    self._alive.append(value)
                    marks[id(thing), name] = id(value)
                    if isinstance(value, _DATA):
                        self._data.add((id(thing), name))
        return marks
