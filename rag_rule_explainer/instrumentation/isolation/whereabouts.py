"""This module records to which run each thread and each task belongs.

Code of a run may work in a context without any variables, such as a new ``contextvars.Context``. The run
is then found by the thread or the task.
"""

import asyncio
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from contextvars import Context, ContextVar, Token, copy_context
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

_OURS = "rag_rule_"
"""The prefix of the names of this package's context variables."""
_here = threading.local()
_of_tasks: WeakKeyDictionary[Any, "_Executed"] = WeakKeyDictionary()
"""The tasks that execute code of a run, each with its run."""
_open: dict[int, tuple[Any, int]] = {}
"""The runs that have not ended, by their ``id()``, each with the id of the thread in which it began."""


class _Executed(NamedTuple):
    """An ``_Executed`` records that a thread or a task executes code of ``run``. ``context``: the context
    variables with which the thread or task began to execute it."""

    run: Any
    context: Context


def run_here() -> Any:
    """Returns the run whose code the current task or thread executes; None if no such run is known. The
    run is found even if the context has no variables. This run may have ended already."""
    found = _found()
    return None if found is None else found.run


@contextmanager
def as_begun_here() -> Generator[None, None, None]:
    """Restores this package's context variables for the duration of the block. They get the values with
    which the current task or thread began to execute code of its run."""
    found = _found()
    with set_to([] if found is None else ours_in(found.context)):
        yield


def ours_in(context: Context) -> list[tuple[ContextVar[Any], Any]]:
    """Returns the context variables of this package in a context, with their values."""
    return [(each, context[each]) for each in context if each.name.startswith(_OURS)]


@contextmanager
def set_to(values: list[tuple[ContextVar[Any], Any]]) -> Generator[None, None, None]:
    """Gives context variables these values for the duration of the block."""
    tokens: list[tuple[ContextVar[Any], Token[Any]]] = [(each, each.set(value)) for each, value in values]
    try:
        yield
    finally:
        for each, token in reversed(tokens):
            each.reset(token)


def open_runs() -> list[Any]:
    """Returns the runs that have not ended yet, in all threads."""
    return [run for run, _ in list(_open.values())]


def waits_for_a_thread(run: object) -> bool:
    """Returns True iff the thread in which a run began now waits for another thread, such as a worker to
    which it gave a function."""
    _, began_in = _open.get(id(run), (None, 0))
    frame = sys._current_frames().get(began_in)  # pyright: ignore[reportPrivateUsage] -- there is no public way to read another thread's frame
    return frame is not None and frame.f_globals.get("__name__") == threading.__name__


def runs_here(run: object) -> bool:
    """Returns True iff a run began in the current thread, which thus cannot wait while this code runs."""
    _, began_in = _open.get(id(run), (None, 0))
    return began_in == threading.get_ident()


def note_task(task: object, run: object) -> None:
    """Records that ``task``, which the current code begins, executes code of ``run``."""
    _of_tasks[task] = _Executed(run, copy_context())


@contextmanager
def under_way(run: object, in_pieces: bool) -> Generator[None, None, None]:
    """Counts a run among those that have not ended, which ``open_runs`` returns, for the duration of the
    block. ``in_pieces``: True if this thread or task also executes other code in the block, such as the
    consumer of a stream."""
    _open[id(run)] = (run, threading.get_ident())
    try:
        with nullcontext() if in_pieces else executing(run):
            yield
    finally:
        _open.pop(id(run), None)


@contextmanager
def executing(run: object) -> Generator[None, None, None]:
    """Records that this thread, or this task, executes code of a run for the duration of the block."""
    executed, task = _Executed(run, copy_context()), current_task()
    if task is None:
        entered: list[_Executed] = _here.__dict__.setdefault("entered", [])
        entered.append(executed)
        try:
            yield
        finally:
            entered[:] = [each for each in entered if each is not executed]
        return
    before = _of_tasks.get(task)
    _of_tasks[task] = executed
    try:
        yield
    finally:
        if before is None:
            _of_tasks.pop(task, None)
        else:
            _of_tasks[task] = before


def current_task() -> Any:
    """Returns the task that runs in this thread; None if there is none."""
    # In a thread without an event loop, the public function would raise an error, which is slow. The
    # private function returns None instead.
    loop = asyncio._get_running_loop()  # pyright: ignore[reportPrivateUsage] -- the comment above says why
    return None if loop is None else asyncio.current_task(loop)


def _found() -> _Executed | None:
    task = current_task()
    found = None if task is None else _of_tasks.get(task)
    if found is not None:
        return found
    entered: list[_Executed] = getattr(_here, "entered", [])
    return entered[-1] if entered else None
