"""An event loop whose clock jumps: no test waits for a second, and no busy machine makes one too long."""

import asyncio
import os
import selectors
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from rag_rule_explainer.probing import budget
from rag_rule_explainer.probing import loop as private

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop at which it is the next timer's time as soon as there is nothing else to do.

    ``jumps=False``: that is so only as often as ``jump`` was called. Until then what is in other threads
    has all the time that it takes.
    """

    def __init__(self, *, jumps: bool = True) -> None:
        self._now, self._jumps, self._allowed = 1000.0, jumps, 0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self._now

    def pass_by(self, seconds: float) -> None:
        """Lets so many seconds pass at once, as a loop that stands still does."""
        self._now += seconds

    def jump(self) -> None:
        """Lets the next timer be due, once. May be called in any thread."""
        self.call_soon_threadsafe(self._allow)

    def _allow(self) -> None:
        self._allowed += 1

    def take_jump(self) -> bool:
        """Whether its clock may jump now; if so, it is asked about the next jump anew."""
        if self._jumps:
            return True
        if self._allowed:
            self._allowed -= 1
            return True
        return False


class _Jumping(selectors.DefaultSelector):
    """Waits for what happens, and for no clock."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            return super().select(None)
        ready = super().select(0)
        if ready or timeout <= 0:
            return ready
        if not self._loop.take_jump():
            return super().select(None)
        self._loop.pass_by(timeout)
        return []


@contextmanager
def under_explain(loop: VirtualLoop) -> Generator[None, None, None]:
    """Makes it the private loop of the blocking entry points, and closes it in the end."""
    thread = threading.Thread(target=loop.run_forever, name="rag-rule-loop", daemon=True)
    thread.start()
    running = private._running  # pyright: ignore[reportPrivateUsage] -- nothing public shows it
    before = running.pop(os.getpid(), None)
    running[os.getpid()] = loop, thread
    try:
        yield
    finally:
        del running[os.getpid()]
        if before is not None:
            running[os.getpid()] = before
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        _close(loop)


def run(main: Coroutine[Any, Any, T], loop: VirtualLoop | None = None) -> T:
    """What the coroutine returns, as ``asyncio.run`` does it, on a loop whose clock jumps."""
    loop = loop or VirtualLoop()
    try:
        return loop.run_until_complete(main)
    finally:
        _close(loop)


def waited(main: Callable[[], Awaitable[object]]) -> float:
    """Returns the seconds that somebody waits for the coroutine, where to compute takes no time. It must
    not wait for a thread."""
    loop = VirtualLoop()

    async def timed() -> float:
        started = loop.time()
        await main()
        return loop.time() - started

    return run(timed(), loop)


def seen_by_the_bill(loop: VirtualLoop, monkeypatch: pytest.MonkeyPatch) -> VirtualLoop:
    """Lets limits of seconds go by the clock of this loop, too."""
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=loop.time))
    return loop


def _close(loop: VirtualLoop) -> None:
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()

    async def ended() -> None:
        await asyncio.gather(*left, return_exceptions=True)

    loop.run_until_complete(ended())
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


@contextmanager
def cheap(seconds: float) -> Generator[None]:
    """Fails if the block computes for so long: by this thread's clock, which stands still while others
    have the processor."""
    begun = time.thread_time()
    yield
    assert time.thread_time() - begun < seconds
