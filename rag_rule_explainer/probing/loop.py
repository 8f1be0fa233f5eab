"""One private event loop per process, for the blocking entry points.

HTTP clients bind to the loop they were first used on, so a new loop per call ends in "Event loop is
closed" on the second call. This one lives as long as the process, in a daemon thread, and therefore
also serves a caller whose own thread already runs a loop.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ..errors import InvalidInput

T = TypeVar("T")

_starting = threading.Lock()
_running: dict[int, tuple[asyncio.AbstractEventLoop, threading.Thread]] = {}
"""By process id: a forked child has the parent's memory but not its thread."""


def run_blocking(coroutine: Coroutine[Any, Any, T], on_interrupt: Callable[[], None] | None = None) -> T:
    """Runs the coroutine on the private loop, in a copy of the caller's context, and waits for it.

    The first Ctrl-C calls ``on_interrupt`` on that loop, if there is one, and goes on waiting; the next
    one cancels.
    Raises InvalidInput when called on the private loop itself, which would wait for itself.
    """
    loop, thread = _private_loop()
    if threading.current_thread() is thread:
        coroutine.close()
        raise InvalidInput("explain() was called inside an async replay; await aexplain() there")
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    try:
        try:
            return future.result()
        except KeyboardInterrupt:
            if on_interrupt is None:
                raise
            loop.call_soon_threadsafe(on_interrupt)
            return future.result()
    except BaseException:
        # An interrupt may come at any point; left running, the threads would keep the process alive.
        future.cancel()
        raise


def _private_loop() -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    with _starting:
        running = _running.get(os.getpid())
        if running is None or not running[1].is_alive():
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="rag-rule-loop", daemon=True)
            thread.start()
            _running[os.getpid()] = loop, thread
        return _running[os.getpid()]
