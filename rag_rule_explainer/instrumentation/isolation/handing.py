"""This module makes each thread that a run starts part of that run.

A new thread does not inherit the context variables of the code that starts it. This module passes on only
the context variables of this package. The application's code thus finds the same variables as without an
explanation.
"""

import re
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from functools import partial, wraps
from typing import Any, cast

from ...probing.tracing.marks import current_replay
from ...probing.tracing.traced import marked, marked_first
from ..bounds import BeyondBaseline, ReplayEnded
from ..copies.patching import Interception
from ..late_calls import in_its_run, run_of_work
from ..run_context import has_run, participation
from ..run_record import Participation
from ..shared_state.reaching import FRAMEWORKS, is_users
from ..tool_replay import NewToolCall
from . import other_processes
from .whereabouts import executing, ours_in, set_to


def _handed_on(function: Callable[..., Any], run: Participation) -> Callable[..., Any]:
    """Returns a function that calls ``function`` as part of ``run``, the current run, in any thread."""
    with in_its_run():
        ours = ours_in(copy_context())

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with set_to(ours), executing(run), _traced():
            return function(*args, **kwargs)

    return call


def _traced() -> AbstractContextManager[object]:
    """Marks the traces that begin in the block, such as those of LangSmith, as parts of the current
    run."""
    replay, run = current_replay(), participation()
    if replay is not None:
        return marked(replay)
    return nullcontext() if run is None or run.trace is None else marked_first(run.trace)


def _to_a_pool(_: str, submit: Any) -> Any:
    @wraps(submit)
    def hand_in(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        run = run_of_work()
        if run is None:
            return submit(self, fn, *args, **kwargs)
        submitted = submit(self, _handed_on(fn, run), *args, **kwargs)
        submitted.add_done_callback(run.work.begin())
        return submitted

    return hand_in


def _to_another_pool(_: str, hand: Any) -> Any:
    @wraps(hand)
    def hand_in(self: Any, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        run = run_of_work()
        if run is not None:
            func = run.work.while_held(_ending_as_new_call(_handed_on(func, run)))
        return hand(self, func, *args, **kwargs)

    return hand_in


def _ending_as_new_call(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that calls ``function``, and raises a NewToolCall instead of a ReplayEnded. A
    pool passes a NewToolCall to the code that waits for the result. A ReplayEnded would end the pool's
    thread, and that code would wait for ever."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except ReplayEnded as error:
            raise NewToolCall(str(error)) from error

    return call


def _to_a_thread(_: str, start: Any) -> Any:
    @wraps(start)
    def started(self: threading.Thread) -> Any:
        run = run_of_work()
        if run is not None and _is_the_applications(self):
            does = self.run if run.tool_replay is None else _ended_quietly(self.run)
            self.run = _handed_on(_counted(does, run.work.begin()), run)
            run.begun.append(self)
        return start(self)

    return started


def _counted(function: Callable[[], object], end: Callable[[object], None]) -> Callable[[], object]:
    """Returns a function that calls ``function`` and then ``end``, even if ``function`` raises an
    error."""

    @wraps(function)
    def call() -> object:
        try:
            return function()
        finally:
            end(None)

    return call


def _ended_quietly(function: Callable[[], object]) -> Callable[[], object]:
    """Returns a function that calls ``function``. If ``function`` raises an error that ends a replay on
    purpose, the returned function returns None, because Python would otherwise print the error."""

    @wraps(function)
    def call() -> object:
        try:
            return function()
        except (BeyondBaseline, NewToolCall, ReplayEnded):
            return None

    return call


def _is_the_applications(thread: threading.Thread) -> bool:
    """Returns True iff a thread runs code of the user or of a framework. Threads of other libraries, such
    as the workers of a pool, may serve several runs, so they are not made part of one run."""
    does: Any = getattr(thread, "_target", None) or type(thread)
    if isinstance(thread, threading.Timer):
        does = thread.function
    while isinstance(does, partial):
        does = cast("partial[Any]", does).func
    module = str(getattr(does, "__module__", None) or "")
    return is_users(module) or module.startswith(FRAMEWORKS)


def _to_a_loop(_: str, call_at: Any) -> Any:
    @wraps(call_at)
    def called(self: Any, when: Any, callback: Any, *args: Any, context: Any = None) -> Any:
        run = run_of_work()
        if run is not None:
            does = callback if context is None and has_run() else _handed_on(callback, run)
            callback = run.work.until_called(does)
        return call_at(self, when, callback, *args, context=context)

    return called


_NONE = re.compile("(?!)")
_HANDS = ("apply_async", "_map_async", "imap", "imap_unordered")
INTERCEPTIONS = [
    Interception("asyncio.base_events", "BaseEventLoop", re.compile("call_at"), _to_a_loop),
    Interception("uvloop", "Loop", _NONE, _to_a_loop, added=("call_at", "call_later")),
    Interception("concurrent.futures.thread", "ThreadPoolExecutor", re.compile("submit"), _to_a_pool),
    Interception("multiprocessing.pool", "ThreadPool", _NONE, _to_another_pool, added=_HANDS),
    Interception("threading", "Thread", re.compile("start"), _to_a_thread),
    *other_processes.INTERCEPTIONS,
]
"""The methods that are replaced during an explanation. Code calls these methods to start a thread, or to
pass a function to another thread or process."""
