"""This module remembers changes that runs of earlier explanations made and that cannot be restored:
changes of settings of the process, of files, and of library objects.

A later explanation begins with the changed state. All runs of the later explanation find the same state,
so they agree with each other even if the state influences them.
"""

import os
import threading
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from types import CodeType
from typing import Any, NamedTuple

from .before_earlier import weakly

_MOST = 5000
"""The maximum number of changes of objects and settings that are stored, and the maximum number of
changed files. If there are more, the oldest are dropped."""

_lock = threading.RLock()


class _Changed(NamedTuple):
    """A ``_Changed`` is one change. ``state``: the state that the runs left. ``codes``: the code of the
    application whose runs left this state. ``thing``: returns the object that has the state; None for a
    setting of the process."""

    state: Any
    codes: frozenset[CodeType]
    thing: Any


class _Written(NamedTuple):
    """A ``_Written`` is a file or folder that runs wrote. ``mark``: the kind, size and time of the file
    after the runs; if they differ later, the file was changed again. ``is_made``: True if the runs made
    or removed the file; False if they changed an existing one."""

    mark: object
    is_made: bool


_known: dict[Hashable, _Changed] = {}
_files: dict[str, _Written] = {}


def note_changed(key: Hashable, state: Any, codes: frozenset[CodeType], thing: Any = None) -> None:
    """Remembers the state in which runs left an object or a setting of the process.

    ``key``: identifies this object or setting in the process. ``codes``: the application's code.
    ``thing``: the object whose state it is; None for a setting of the process.
    """

    def forget(_: object) -> None:
        if _known:  # while Python shuts down, ``_known`` is None
            _known.pop(key, None)

    # An object that allows no weak reference is kept alive: its ``id()`` may be part of the key, and no
    # other object must get this ``id()``.
    refers = weakly(thing, forget) or (lambda: thing)
    with _lock:
        _known.pop(key, None)
        _known[key] = _Changed(state, codes, refers)
        # The object of an entry may cease to exist at any moment. ``forget`` then removes the entry
        # without the lock, so it may be missing here.
        for oldest in [*_known][:-_MOST]:
            _known.pop(oldest, None)


def anything_changed() -> bool:
    """Returns True iff runs of an earlier explanation have changed an object of a library, or a setting
    of the process."""
    return bool(_known)


def is_as_left(
    key: Hashable, state: Any, codes: frozenset[CodeType], thing: Any = None, *, is_named: bool = False
) -> bool:
    """Returns True iff runs of an earlier explanation left this state, the state has not changed since
    then, and the application may read it.

    ``key``: identifies the object or setting. ``state``: its present state. ``codes``: the application's
    code. The application may read the state if its code includes all code of the application whose runs
    left the state, or if its code names the state (``is_named``).
    """
    found = _known.get(key)
    if (
        found is None
        or found.thing() is not thing
        or not (is_named or (found.codes and found.codes <= codes))
    ):
        return False
    try:
        return bool(found.state == state)
    except Exception:  # an object of the user's may raise any error when it is compared
        return False


def note_files(changed: Mapping[str, bool]) -> None:
    """Remembers files and folders that runs have changed. ``changed``: their paths; the value of a path
    is True if the runs made or removed the file or folder."""
    with _lock:
        for path, is_made in changed.items():
            _files.pop(path, None)
            _files[path] = _Written(_mark(path), is_made)
        while len(_files) > _MOST:
            del _files[next(iter(_files))]


@dataclass(frozen=True, slots=True)
class LeftFiles:
    """A ``LeftFiles`` has the paths of files that runs of earlier explanations changed and that have
    not changed since. ``written``: all these files; ``made``: only the files that the runs made or
    removed."""

    written: frozenset[str]
    made: frozenset[str]

    @classmethod
    def now(cls) -> "LeftFiles":
        """Returns the ``LeftFiles`` of the current moment."""
        with _lock:
            found = {path: each for path, each in _files.copy().items() if _mark(path) == each.mark}
        return cls(frozenset(found), frozenset(path for path, each in found.items() if each.is_made))

    def read(self, read: Iterable[str]) -> str:
        """Returns the first of the files in ``read`` that runs of earlier explanations have changed; an
        empty text if there is none."""
        return next((each for each in read if each in self.written), "") if self.written else ""

    def named(self, texts: Iterable[str]) -> str:
        """Returns the first file that runs of earlier explanations made or removed, and whose path the
        application can build from ``texts``; an empty text if there is none. ``texts``: the string
        constants in the application's code, and the texts and paths in its objects."""
        known, folders = tuple(filter(None, texts)) if self.made else (), [gettempdir()]
        for place in (Path.cwd, Path.home):
            with suppress(OSError, RuntimeError):  # the folder does not exist, or the user has no home
                folders.append(str(place()))
        return next((each for each in sorted(self.made) if _is_named(each, known, folders)), "")


def _is_named(path: str, texts: tuple[str, ...], folders: Iterable[str]) -> bool:
    """Returns True iff each part of a path (the name of a folder or file) is in one of the texts. If the
    path is inside one of ``folders``, which every application knows, only the parts after this folder are
    checked."""
    inside = max((each for each in folders if path.startswith(each + os.sep)), key=len, default="")
    parts = Path(path.removeprefix(inside)).parts
    return all(any(each in text for text in texts) for each in parts if each != os.sep)


def _mark(path: str) -> object:
    """Returns a value that changes when the file is written: the file's kind, its size and the time of
    its last change. Returns None if there is no such file."""
    try:
        known = Path(path).stat()
    except OSError:
        return None
    return known.st_mode, known.st_size, known.st_mtime_ns
