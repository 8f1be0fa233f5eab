"""This module passes Python's audit events about files and the environment to the current run.

Python raises such an event whenever code opens a file, connects to SQLite, or sets an environment
variable, whichever library the code uses.
"""

import os
import re
import sys
from contextlib import suppress
from functools import cache
from typing import Any

from ..reads_and_writes.file_reads import paths_read
from ..reads_and_writes.noted_reads import reads_in_use
from ..requests.tools_in_use import tools_in_use
from ..run_context import inside_retrieval, participation
from .acting import note_event
from .isolating import current_state
from .other_processes import FORKING, check_fork
from .unheard import is_unheard, unheard_by_hook

_EVENTS = frozenset(
    {
        *("open", "sqlite3.connect", "os.putenv", "os.unsetenv", "os.rename", "os.remove", "os.mkdir"),
        "os.rmdir",
        *("os.listdir", "os.scandir", "os.symlink", "os.link", "os.chmod", "os.utime", "os.truncate"),
        *("subprocess.Popen", "os.system", "os.posix_spawn"),
    }
)
_OPENING = frozenset({"open", "sqlite3.connect"})
_MEMORIES = re.compile("Base(?:ChatMessageHistory|Memory|CheckpointSaver|Store|ChatStore|KVStore)")
"""Matches the names of the frameworks' base classes of memories."""
_CALLERS = 12
"""The number of innermost calls on the call stack among which a method of a memory is looked for."""
_IMPORTING = "<frozen importlib._bootstrap_external>"


@cache
def listen() -> None:
    """Installs the audit hook at the first call; later calls do nothing. The hook stays until the process
    ends, because Python cannot remove it."""
    sys.addaudithook(_passed_on)


def _passed_on(event: str, given: tuple[Any, ...]) -> None:
    # While Python shuts down, this hook is still called, although the globals of this module are None. It
    # then does nothing.
    if FORKING and event in FORKING and not is_unheard():
        check_fork(sys._getframe(1))  # pyright: ignore[reportPrivateUsage] -- no public way to the caller
    if not _EVENTS or event not in _EVENTS or is_unheard():
        return
    run = participation()
    # A replay gets recorded results instead of real retrievals, so it does not read the files that a
    # retrieval of the baseline reads. These files are therefore ignored.
    if run is None or run.outside is None or inside_retrieval.get():
        return
    # Python lists the folders in ``sys.path`` to find a module. This is ignored, because files may come
    # and go there for any reason. Reading the module's own file is a separate event.
    if event == "os.listdir" and sys._getframe(1).f_code.co_filename == _IMPORTING:  # pyright: ignore[reportPrivateUsage] -- there is no public way to read the caller's frame
        return
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] -- there is no public way to read the caller's frame
    # An error of the hook would be raised in the application.
    with suppress(Exception), unheard_by_hook():
        if event in _OPENING and not isinstance(given[0], int) and not _by_a_memory():
            run.read.add(os.fsdecode(given[0]))
        reads = reads_in_use.get()
        run.files.note(event, given, None if reads is None else reads.files)
        if reads is not None:
            reads.variables.note_event(event, given)
        elif run.tool_replay is not None and not tools_in_use.get():
            for path in paths_read(event, given):
                run.tool_replay.note_read(
                    f"the file {path!r}", run.tool_replay.record.inputs.written_in(path)
                )
        run.outside.take(event, given)
        note_event(run, event, given, frame)


def _by_a_memory() -> bool:
    """Returns True iff a memory of a framework opens the file. Such a file is no shared state to report:
    this package removes omitted turns from the memory's messages, wherever the memory stores them."""
    if current_state() is None:
        return True
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage] -- there is no public way to read the caller's frame
    for _ in range(_CALLERS):
        kinds = type(frame.f_locals.get("self")).__mro__
        if any(_MEMORIES.fullmatch(each.__name__) for each in kinds):
            return True
        if frame.f_back is None:
            break
        frame = frame.f_back
    return False
