"""This module keeps track of the work that a run began and that may go on after the run: tasks, threads
and callbacks of event loops."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from weakref import WeakSet, finalize


@dataclass(slots=True, eq=False)
class LastingWork:
    """A ``LastingWork`` lists the work of a run that has not ended: its tasks, its threads, its timed
    callbacks, and the functions that it gave to pools. Thread-safe; the garbage collector may end work at
    any point."""

    _tasks: "WeakSet[asyncio.Task[object]]" = field(default_factory=WeakSet["asyncio.Task[object]"])
    _going_on: set[object] = field(default_factory=set[object])
    _at_end: list[Callable[[], object]] = field(default_factory=list[Callable[[], object]])
    _guard: threading.RLock = field(default_factory=threading.RLock)

    def add(self, task: "asyncio.Task[object]") -> None:
        """Records a task that the run has begun."""
        with self._guard:
            self._tasks.add(task)

    def begin(self) -> Callable[..., None]:
        """Records one more piece of work. Returns a function that the caller must call when this work has
        ended. This function accepts any arguments."""
        piece = object()
        self._going_on.add(piece)
        return partial(self._end, piece)

    def _end(self, piece: object, *_: object) -> None:
        with self._guard:
            self._going_on.discard(piece)
            ended = [] if self._going_on else self._at_end[:]
            del self._at_end[: len(ended)]
        for at_end in ended:
            at_end()

    def while_held(self, function: Callable[..., object]) -> Callable[..., object]:
        """Returns a function that does the same as ``function``. The returned function counts as work of
        the run as long as an object refers to it, such as a pool that will call it."""

        def call(*args: object, **kwargs: object) -> object:
            return function(*args, **kwargs)

        finalize(call, self.begin()).atexit = False
        return call

    def until_called(self, function: Callable[..., object]) -> Callable[..., object]:
        """Returns a function that does the same as ``function``. The returned function counts as work of
        the run until it has been called, or until nothing refers to it any more."""
        end = self.begin()

        def call(*args: object) -> object:
            try:
                return function(*args)
            finally:
                end()

        finalize(call, end).atexit = False
        return call

    def when_over(self, at_end: Callable[[], object]) -> None:
        """Calls a function when all work has ended, which may be now. Must be called once, at the end of
        the run."""
        end = self.begin()
        with self._guard:
            tasks = list(self._tasks)
        for each in tasks:
            if not each.done():
                each.add_done_callback(self.begin())
        self._at_end.append(at_end)
        with suppress(RuntimeError):  # no event loop runs in this thread
            # Callbacks that are already scheduled may still call tools, so the work ends only after them.
            asyncio.get_running_loop().call_soon(self.until_called(_nothing))
        end()


def _nothing() -> None:
    """Does nothing. The event loop calls it after the callbacks that were scheduled before it."""
