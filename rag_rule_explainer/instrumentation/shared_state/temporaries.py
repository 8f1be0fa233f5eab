"""Whether a run of an application leaves something on objects that all of its runs share.

A workflow that puts an intermediate result on itself is right as long as one run goes on at a time; with
several, one reads what another one put there. So such an application is replayed one run at a time.
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
"""Things that are looked at."""
_PAUSE = 0.002
"""Seconds between two looks whether another run has ended."""
_LONGEST = 30.0
"""Seconds for which the end of others is waited for."""
_DATA = (str, bytes, list, tuple, dict, set)


class _Turns:
    """The turns at one application, whichever question a run is about. ``lock``: for threads."""

    def __init__(self, application: object) -> None:
        self._application = application  # no other one may come by its address
        self.lock = threading.RLock()
        self._counting = threading.Lock()
        self._active = 0
        self._exclusive: object | None = None
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, anyio.Lock] = WeakKeyDictionary()

    def enter(self, who: object) -> bool:
        """Counts a run that begins. False where it has to wait, as another one must go on alone."""
        with self._counting:
            if self._exclusive is not None and self._exclusive is not who:
                return False
            self._active += 1
            return True

    def leave(self) -> None:
        """Counts a run that has ended."""
        with self._counting:
            self._active -= 1

    def claim(self, who: object) -> bool:
        """Lets no other run begin. True once none goes on either."""
        with self._counting:
            if self._exclusive is None:
                self._exclusive = who
            return self._exclusive is who and not self._active

    def release(self, who: object) -> None:
        """Lets others begin again."""
        with self._counting:
            if self._exclusive is who:
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
    """Lets the replays of an application go on side by side, unless its code writes to what all of them
    share, or the first of them left something there: then one at a time, and so are baselines, also where
    several questions are asked at once.

    ``written``: where its code does so, in words; empty where it does nowhere. ``outside``: what the
    runs leave outside of the application, which may need it as well.
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
        """Around a replay. The first one tells: by then, what is only made once is there. The run before
        it counts where it left data, which may be the very same after every run."""
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
        """Around a baseline: ``turn``, but that it leaves what it sets."""
        with self._turns.lock if self.is_needed else nullcontext():
            yield

    @asynccontextmanager
    async def first_aturn(self) -> AsyncGenerator[None, None]:
        """The same on a loop."""
        async with self._turns.on_loop() if self.is_needed else nullcontext():
            yield

    @contextmanager
    def turn(self) -> Generator[None, None, None]:
        """Inside, no other replay goes on, where that is needed; for threads."""
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
        """Inside, no other replay of the application goes on, of whichever question; for threads.

        Raises TimeoutError where one does not come to its end.
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
        """The same on a loop."""
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
        """The same on a loop."""
        while not self._turns.enter(self):  # noqa: ASYNC110 -- it may be left by a thread
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
        """Returns what runs write that they share, in words; empty for nothing."""
        return self._written or self._outside.shared


def _check_time(until: float) -> None:
    if time.monotonic() > until:
        raise TimeoutError("another replay of the application goes on and on")


Marks = dict[tuple[int, str], int]


class Shared:
    """Knows which things all runs of an application share, and what these hold now, by identity.

    That is: attributes of objects of the user's own classes, what functions enclose, and globals that
    they name; they are looked for from the application on. Numbers do not count, as of calls that are
    counted.
    """

    def __init__(self, application: object) -> None:
        # What is looked at is kept alive: no other thing may come by its address.
        self._alive: list[object] = []
        self._data: set[tuple[int, str]] = set()
        self._sizes: dict[int, int] = {}
        self._application = application
        self._marks = self._marked(application)

    def now(self) -> "Shared":
        """Returns what the same application's runs share by now."""
        return Shared(self._application)

    def size_of(self, container: object) -> int | None:
        """Returns how much a collection held; None for one that the runs do not share."""
        return self._sizes.get(id(container))

    def differs_from(self, other: "Shared") -> bool:
        """Returns True iff something that both know holds another thing now."""
        return any(other._marks.get(place, held) != held for place, held in self._marks.items())

    def has_new_data(self, earlier: "Shared") -> bool:
        """Returns True iff something holds a text or a collection now that it did not hold earlier."""
        return any(
            earlier._marks.get(place) != held
            for place, held in self._marks.items()
            if place in self._data
        )

    def _marked(self, application: object) -> Marks:
        marks: Marks = {}
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
