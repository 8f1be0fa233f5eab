"""This module records what the runs of an application do to files and to the environment."""

import os
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path, PurePath
from typing import Any

from ..copies.environment import Environment
from ..services.calls import ServiceCall
from ..services.services import Services
from .arguments import files_named_in, files_written_in, goes_by_times, matches_names
from .commands import reach_of
from .files import Files, Left, Reader

_numbers = count(1)
_OF_PROCESSES = frozenset({"subprocess.Popen", "os.system", "os.posix_spawn"})


@dataclass(slots=True, eq=False)
class Outside:
    """This class records what an application's runs do to files, to the environment and to services.
    Thread-safe."""

    environment: Environment = field(default_factory=Environment)
    files: Files = field(default_factory=Files)
    services: Services = field(default_factory=Services)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def of_run(self, sources: Hashable, name: str, is_alone: Callable[[], bool]) -> "OutsideOfRun":
        """Returns the object that records what one run does. ``sources``: identifies the run's sources.
        ``name``: the run's name in messages. ``is_alone``: returns True iff no other run is active."""
        return OutsideOfRun(self, Reader(next(_numbers), sources, name), is_alone)

    def left(self) -> Left | None:
        """Returns a file or environment variable by which one run influenced another run; None if none is
        known."""
        raced = self.environment.raced
        if raced:
            return Left(raced, f"os.environ[{raced!r}] was set by a replay while others went on")
        return self.files.carried

    @property
    def shared(self) -> str:
        """Returns a clause for messages that names a file or environment variable which each run sets.
        Another run at the same time would see the value, so runs must then be made one at a time. The
        clause is empty if there is no such file or variable."""
        name = self.environment.first
        if name:
            return f"a run sets os.environ[{name!r}]"
        return f"a run writes and reads {self.files.shared!r}" if self.files.shared else ""


@dataclass(slots=True, eq=False)
class OutsideOfRun:
    """This class records what one run does to files and to the environment."""

    all: Outside
    run: Reader
    is_alone: Callable[[], bool]

    def take(self, event: str, given: tuple[Any, ...]) -> None:
        """Records an event of Python's audit hooks, such as "open". ``event``: the name of the event.
        ``given``: its arguments."""
        with self.all.lock:
            self._take(event, given)

    def sent(self, connection: Any, call: ServiceCall, data: bytes) -> None:
        """Records bytes that the run sends over a connection. ``call``: an object for a new call of a
        service. The object is used only if the bytes begin a new call, not if they continue an earlier
        call."""
        self.all.services.sent(connection, self.run.number, call, data)

    def _take(self, event: str, given: tuple[Any, ...]) -> None:
        path = told_path(given[0])
        if path is None:
            return
        if event in {"os.putenv", "os.unsetenv"}:
            self.all.environment.note(path, alone=self.is_alone())
        elif event in _OF_PROCESSES:
            self._take_process(event, given)
        else:
            self._take_file(event, path, given)

    def _take_process(self, event: str, given: tuple[Any, ...]) -> None:
        """Records what a process that is about to start may read and write. The files that a process uses
        cannot be observed, but the arguments of the process often name them or their folders. ``event``,
        ``given``: the audit event that announces the process, and the arguments of the event."""
        files, environment = self.all.files, given[3] if event == "subprocess.Popen" else None
        folder = told_path(given[2]) if event == "subprocess.Popen" else None
        told = given[0] if event == "os.system" else given[1]
        program = "" if event == "os.system" else told_path(given[0]) or ""
        reach = reach_of(program, told, folder)
        if reach.unknown:
            files.started(reach.unknown, self.run)
        times = goes_by_times(told)
        for each in reach.folders:
            files.searched(each, self.run, times=times)
        names_none = reach.is_closed and not matches_names(told)
        for path in () if names_none else files_named_in(told, folder, environment):
            files.handed(path, self.run, times=times)
        for path, adds in files_written_in(told, folder, environment):
            files.opened(path, self.run, reads=False, writes=True, whole=not adds, adds=adds)

    def _take_file(self, event: str, path: str, given: tuple[Any, ...]) -> None:
        files = self.all.files
        if event == "open":
            files.opened(path, self.run, **ways_of(given[1], given[2]))
        elif event == "sqlite3.connect":
            files.connected(path, self.run)
        elif event == "os.rename":
            files.moved(path, os.fsdecode(given[1]), self.run)
        elif event in {"os.remove", "os.rmdir"}:
            files.removed(in_folder(path, given[1]), self.run)
        elif event in {"os.chmod", "os.utime", "os.truncate"}:
            files.set_for(path, self.run)
        elif event in {"os.mkdir", "os.symlink", "os.link"}:
            made = path if event == "os.mkdir" else os.fsdecode(given[1])
            files.opened(made, self.run, reads=False, writes=True, whole=False)
            if event == "os.link":
                files.written.note_linked(os.path.realpath(path))
        else:
            files.listed(path, self.run)


def told_path(given: object) -> str | None:
    """Returns the path as text; None for a file descriptor, and for anything else that is not a path."""
    if isinstance(given, (str, bytes)):
        return os.fsdecode(given)
    return str(given) if isinstance(given, PurePath) else None


def in_folder(path: str, descriptor: object) -> str:
    """Returns the full path of a file that is named relative to an open folder. ``shutil.rmtree`` names
    files in this way. Returns an empty text if the path of the folder cannot be found.

    ``descriptor``: the file descriptor of the open folder; if there is none, ``path`` is returned
    unchanged.
    """
    if not isinstance(descriptor, int) or descriptor < 0:
        return path
    try:
        return str(Path(f"/proc/self/fd/{descriptor}").readlink() / path)
    except OSError:
        return ""


def ways_of(mode: object, flags: object) -> dict[str, bool]:
    """Returns how a file is opened: whether it is read, written, written as a whole, or added to.
    ``mode``, ``flags``: the arguments of the audit event."""
    if isinstance(mode, str):
        return {
            "reads": not set("wax") & set(mode) or ("a" in mode and "+" in mode),
            "writes": bool(set("wax+") & set(mode)),
            "whole": bool(set("wx") & set(mode)),
            "adds": "a" in mode,
        }
    how = flags if isinstance(flags, int) else 0
    access = how & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR)
    return {
        "reads": access != os.O_WRONLY and not how & os.O_TRUNC,
        "writes": access != os.O_RDONLY,
        "whole": bool(how & os.O_TRUNC),
        "adds": bool(how & os.O_APPEND),
    }
