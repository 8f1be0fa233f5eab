"""This module keeps replays from handing a tool's function to another process, where nothing could keep
it from running.

Processes get work from pools, and when they begin. What a process does with a message that it gets
otherwise cannot be seen.
"""

import re
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from ...errors import InvalidInput
from ...probing.whose import is_users
from ...tool_calls import ToolCall
from ..copies.patching import Interception
from ..late_calls import run_of_work
from ..run_context import inside_retrieval, refused

FORKING = frozenset({"os.fork", "os.forkpty"})
"""The names of Python's audit events before a fork."""
_ELSEWHERE = (
    "the replay was ended where it hands work to another process, in which the function of the tool "
    "{name!r} may run (call the tool in this process or in a thread; safe_tools=[{name!r}] lets it run)"
)
_STUBBED = (
    "The application hands work to another process, in which the function of the tool {name!r} may run. "
    "stub_tools= cannot replace its result there. Call the tool in this process or in a thread, or leave "
    "it out of stub_tools=."
)


def check_work(work: object) -> None:
    """Ends the current replay if another process may run a tool by this work. ``work``: the function
    and its arguments, or the frame of a function that goes on there."""
    run = run_of_work()
    if run is None or run.guards is None or inside_retrieval.get():
        return
    if run.tool_replay is None and not run.stubs:
        return
    name = run.guards.tool_in(run, work)
    if name is None or (run.tool_replay is None and name not in run.stubs):
        return
    if run.tool_replay is None:
        raise refused(InvalidInput(_STUBBED.format(name=name)))
    run.tool_replay.end_at(ToolCall.written(name, None), _ELSEWHERE)


def check_fork(frame: Any) -> None:
    """Does the same as ``check_work`` before the user's code forks this process. ``frame``: the stack
    frame of the code that forks."""
    run = run_of_work()
    if run is not None and run.tool_replay is not None:
        run.tool_replay.children.begin()
    if is_users(str(frame.f_globals.get("__name__"))):
        check_work(frame)


def _to_processes(_: str, hand: Any) -> Any:
    @wraps(hand)
    def hand_in(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not issubclass(type(self), _threads()):
            check_work((args, kwargs))
        return hand(self, *args, **kwargs)

    return hand_in


def _threads() -> tuple[type, ...]:
    found = getattr(sys.modules.get("multiprocessing.pool"), "ThreadPool", None)
    return () if found is None else (found,)


def _to_a_process(_: str, start: Callable[[Any], Any]) -> Any:
    @wraps(start)
    def started(self: Any) -> Any:
        given = [getattr(self, name, None) for name in ("_target", "_args", "_kwargs")]
        check_work([self.run, *given])
        return start(self)

    return started


_NONE = re.compile("(?!)")
_SUBMIT = re.compile("submit")
_EXECUTORS = (
    ("concurrent.futures.process", "ProcessPoolExecutor"),
    ("joblib.externals.loky.process_executor", "ProcessPoolExecutor"),
    ("loky.process_executor", "ProcessPoolExecutor"),
)
_HANDS = ("apply", "apply_async", "_map_async", "imap", "imap_unordered")
INTERCEPTIONS = [
    *(Interception(*each, _SUBMIT, _to_processes) for each in _EXECUTORS),
    Interception("multiprocessing.pool", "Pool", _NONE, _to_processes, added=_HANDS),
    Interception("multiprocessing.process", "BaseProcess", re.compile("start"), _to_a_process),
]
"""The methods that are replaced during an explanation. Code calls these methods to hand work to another
process."""
