"""This module notes which files runs write, and which of them the tools of the baseline read.

A tool that does not run in a replay would read the same there, if the replay has written the same into
the files that the tool read in the baseline.
"""

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..isolation.unheard import unheard_by_hook
from ..requests.tools_in_use import tools_in_use
from ..shared_state.file_contents import content_of
from ..shared_state.files import absolute_path
from ..shared_state.outside import in_folder, told_path, ways_of

APPLICATION = ""
"""The name of the writer of a file if that is no tool."""
_CODE = (".py", ".pyi")
_LISTING = frozenset({"os.listdir", "os.scandir"})


class _Use(NamedTuple):
    path: str
    reads: bool = False
    writes: bool = True
    whole: bool = False


@dataclass(slots=True, eq=False)
class CallFiles:
    """A ``CallFiles`` holds the files that one call of a tool has used. ``before``: the content of each
    before the call first used it; ``read``: those that the call read, and had not written itself.
    ``outer``: those of the tool that made the call; None if no tool made it."""

    before: dict[str, bytes] = field(default_factory=dict[str, bytes])
    read: set[str] = field(default_factory=set[str])
    outer: "CallFiles | None" = None
    _own: set[str] = field(default_factory=set[str])

    def note(self, path: str, *, reads: bool, whole: bool) -> None:
        """Records that the tool is about to use a file. ``reads``: True if it may read what is there;
        ``whole``: True if it empties the file."""
        self.before.setdefault(path, content_of(path))
        if reads and path not in self._own:
            self.read.add(path)
        if whole:
            self._own.add(path)
        if self.outer is not None:
            self.outer.note(path, reads=reads, whole=whole)

    def read_now(self, known: "KnownFiles") -> Mapping[str, bytes]:
        """Returns the present content of these files in a run. That of a file which the run would find
        otherwise is empty."""
        with unheard_by_hook():
            now = {path: known.now_at(path) for path in self.before}
            return {path: content_of(each) if each else b"" for path, each in now.items()}


@dataclass(slots=True, eq=False)
class RunFiles:
    """A ``RunFiles`` holds the files that a run has written. ``writers``: the names of the tools that
    wrote each file, ``APPLICATION`` for other code."""

    writers: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def note(self, event: str, given: tuple[Any, ...], files: CallFiles | None) -> None:
        """Records what code of the run is about to do. ``event``, ``given``: an audit event and its
        arguments; ``files``: those of the tool that does it; None for other code."""
        for use in _uses(event, given):
            path = absolute_path(use.path, folders=True)
            if not path or (path.endswith(_CODE) and not use.writes and path not in self.writers):
                continue
            if files is not None:
                files.note(path, reads=use.reads, whole=use.whole)
            if use.writes:
                writer = APPLICATION if files is None else tools_in_use.get()[-1:]
                for each in (path, str(Path(path).parent)):
                    self.writers.setdefault(each, set()).add(writer[0] if writer else APPLICATION)


def paths_read(event: str, given: tuple[Any, ...]) -> list[str]:
    """Returns the paths of the files and folders that code is about to read. ``event``, ``given``: an
    audit event and its arguments."""
    paths = (absolute_path(each.path, folders=True) for each in _uses(event, given) if each.reads)
    return [each for each in paths if each]


def _uses(event: str, given: tuple[Any, ...]) -> Iterator[_Use]:
    path = told_path(given[0])
    if path is None:
        return
    if event == "open":
        ways = ways_of(given[1], given[2])
        yield _Use(path, ways["reads"], ways["writes"], ways["whole"])
    elif event == "sqlite3.connect":
        yield _Use(path, reads=True)
    elif event in _LISTING:
        yield _Use(path, reads=True, writes=False)
    elif event in {"os.rename", "os.link", "os.symlink"}:
        yield _Use(path, reads=event == "os.rename", writes=event == "os.rename")
        yield _Use(os.fsdecode(given[1]), whole=True)
    elif event in {"os.remove", "os.rmdir"}:
        yield _Use(in_folder(path, given[1]), whole=True)
    elif event in {"os.mkdir", "os.truncate"}:
        yield _Use(path)


@dataclass(frozen=True, slots=True)
class KnownFiles:
    """A ``KnownFiles`` knows which files a run has made, and so what they contain in it. ``baseline``:
    the files of the baseline; ``now``: those of the run. ``running``: the names of the tools that run in
    it; None if the run is the baseline. ``begun``: the time at which the baseline began, in seconds."""

    baseline: RunFiles
    now: RunFiles
    begun: float
    running: Collection[str] | None = None

    def is_made(self, path: str) -> bool:
        """Returns True iff what is in a file that the baseline wrote is also what the run would find. It
        has written the file too, or only tools wrote it that do not run."""
        if path in self.now.writers:
            return True
        writers = self.baseline.writers.get(path)
        return writers is not None and writers.isdisjoint((APPLICATION, *(self.running or ())))

    def now_at(self, path: str) -> str:
        """Returns the path of the run that stands for one of the baseline; empty if there is none. It is
        another one in a temporary folder whose name is made up."""
        if path not in self.baseline.writers or self.is_made(path):
            return path
        made = [each for each in self.now.writers if _unnamed(each) == _unnamed(path) != path]
        return made[0] if len(made) == 1 else ""


def is_in_place_of(path: str, other: str) -> bool:
    """Returns True iff the files of two paths are the same, or the first is the folder of the other. A
    temporary file or folder whose name is made up may have another name in each run."""
    return _unnamed(path) in (_unnamed(other), _unnamed(str(Path(other).parent)))


def _unnamed(path: str) -> str:
    """Returns a path without the name of the temporary file or folder in it."""
    folder = Path(tempfile.gettempdir())
    if folder not in Path(path).parents:
        return path
    first, *rest = Path(path).relative_to(folder).parts
    return str(Path(folder, f"*{Path(first).suffix}", *rest))
