"""This module reads local variables of the user's code in threads, tasks and coroutines that an
application leaves running after a run."""

import asyncio
import sys
from collections.abc import Iterator
from copy import copy
from threading import Thread, get_ident, main_thread
from types import CoroutineType, FrameType
from typing import Any, cast

from ..copies.live import entries_now, members_now
from .companies import is_own
from .values import DICT, LISTED, SET, is_plain

_MOST = 1000
"""The maximum number of entries of a collection that is compared. Larger collections are ignored."""
_COROUTINE: Any = CoroutineType
GOING_ON: Any = (Thread, asyncio.Task, asyncio.AbstractEventLoop, _COROUTINE)
"""The types of objects by which code may go on running after a run has ended."""


def variables_of(thing: Any) -> list[dict[str, Any]]:
    """Returns the local variables of the user's code that runs in ``thing``, as one dict for each
    function call that has not ended. Contains only variables whose values are texts, numbers or
    collections of these. ``thing``: an object of a type in ``GOING_ON``."""
    return [
        {name: _copied(value) for name, value in frame.f_locals.copy().items() if _is_of_plain(value)}
        for frame in own_frames(thing)
    ]


def own_frames(thing: Any) -> list[FrameType]:
    """Returns the function calls of the user's code that have not ended in ``thing``, an object of a type
    in ``GOING_ON``."""
    return [each for each in frames_of(thing) if is_own(str(each.f_globals.get("__name__", "")))]


def _is_of_plain(value: Any) -> bool:
    """Returns True for a text or a number, and for a collection of texts and numbers that is not too
    large."""
    if isinstance(value, DICT):
        return len(value) <= _MOST and all(map(is_plain, entries_now(value).values()))
    if isinstance(value, (*LISTED, SET)):
        return len(value) <= _MOST and all(map(is_plain, members_now(value)))
    return is_plain(value)


def _copied(value: Any) -> Any:
    return copy(value) if isinstance(value, (DICT, *LISTED, SET)) else value


def frames_of(thing: Any) -> Iterator[FrameType]:
    """Yields the function calls that have not ended in ``thing``, an object of a type in ``GOING_ON``."""
    if isinstance(thing, Thread):
        # There is no public way to read the frames of another thread.
        frame = sys._current_frames().get(thing.ident or 0)  # pyright: ignore[reportPrivateUsage]
        while frame is not None:
            yield frame
            frame = frame.f_back
    elif isinstance(thing, asyncio.AbstractEventLoop):
        for task in sorted(asyncio.all_tasks(thing), key=id) if _has_its_own_thread(thing) else ():
            yield from frames_of(task)
    else:
        coroutine: Any = cast("Any", thing).get_coro() if isinstance(thing, asyncio.Task) else thing
        while isinstance(coroutine, _COROUTINE):
            if coroutine.cr_frame is not None:
                yield coroutine.cr_frame
            coroutine = coroutine.cr_await


def _has_its_own_thread(loop: asyncio.AbstractEventLoop) -> bool:
    # The event loop of the main thread or of the caller may also run tasks of other code. So only a loop
    # with its own thread counts.
    thread = getattr(loop, "_thread_id", None)
    return thread is not None and thread not in {main_thread().ident, get_ident()}
