"""This module records what tools do outside of this process besides their searches: files that they
write, processes that they start, and what they send to services."""

import os
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

from ..services.calls import ServiceCall, begins_a_request
from ..shared_state.arguments import files_written_in
from ..shared_state.commands import reach_of
from ..shared_state.known_commands import WRITING
from ..shared_state.outside import in_folder, told_path, ways_of

STARTS_OF_PROGRAMS = frozenset({"subprocess.Popen", "os.system", "os.posix_spawn"})
"""The audit events that announce the start of another program."""
_CHANGES = {
    "os.rename": "moves",
    "os.remove": "removes",
    "os.rmdir": "removes",
    "os.truncate": "writes",
    "os.symlink": "links",
    "os.link": "links",
}
_OF_CACHES = frozenset({".cache", "__pycache__", "site-packages", "dist-packages"})
"""The names of folders whose files libraries write once, and that no later run misses."""
_DEVICES = ("/dev/", "/proc/")


class Doer(NamedTuple):
    """A ``Doer`` is a call of a tool that is going on. ``tool``: the tool's name; empty for code that no
    tool runs. ``at``: the moment of the call, 0 if unknown. ``callers``: the names of the user's
    functions that are running; only for code that no tool runs."""

    tool: str
    at: int
    callers: frozenset[str] = frozenset()


class Act(NamedTuple):
    """An ``Act`` is something that a tool did. ``what``: what it did, in words, such as "writes the file
    'sent.txt'". ``moment``: when it did it."""

    doer: Doer
    what: str
    moment: int


@dataclass(slots=True, eq=False)
class Acts:
    """An ``Acts`` records what the tools of a baseline did, and how often the functions of tools ran in
    all runs (``runs``). Thread-safe."""

    runs: Counter[str] = field(default_factory=Counter[str])
    _done: list[Act] = field(default_factory=list[Act])
    _sent: list[tuple[Doer, ServiceCall, int]] = field(
        default_factory=list[tuple[Doer, ServiceCall, int]]
    )
    _open: WeakKeyDictionary[Any, tuple[Doer, ServiceCall]] = field(
        default_factory=WeakKeyDictionary[Any, tuple[Doer, ServiceCall]]
    )
    _databases: dict[int, dict[str, object]] = field(default_factory=dict[int, dict[str, object]])
    _temporary: set[str] = field(default_factory=set[str])
    _guard: threading.RLock = field(default_factory=threading.RLock)

    def note_temporary(self, event: str, given: tuple[Any, ...]) -> None:
        """Records a file or folder that the module ``tempfile`` makes: what a tool does to it is no
        act. ``event``, ``given``: the audit event that announces it."""
        path = told_path(given[0]) if event in {"open", "os.mkdir"} else None
        if path is not None:
            self._temporary.add(os.path.realpath(path))

    def what(self, event: str, given: tuple[Any, ...]) -> str:
        """Returns what an audit event announces, in words; empty if it changes nothing that outlasts the
        run. ``given``: the arguments of the event."""
        path = told_path(given[0])
        if path is None:
            return ""
        if event in STARTS_OF_PROGRAMS:
            return _of_process(event, given)
        if event == "open":
            is_written = ways_of(given[1], given[2])["writes"]
            return f"writes the file {path!r}" if is_written and not self._is_passing(path) else ""
        how = _CHANGES.get(event)
        if how is None:
            return ""
        if event in {"os.remove", "os.rmdir"}:
            path = in_folder(path, given[1])
        return "" if self._is_passing(path) else f"{how} {path!r}"

    def note(self, doer: Doer, what: str, moment: int) -> None:
        """Records what a tool of the baseline did."""
        with self._guard:
            self._done.append(Act(doer, what, moment))

    def note_database(self, at: int, given: tuple[Any, ...]) -> None:
        """Records a file of SQLite that a tool of the baseline connects to: what is written there raises
        no event. ``at``: the moment of the tool's call; ``given``: the arguments of the event."""
        path = told_path(given[0])
        if at and path and not self._is_passing(path):
            with self._guard:
                self._databases.setdefault(at, {}).setdefault(path, _content_of(path))

    def end_call(self, tool: str, at: int, moment: int) -> None:
        """Records that the function of a tool has run, and which files of SQLite it has changed. ``at``:
        the moment of the call."""
        with self._guard:
            self.runs[tool] += 1
            opened = self._databases.pop(at, {})
        for path, before in opened.items():
            if _content_of(path) != before:
                self.note(Doer(tool, at), f"writes the database {path!r}", moment)

    def sent(self, doer: Doer, connection: Any, call: ServiceCall, data: bytes) -> ServiceCall:
        """Returns the call of a service to which bytes belong that a tool sends over a connection.
        ``call``: the object for a new call; not used if the bytes continue the tool's last call."""
        with self._guard:
            sender, known = self._open.get(connection, (None, None))
            if known is None or sender != doer or begins_a_request(data):
                self._open[connection] = (doer, call)
                known = call
            known.add(data)
            return known

    def note_sent(self, doer: Doer, call: ServiceCall, moment: int) -> None:
        """Records a call of a service that a tool of the baseline makes."""
        with self._guard:
            if all(each is not call for _, each, _ in self._sent):
                self._sent.append((doer, call, moment))

    def knows(self, tool: str, call: ServiceCall) -> bool:
        """Returns True iff the tool sent the same service such a request in the baseline."""
        with self._guard:
            earlier = [each for doer, each, _ in self._sent if doer.tool == tool]
        return any(each.service == call.service and each.line == call.line for each in earlier)

    def all(self) -> list[Act]:
        """Returns what tools did, in order."""
        with self._guard:
            sent, done = list(self._sent), list(self._done)
        names = ((doer, call, call.act, at) for doer, call, at in sent)
        done += [
            Act(doer, f"sends {name} to {call.service}", at) for doer, call, name, at in names if name
        ]
        return sorted(done, key=lambda each: each.moment)

    def _is_passing(self, path: str) -> bool:
        """Returns True iff no later run misses a file, or finds it: it is temporary, in a cache of a
        library, or a device."""
        if not path or path.startswith(_DEVICES) or not _OF_CACHES.isdisjoint(PurePath(path).parts):
            return True
        real = PurePath(os.path.realpath(path))
        return any(str(each) in self._temporary for each in (real, *real.parents))


def _content_of(path: str) -> object:
    """Returns what changes if a database of SQLite is written: sizes and times of its files."""
    found = list[tuple[int, int]]()
    for each in (path, f"{path}-wal", f"{path}-journal"):
        with suppress(OSError, ValueError):
            state = Path(each).stat()
            found += [(state.st_size, state.st_mtime_ns)] if state.st_size else []
    return found


def first_acts(acts: Iterable[Act], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yields each of these tools that did something, alphabetically, with its first act in words."""
    found = dict[str, str]()
    for each in acts:
        if each.doer.tool in names:
            found.setdefault(each.doer.tool, each.what)
    yield from sorted(found.items())


def _of_process(event: str, given: tuple[Any, ...]) -> str:
    """Returns what a process that is about to start does, in words; empty for usual commands that only
    read."""
    folder = told_path(given[2]) if event == "subprocess.Popen" else None
    told: Any = given[0] if event == "os.system" else given[1]
    program = "" if event == "os.system" else told_path(given[0]) or ""
    is_listed = isinstance(told, (list, tuple))
    arguments: list[Any] = [*cast("list[Any]", told)] if is_listed else [told]
    words = {PurePath(word).name for each in (program, *arguments) for word in os.fsdecode(each).split()}
    only_reads = not reach_of(program, told, folder).unknown and words.isdisjoint(WRITING)
    if only_reads and not any(files_written_in(told, folder, None)):
        return ""
    named = os.fsdecode(arguments[0]) if event == "os.system" else program
    return f"starts the process {named!r}"
