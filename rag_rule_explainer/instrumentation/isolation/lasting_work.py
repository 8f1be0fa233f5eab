"""This module knows the tasks and threads of a run that may go on after its end."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakSet


@dataclass(slots=True, eq=False)
class LastingWork:
    """A ``LastingWork`` holds the tasks of a run, and counts its threads and what it gave to pools.
    Thread-safe."""

    _tasks: "WeakSet[asyncio.Task[object]]" = field(default_factory=WeakSet["asyncio.Task[object]"])
    _going_on: int = 0
    _at_end: Callable[[], object] | None = None
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def add(self, task: "asyncio.Task[object]") -> None:
        """Notes a task that the run has begun."""
        with self._guard:
            self._tasks.add(task)

    def begin(self) -> Callable[[object], None]:
        """Counts one more piece of work. Returns the function to be called at its end, with anything."""
        with self._guard:
            self._going_on += 1
        return self._end

    def _end(self, _: object = None) -> None:
        with self._guard:
            self._going_on -= 1
            at_end = None if self._going_on else self._at_end
            self._at_end = self._at_end if self._going_on else None
        if at_end is not None:
            at_end()

    def when_over(self, at_end: Callable[[], object]) -> None:
        """Calls a function when all of the work is over, which may be now. Call this once, at the end of
        the run."""
        end = self.begin()
        with self._guard:
            tasks = list(self._tasks)
        for each in tasks:
            if not each.done():
                each.add_done_callback(self.begin())
        with self._guard:
            self._at_end = at_end
        end(None)
