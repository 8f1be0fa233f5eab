"""This module finds files by which one run influences another.

A run may read files that it wrote itself. But a run that reads a file written by a run on other sources,
or finds another content than that run did, depends on more than its own sources.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_LARGEST = 1_000_000
"""The most bytes of a file that is compared by content; larger files are compared by size and time."""
_OTHERS = (".py", ".pyc", ".so", ".pyi")
_ON_DISK = tuple({os.path.realpath(each) for each in (sys.prefix, sys.base_prefix)})
_UNDER = ("/proc", "/dev", "/sys")


class Left(NamedTuple):
    """A ``Left`` is state that one run left and that another run may read.

    ``place``: the name of the state, which the user's ``ignore=`` patterns are compared with. ``told``: a
    clause for messages.
    """

    place: str
    told: str


@dataclass(frozen=True, slots=True)
class Reader:
    """A ``Reader`` identifies a run that reads or writes files.

    ``sources``: a key of its sources; runs on the same sources may read each other's files. ``name``: the
    run's name in messages.
    """

    number: int
    sources: Hashable
    name: str


@dataclass(slots=True, eq=False)
class Files:
    """This class records which run wrote and read which file.

    ``carried``: the first file by which a run influenced another. ``database``: the first such database.
    ``shared``: a file that a run read after writing it, so that parallel runs may disturb each other.
    ``connects``: a run connected to a database file. ``appended``: a new file that a run opened for
    appending. ``touched``: a file whose mode, time or size a run set. Empty or None if there is none.
    """

    carried: Left | None = None
    database: Left | None = None
    shared: str = ""
    connects: bool = False
    touched: str = ""
    appended: str = ""
    _writers: dict[str, Reader] = field(default_factory=dict[str, Reader])
    _own: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    _found: defaultdict[str, dict[Hashable, tuple[bytes, str]]] = field(
        default_factory=lambda: defaultdict[str, dict[Hashable, tuple[bytes, str]]](dict)
    )
    _made: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict[str, set[int]](set))

    @property
    def read(self) -> Collection[str]:
        """Returns the files and folders that runs read."""
        return self._found.keys()

    def opened(
        self, path: str, run: Reader, *, reads: bool, writes: bool, whole: bool, adds: bool = False
    ) -> None:
        """Records that a run is about to open a file.

        ``whole``: the file is emptied. ``adds``: it is opened for appending.
        """
        path = _absolute(path)
        if not path:
            return
        if whole or (writes and not os.path.lexists(path)):
            self._own.add((run.number, path))
        if reads:
            self._read(path, run)
        if writes:
            self._writes(path, run, adds=adds)

    def removed(self, path: str, run: Reader) -> None:
        """Records that a run is about to remove a file or a folder."""
        path = _absolute(path, folders=True)
        if not path or str(Path(path).parent) in self._made:
            # If a run made the folder, the files in it are not recorded one by one. The folder itself is,
            # until it is removed.
            return
        if self._made.get(path) != {run.number}:
            self._made[path].add(run.number)
            self._writers[path] = run
        else:
            del self._made[path]

    def moved(self, source: str, target: str, run: Reader) -> None:
        """Records that a run is about to move a file to ``target``."""
        self.removed(source, run)
        self.opened(target, run, reads=False, writes=True, whole=True)

    def connected(self, path: str, run: Reader) -> None:
        """Records that a run is about to connect to a database in a file."""
        self.connects = True
        path = _absolute(_of_uri(path))
        if path:
            told = self._difference(path, run)
            self.database = self.database or (Left(path, told) if told else None)

    def listed(self, path: str, run: Reader) -> None:
        """Records that a run lists the names in a folder."""
        full = str(Path(path).absolute())
        if not full.startswith((*_ON_DISK, *_UNDER)):
            self._carry(full, self._difference(full, run))

    def handed(self, argument: str, run: Reader) -> None:
        """Records that a run starts a process with this argument, which may be the name of a file."""
        path = "" if argument.startswith("-") else _absolute(argument)
        if path:
            self._carry(path, self._difference(path, run))

    def _writes(self, path: str, run: Reader, *, adds: bool) -> None:
        # A new file that is only appended to is a log, and code rarely asks whether a log exists, so it
        # is not recorded. Files in a new folder are not recorded either.
        is_new = not os.path.lexists(path) and str(Path(path).parent) not in self._made
        if path in self._made or (is_new and not adds):
            self._made[path].add(run.number)
        elif is_new:
            self.appended = self.appended or path
        self._writers[path] = run

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

    def _difference(self, path: str, run: Reader) -> str:
        content, known = _content_of(path), self._found[path]
        for sources, (found, name) in known.items():
            if sources != run.sources and found != content:
                return f"{path!r} was not the same when {name} and {run.name} read it"
        known.setdefault(run.sources, (content, run.name))
        return ""

    def _carry(self, path: str, clause: str) -> None:
        if clause and self.carried is None:
            self.carried = Left(path, clause)

    def left(self) -> str:
        """Returns a file that a run made or removed and whose existence other runs may check.

        Empty if there is none, or if every run uses names of its own.
        """
        made_in = defaultdict[str, list[str]](list)
        for path in self._made:
            made_in[str(Path(path).parent)].append(path)
        for paths in made_in.values():
            makers = [self._made[path] for path in paths]
            if len(paths) > 1 and all(len(each) == 1 for each in makers):
                continue
            return paths[0]
        return ""


def _absolute(path: str, *, folders: bool = False) -> str:
    """Returns the absolute path; empty if it is no file of the application's. ``folders``: folders count
    as well."""
    if not path or path.endswith(_OTHERS):
        return ""
    full = Path(path).absolute()
    if str(full).startswith((*_ON_DISK, *_UNDER)) or (full.is_dir() and not folders):
        return ""
    return str(full)


def _of_uri(database: str) -> str:
    if database in {"", ":memory:"} or "mode=memory" in database:
        return ""
    return unquote(urlsplit(database).path) if database.startswith("file:") else database


def _content_of(path: str) -> bytes:
    """Returns a digest: of the names in a folder, or of the content of a file, for a database together
    with its write-ahead log."""
    digest = blake2b(digest_size=16)
    if Path(path).is_dir():
        names = sorted(each.name for each in Path(path).iterdir())
        return blake2b("\n".join(names).encode("utf-8", "surrogateescape")).digest()
    for each in (Path(path), Path(f"{path}-wal")):
        try:
            known = each.stat()
            is_large = known.st_size > _LARGEST
            content = f"{known.st_size} {known.st_mtime_ns}".encode() if is_large else each.read_bytes()
            digest.update(b"there" + content)
        except OSError:
            digest.update(b"none")
    return digest.digest()
