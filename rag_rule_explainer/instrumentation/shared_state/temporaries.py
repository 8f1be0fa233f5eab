"""This module replays an application one run at a time if its runs write to shared objects.

A workflow that puts an intermediate result on itself works only if one run is active at a time. Of two
parallel runs, one would read the other's result.
"""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from weakref import WeakKeyDictionary, WeakValueDictionary

import anyio

from .outside import Outside
from .reaching import LEAVES, places, size_of

_MOST = 2000
"""The most objects that are visited."""
_PAUSE = 0.002
"""The number of seconds between two checks whether other runs have ended."""
_LONGEST = 30.0
"""The most seconds of waiting for other runs to end."""
_DATA = (str, bytes, list, tuple, dict, set)


class _Turns:
    """This class coordinates the runs of one application over all questions.

    ``lock``: held by a run that has to run alone, in a thread.
    """

    def __init__(self, application: object) -> None:
        self._application = application  # kept alive, so that no other object gets its address
        self.lock = threading.RLock()
        self._counting = threading.Lock()
        self._active = 0
        self._exclusive: object | None = None
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, anyio.Lock] = WeakKeyDictionary()

    def enter(self, owner: object) -> bool:
        """Counts a run that begins, and returns True; returns False if it has to wait for an exclusive
        run of another owner."""
        with self._counting:
            if self._exclusive is not None and self._exclusive is not owner:
                return False
            self._active += 1
            return True

    def leave(self) -> None:
        """Counts a run that has ended."""
        with self._counting:
            self._active -= 1

    def claim(self, owner: object) -> bool:
        """Prevents runs of other owners from beginning. Returns True once no run is active."""
        with self._counting:
            if self._exclusive is None:
                self._exclusive = owner
            return self._exclusive is owner and not self._active

    def release(self, owner: object) -> None:
        """Allows other owners' runs to begin again."""
        with self._counting:
            if self._exclusive is owner:
                self._exclusive = None

    def on_loop(self) -> anyio.Lock:
        """Returns the lock for runs on the running loop."""
        return self._by_loop.setdefault(asyncio.get_running_loop(), anyio.Lock())


_turns: WeakValueDictionary[int, _Turns] = WeakValueDictionary()
_guard = threading.Lock()


def _turns_of(application: object) -> _Turns:
    with _guard:
        known = _turns.get(id(application))
        if known is None:
            known = _turns[id(application)] = _Turns(application)
        return known


class OneAtATime:
    """This class serialises the replays and baselines of an application, over all questions, if needed.

    It is needed if the code writes to shared state, or if the first replay left data on shared objects.
    ``written``: words for the code that writes; empty for none. ``outside``: records files and
    environment variables, which may make it needed too.
    """

    def __init__(self, application: object, written: str, outside: Outside) -> None:
        self.is_needed = bool(written)
        self._written = written
        self._outside = outside
        self._application = application
        self._noticed = False
        self.at_start = Shared(application)
        self._turns = _turns_of(application)

    @contextmanager
    def noticing(self) -> Generator[None, None, None]:
        """Checks what the first replay, which runs inside the block, leaves on shared objects.

        Values that are created only once exist by then. Data that the baseline left counts too, because
        it may be the same after every run.
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
        """Lets the baseline inside the block run while no other run is active, if that is needed. The
        environment variables that it sets stay set."""
        with self._turns.lock if self.is_needed else nullcontext():
            yield

    @asynccontextmanager
    async def first_aturn(self) -> AsyncGenerator[None, None]:
        """Does the same as ``first_turn`` on an event loop."""
        async with self._turns.on_loop() if self.is_needed else nullcontext():
            yield

    @contextmanager
    def turn(self) -> Generator[None, None, None]:
        """Lets the replay inside the block run while no other replay is active, if that is needed; for
        threads."""
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
        """Lets the replay inside the block run while no other run of the application is active; for
        threads.

        Raises TimeoutError if another run does not end in time.
        """
        try:
            until = time.monotonic() + _LONGEST
            while not self._turns.claim(self):
                _check_time(until)
                time.sleep(_PAUSE)
            with self._outside.environment.as_before():
                yield
        finally:
            self._turns.release(self)

    @asynccontextmanager
    async def exclusive_aturn(self) -> AsyncGenerator[None, None]:
        """Does the same as ``exclusive_turn`` on an event loop."""
        try:
            until = time.monotonic() + _LONGEST
            while not self._turns.claim(self):
                _check_time(until)
                await anyio.sleep(_PAUSE)
            with self._outside.environment.as_before():
                yield
        finally:
            self._turns.release(self)

    @asynccontextmanager
    async def aturn(self) -> AsyncGenerator[None, None]:
        """Does the same as ``turn`` on an event loop."""
        while not self._turns.enter(self):  # noqa: ASYNC110 -- a thread may leave, which sets no event
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
        """Returns a description of the shared state that runs write; empty if there is none."""
        return self._written or self._outside.shared


def _check_time(until: float) -> None:
    if time.monotonic() > until:
        raise TimeoutError("another replay of the application goes on and on")


_Marks = dict[tuple[int, str], int]


class Shared:
    """This class keeps the objects that all runs of an application share, and their content by identity.

    These are attributes of the user's objects, enclosed variables of functions, and globals that the
    functions name. Numbers do not count, because they may be counters of calls.
    """

    def __init__(self, application: object) -> None:
        # Visited objects are kept alive, so that no other object gets the address of one.
        self._alive: list[object] = []
        self._data: set[tuple[int, str]] = set()
        self._sizes: dict[int, int] = {}
        self._application = application
        self._marks = self._marked(application)

    def now(self) -> "Shared":
        """Returns the current ``Shared`` of the same application."""
        return Shared(self._application)

    def size_of(self, container: object) -> int | None:
        """Returns the number of entries of a shared collection; None if it is not shared."""
        return self._sizes.get(id(container))

    def differs_from(self, other: "Shared") -> bool:
        """Returns True iff a name that exists in both states refers to different objects in them."""
        return any(other._marks.get(place, held) != held for place, held in self._marks.items())

    def has_new_data(self, earlier: "Shared") -> bool:
        """Returns True iff a name refers to a text or a collection to which it did not refer earlier."""
        return any(
            earlier._marks.get(place) != held
            for place, held in self._marks.items()
            if place in self._data
        )

    def _marked(self, application: object) -> _Marks:
        marks: _Marks = {}
        seen: set[int] = set()
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
