"""This module notices what a tool's own code does outside of this process, besides its searches and its
requests to models. A tool that retrieves runs in every replay, so whatever else it does would be done
again.

What the tools of a baseline did is recorded. In a replay, an act that the baseline did not do is stopped
before it happens.
"""

import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from ...probing.whose import is_users
from ...tool_calls import ToolCall
from ..reads_and_writes.noted_reads import reads_in_use
from ..reads_and_writes.outside_reads import PROGRAMS, place_of_service
from ..recording.recorder import Recording
from ..requests.exchanges import moment
from ..requests.generated_clients import is_sent_by_client
from ..requests.tools_in_use import call_in_use, functions_in_use, tools_in_use
from ..run_record import Participation
from ..services.calls import ServiceCall
from .acts import STARTS_OF_PROGRAMS, Doer

_STOPPED = (
    "the replay was ended before the tool {name!r}, which runs as it retrieves, did what it did not do "
    "in the baseline: it {what} (safe_tools=[{name!r}] lets it)"
)
_LIBRARIES = frozenset(
    {
        *("logging", "joblib", "diskcache", "requests_cache", "hishel", "aiocache", "importlib"),
        *("_frozen_importlib", "_frozen_importlib_external"),
    }
)
"""Packages that write logs and caches to files."""
_OTHERS = re.compile(
    "Base(?:ChatMessageHistory|Memory|CheckpointSaver|Store|ChatStore|KVStore|Cache|CallbackHandler)"
    "|BaseEventHandler|BaseSpanHandler"
)
"""Matches the names of the frameworks' base classes of memories, caches and handlers, which are no part
of a tool."""
_LOGGING = frozenset({"logging"})
_TEMPORARY = "tempfile"
_CALLERS = 40
"""The number of innermost calls on the call stack that are looked at."""


def note_event(run: Participation, event: str, given: tuple[Any, ...], frame: Any) -> None:
    """Handles an audit event of Python that a run's code raises. ``given``: the arguments of the event;
    ``frame``: the stack frame of the code. Raises ReplayEnded in a replay that must not do this."""
    is_database, is_new = event == "sqlite3.connect", event == "os.mkdir"
    what = run.acts.what(event, given)
    if event in STARTS_OF_PROGRAMS:
        _note_program(run, writes=bool(what))
    if not (what or is_database or is_new):
        return
    package = _package_behind(frame)
    if package == _TEMPORARY:
        run.acts.note_temporary(event, given)
    elif is_database and not package and isinstance(run.gate, Recording):
        run.acts.note_database(call_in_use.get(), given)
    elif what and not package:
        _take(run, what, frame)


def note_sent(run: Participation, connection: Any, call: ServiceCall, data: bytes) -> None:
    """Handles bytes that a run's code is about to send to a service. ``call``: the object for a new call.
    Raises ReplayEnded in a replay that must not send them."""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage] -- there is no public way to read the caller's frame
    if not isinstance(run.gate, Recording) and run.tool_replay is not None and not is_sent_by_client():
        run.tool_replay.note_read_outside(place_of_service(replace(call, data=bytearray(data))))
    doer = _doer(run, frame)
    if doer is None or is_sent_by_client() or _package_behind(frame, _LOGGING):
        return
    known = run.acts.sent(doer, connection, call, data)
    if isinstance(run.gate, Recording):
        reads = reads_in_use.get()
        if reads is not None:
            reads.outside.note_service(known)
        run.acts.note_sent(doer, known, moment())
    elif known.act and not run.acts.knows(doer.tool, known):
        _stop(run, doer.tool, f"sends {known.act} to {known.service}")


def _note_program(run: Participation, *, writes: bool) -> None:
    """Records that a tool of the baseline starts a program. Ends a replay where a program may miss what
    recorded calls of tools would have done. ``writes``: True if the program may change something."""
    reads = reads_in_use.get()
    if reads is not None:
        reads.outside.programs.append(writes)
    elif run.tool_replay is not None:
        run.tool_replay.note_read_outside(PROGRAMS)


def _take(run: Participation, what: str, frame: Any) -> None:
    doer = _doer(run, frame)
    if doer is None:
        return
    if isinstance(run.gate, Recording):
        run.acts.note(doer, what, moment())
    else:
        _stop(run, doer.tool, what)


def _doer(run: Participation, frame: Any) -> Doer | None:
    """Returns the call of a tool that is going on here. In a replay, returns None if the tool may do what
    it does. ``frame``: the stack frame of the code."""
    tool = (functions_in_use.get() or tools_in_use.get() or ("",))[-1]
    if isinstance(run.gate, Recording):
        return Doer(tool, call_in_use.get()) if tool else Doer(tool, 0, _callers(frame))
    replay = run.tool_replay
    if replay is None or replay.on_new == "live" or tool in replay.safe or tool not in replay.retrieving:
        return None
    return Doer(tool, call_in_use.get())


def _stop(run: Participation, tool: str, what: str) -> None:
    if run.tool_replay is not None:
        run.tool_replay.end_at(ToolCall.written(tool, None), _STOPPED.replace("{what}", _escaped(what)))


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _frames(frame: Any) -> Iterator[tuple[str, Any]]:
    """Yields the innermost stack frames, each with the name of its module."""
    for _ in range(_CALLERS):
        if frame is None:
            return
        yield str(frame.f_globals.get("__name__")), frame
        frame = frame.f_back


def _package_behind(frame: Any, packages: Collection[str] = _LIBRARIES) -> str:
    """Returns the name of the package that acts on its own account, such as one that writes logs; empty
    if the user's code acts, or another library for it."""
    for module, each in _frames(frame):
        package = module.partition(".")[0]
        if package in packages or package == _TEMPORARY:
            return package
        kinds = type(each.f_locals.get("self")).__mro__
        if any(_OTHERS.fullmatch(kind.__name__) for kind in kinds):
            return package
        if is_users(module):
            return ""
    return ""


def _callers(frame: Any) -> frozenset[str]:
    found = (each.f_code.co_name for module, each in _frames(frame) if is_users(module))
    return frozenset(found)
