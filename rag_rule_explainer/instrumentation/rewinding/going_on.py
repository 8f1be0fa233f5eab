"""This module reads the local variables of the user's code that is still running between two runs, in
threads, tasks and coroutines that the application has left running."""

import asyncio
import sys
from collections.abc import Iterator
from threading import Thread, get_ident, main_thread
from types import CoroutineType, FrameType
from typing import Any, cast

from .companies import is_own
from .values import is_plain

_COROUTINE: Any = CoroutineType
GOING_ON: Any = (Thread, asyncio.Task, asyncio.AbstractEventLoop, _COROUTINE)
"""The types of objects that run code between the runs of an application."""


def variables_of(thing: Any) -> list[dict[str, Any]]:
    """Returns the texts and numbers in the local variables of the user's code that ``thing``, an object
    of a type in ``GOING_ON``, is running. The result has one dict for each function call that has not
    ended."""
    return [
        {name: value for name, value in frame.f_locals.items() if is_plain(value)}
        for frame in _frames(thing)
        if is_own(str(frame.f_globals.get("__name__", "")))
    ]


def _frames(thing: Any) -> Iterator[FrameType]:
    if isinstance(thing, Thread):
        frame = sys._current_frames().get(thing.ident or 0)  # pyright: ignore[reportPrivateUsage]
        while frame is not None:
            yield frame
            frame = frame.f_back
    elif isinstance(thing, asyncio.AbstractEventLoop):
        for task in sorted(asyncio.all_tasks(thing), key=id) if _has_its_own_thread(thing) else ():
            yield from _frames(task)
    else:
        coroutine: Any = cast("Any", thing).get_coro() if isinstance(thing, asyncio.Task) else thing
        while isinstance(coroutine, _COROUTINE):
            if coroutine.cr_frame is not None:
                yield coroutine.cr_frame
            coroutine = coroutine.cr_await


def _has_its_own_thread(loop: asyncio.AbstractEventLoop) -> bool:
    # The event loop of the main thread, or of the caller, also runs tasks of other code. These are not
    # the application's.
    thread = getattr(loop, "_thread_id", None)
    return thread is not None and thread not in {main_thread().ident, get_ident()}
