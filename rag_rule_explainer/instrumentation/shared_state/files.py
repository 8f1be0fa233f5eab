"""This module finds files by which one run influences a later one.

A run may read files that it wrote itself. But a run depends on more than its own sources if it reads a
file that a run on other sources wrote, or a file that has different contents in runs on different
sources.
"""

import os
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from .file_contents import content_of, description_of, is_shared_memory
from .folders import content_of_folder
from .written_files import WrittenFiles

_OF_IMPORTS = (".pyc", ".so")
_CODE = (".py", ".pyi")
"""The endings of files with Python code. Every run may import such files. So if a run reads such a file,
this is recorded only if a run has also written the file."""
_PATTERN = re.compile(r"[*?\[]")
_ON_DISK = tuple({os.path.realpath(each) for each in (sys.prefix, sys.base_prefix)})
_UNDER = ("/proc/", "/dev/", "/sys/")
_OF_PROCESSES = ("/proc/", "/sys/")
_MEMORY = "/dev/shm/"  # noqa: S108 -- files in this folder belong to the application


class Left(NamedTuple):
    """A ``Left`` is state that one run left and that a later run may read.

    ``place``: the name of the state, such as an attribute or a file; the user's ``ignore=`` patterns are
    matched against it. ``clause``: a clause for messages that says what happened.
    """

    place: str
    clause: str


@dataclass(frozen=True, slots=True)
class Reader:
    """A ``Reader`` identifies a run that reads or writes files.

    ``number``: different for each run. ``sources``: identifies the run's sources; runs on the same
    sources may read each other's files. ``name``: the run's name in messages.
    """

    number: int
    sources: Hashable
    name: str


@dataclass(slots=True, eq=False)
class Files:
    """This class records which run wrote and read which file. A field is empty or None if there is no
    such file."""

    carried: Left | None = None
    """The first file by which a run influenced a later one."""
    database: Left | None = None
    """The first database by which a run influenced a later one."""
    shared: str = ""
    """A file that a run read after writing it; parallel runs would disturb each other, so runs are made
    one at a time."""
    connects: bool = False
    """True if a run connected to a database file."""
    databases: set[str] = field(default_factory=set[str])
    """The files of the databases."""
    written: WrittenFiles = field(default_factory=WrittenFiles)
    """The object that records which files runs wrote."""
    touched: str = ""
    """A file whose mode, time or size a run set; matters only if code of the user's reads such data."""
    appended: str = ""
    """A new file that a run opened for appending; matters only if the user's code reads file sizes."""
    programs: dict[str, Left] = field(default_factory=dict[str, Left])
    """The programs that were started during runs, by name, if it is unknown what they store."""
    _writers: dict[str, Reader] = field(default_factory=dict[str, Reader])
    _own: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    _found: defaultdict[str, dict[Hashable, tuple[bytes, str]]] = field(
        default_factory=lambda: defaultdict[str, dict[Hashable, tuple[bytes, str]]](dict)
    )
    _setters: dict[str, Reader] = field(default_factory=dict[str, Reader])
    _made: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict[str, set[int]](set))

    @property
    def read(self) -> Collection[str]:
        """Returns the files and folders that were read during runs."""
        return self._found.keys()

    def opened(
        self, path: str, run: Reader, *, reads: bool, writes: bool, whole: bool, adds: bool = False
    ) -> None:
        """Records that a run is about to open a file.

        ``reads``, ``writes``: True if the file is opened for reading, or for writing. ``whole``: True if
        the file is emptied first, so that the run reads only what it wrote itself. ``adds``: True if the
        file is opened for appending.
        """
        if writes and path.startswith(_OF_PROCESSES):
            self._carry(path, f"{path!r}, which belongs to the system, was written by {run.name}")
        path = absolute_path(path)
        if not path or (path.endswith(_CODE) and not writes and path not in self._writers):
            return
        if whole or (writes and not os.path.lexists(path)):
            self._own.add((run.number, path))
        if reads:
            self._read(path, run)
        if writes:
            self._writes(path, run, adds=adds)

    def removed(self, path: str, run: Reader) -> None:
        """Records that a run is about to remove a file or a folder."""
        path = absolute_path(path, folders=True)
        if not path or str(Path(path).parent) in self._made:
            # If a run made the folder of the file, only the folder is recorded, not the files in it.
            return
        if self._made.get(path) != {run.number}:
            self._made[path].add(run.number)
            self._writers[path] = run
            self.written.note(path)
        else:
            del self._made[path]

    def moved(self, source: str, target: str, run: Reader) -> None:
        """Records that a run is about to move a file to ``target``."""
        self.removed(source, run)
        self.opened(target, run, reads=False, writes=True, whole=True)

    def connected(self, path: str, run: Reader) -> None:
        """Records that a run is about to connect to a database in a file."""
        self.connects = True
        path = path if is_shared_memory(path) else absolute_path(_of_uri(path))
        if path:
            self.written.note(path)
            clause = self._difference(path, run)
            self.databases.add(path)
            self.database = self.database or (Left(path, clause) if clause else None)

    def listed(self, path: str, run: Reader) -> None:
        """Records that a run is about to list the names in a folder."""
        full = str(Path(path).absolute())
        if not _is_of_the_system(full):
            self._carry(full, self._difference(full, run))

    def handed(self, argument: str, run: Reader, *, times: bool = False) -> None:
        """Records that a run is about to start a process with this argument. If the argument is the name
        of a file or a folder, the process may read the file, its mode, or the fact that it does not
        exist. If the argument is a pattern, such as ``part-*.md``, the process may read all files that
        match the pattern.

        ``times``: True if the effect of the process may depend on the times at which files were changed.
        """
        path = absolute_path(argument, folders=True)
        if path and Path(path).is_dir():
            if path != os.sep:  # "/" alone is probably no folder, but a separator in a text
                self.searched(path, run, times=times)
                maker = self._writers.get(path)
                if maker is not None and maker.sources != run.sources:
                    self._carry(path, f"{path!r} was made by {maker.name} and read by {run.name}")
        elif path and _PATTERN.search(path) and not os.path.lexists(path):
            matched = sorted(map(str, Path(os.sep).glob(path.lstrip(os.sep))))
            others = "\n".join(each for each in matched if (run.number, each) not in self._own)
            names = others.encode("utf-8", "surrogateescape") or b"none"
            self._carry(path, self._difference(path, run, names))
            for each in matched:
                self._asked(each, run, times=times)
        elif path:
            self._asked(path, run, times=times)

    def _asked(self, path: str, run: Reader, *, times: bool) -> None:
        self._read(path, run)
        if not os.path.lexists(path):
            self._carry(path, self._difference(path, run, b"none", known_as=f"{path}{os.sep}"))
        if (run.number, path) not in self._own:
            told, setter = description_of(path, times=times), self._setters.get(path)
            self._carry(path, self._difference(path, run, told, known_as=f"{path}{os.sep}."))
            if setter is not None and setter.sources != run.sources:
                clause = (
                    f"the mode or the time of {path!r} was set by {setter.name} and read by {run.name}"
                )
                self._carry(path, clause)

    def set_for(self, path: str, run: Reader) -> None:
        """Records that a run sets the mode, the time or the size of a file."""
        self.touched = self.touched or path
        self._setters.setdefault(absolute_path(path, folders=True), run)

    def searched(self, folder: str, run: Reader, *, times: bool = False) -> None:
        """Records that a run is about to start a process that may read everything in a folder. Leaves out
        the files that this run itself has written there. ``times``: True if the times of files matter to
        the process."""
        full = str(Path(folder).absolute())
        if _is_of_the_system(full):
            return
        own = {path for number, path in self._own if number == run.number}
        content = content_of_folder(full, own, times=times)
        if content is None:
            clause = f"a process is started that may read {full!r}, which is too large to be compared"
            self._carry(full, clause)
        else:
            self._carry(full, self._difference(full, run, content, known_as=f"{full}{os.sep}"))

    def started(self, program: str, run: Reader) -> None:
        """Records that a run is about to start a program that may store anything, because the program is
        unknown."""
        clause = f"{run.name} starts {program!r}, a program that may keep what it is given"
        self.programs.setdefault(program, Left(program, clause))

    def _writes(self, path: str, run: Reader, *, adds: bool) -> None:
        # A new file that is opened for appending is probably a log, and code rarely asks whether a log
        # exists. So such a file is recorded in ``appended``, and not in ``_made``. If a run made the
        # folder of the file, only the folder is recorded.
        is_new = not os.path.lexists(path) and str(Path(path).parent) not in self._made
        if path in self._made or (is_new and not adds):
            self._made[path].add(run.number)
        elif is_new:
            self.appended = self.appended or path
        self._writers[path] = run
        self.written.note(path)

    def _read(self, path: str, run: Reader) -> None:
        writer = self._writers.get(path)
        if (run.number, path) in self._own:
            self.shared = self.shared or path
            if writer is not None and writer.number != run.number:
                self._carry(
                    path, f"{path!r}, which {run.name} had written, was written by {writer.name} too"
                )
            return
        if writer is not None and writer.sources != run.sources:
            self._carry(path, f"{path!r} was written by {writer.name} and read by {run.name}")
        else:
            self._carry(path, self._difference(path, run))

    def _difference(
        self, path: str, run: Reader, content: bytes | None = None, *, known_as: str = ""
    ) -> str:
        """Returns a clause for messages, which says that a run on other sources found a different content
        at this path; empty if no run found a different content.

        ``content``: a digest of the present content; None to read it from the path. ``known_as``: the key
        under which the digests of earlier runs are stored; empty for the path itself.
        """
        content, known = content or content_of(path), self._found[known_as or path]
        for sources, (found, name) in known.items():
            if sources != run.sources and found != content:
                return f"{path!r} was not the same when {name} and {run.name} read it"
        known.setdefault(run.sources, (content, run.name))
        return ""

    def _carry(self, path: str, clause: str) -> None:
        if clause and self.carried is None:
            self.carried = Left(path, clause)

    def left(self) -> str:
        """Returns the path of a file that a run made or removed, if later runs may check whether it
        exists; empty if there is none.

        If several runs made files in a folder and all runs chose different names, the files in this
        folder are ignored, because no run then checks the file of another run.
        """
        made_in = defaultdict[str, list[str]](list)
        for path in self._made:
            made_in[str(Path(path).parent)].append(path)
        for paths in made_in.values():
            makers = [self._made[path] for path in paths]
            runs = set[int]().union(*makers)
            if len(runs) > 1 and all(len(each) == 1 for each in makers):
                continue
            return paths[0]
        return ""


def absolute_path(path: str, *, folders: bool = False) -> str:
    """Returns the absolute path of a file; empty if the file does not belong to the application, such as
    a file of the system. Also empty for a folder, unless ``folders`` is True."""
    if not path or path.endswith(_OF_IMPORTS):
        return ""
    full = Path(path).absolute()
    if _is_of_the_system(str(full)) or (full.is_dir() and not folders):
        return ""
    return str(full)


def _is_of_the_system(path: str) -> bool:
    """Returns True for a file of Python's installation or of the operating system."""
    return path.startswith((*_ON_DISK, *_UNDER)) and not path.startswith(_MEMORY)


def _of_uri(database: str) -> str:
    if database in {"", ":memory:"} or "mode=memory" in database:
        return ""
    return unquote(urlsplit(database).path) if database.startswith("file:") else database
