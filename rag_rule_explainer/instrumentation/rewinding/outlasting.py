"""This module remembers what the runs of earlier explanations changed outside of the application's
objects, and what cannot be restored: settings of the process, files, and the state of objects of
libraries.

A later explanation begins with it, so all its runs agree with each other, although they depend on it.
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
"""The most changes that are kept. The oldest are dropped."""

_lock = threading.RLock()


class _Changed(NamedTuple):
    """A ``_Changed`` is one change. ``state``: what the runs left. ``codes``: the code of the application
    whose runs left it. ``thing``: returns the object whose state it is; None if it belongs to the
    process."""

    state: Any
    codes: frozenset[CodeType]
    thing: Any


class _Written(NamedTuple):
    """A ``_Written`` is a file or folder that runs wrote. ``mark``: shows whether it has been written
    since. ``is_made``: True if it was not there before, or is not there any more."""

    mark: object
    is_made: bool


_known: dict[Hashable, _Changed] = {}
_files: dict[str, _Written] = {}


def note_changed(key: Hashable, state: Any, codes: frozenset[CodeType], thing: Any = None) -> None:
    """Remembers the state in which runs left something.

    ``key``: identifies it in the process. ``codes``: the application's code. ``thing``: the object whose
    state it is; None for a setting of the process.
    """

    def forget(_: object) -> None:
        _known.pop(key, None)

    # An object that allows no weak reference is kept alive, so that no other gets its ``id()``.
    refers = weakly(thing, forget) or (lambda: thing)
    with _lock:
        _known.pop(key, None)
        _known[key] = _Changed(state, codes, refers)
        while len(_known) > _MOST:
            del _known[next(iter(_known))]


def anything_changed() -> bool:
    """Returns True iff anything is remembered."""
    return bool(_known)


def is_as_left(
    key: Hashable, state: Any, codes: frozenset[CodeType], thing: Any = None, *, is_named: bool = False
) -> bool:
    """Returns True iff runs of an earlier explanation left this state, and it may concern an application.

    ``codes``: the application's code; the state concerns it if it has all the code of the application
    whose runs left it. ``is_named``: True if it concerns the application anyhow, since its code names
    it."""
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
    """Remembers files and folders that runs have changed. The values are True for those that they made or
    removed."""
    with _lock:
        for path, is_made in changed.items():
            _files.pop(path, None)
            _files[path] = _Written(_mark(path), is_made)
        while len(_files) > _MOST:
            del _files[next(iter(_files))]


@dataclass(frozen=True, slots=True)
class LeftFiles:
    """A ``LeftFiles`` has the files that were still as runs of earlier explanations left them when it was
    made."""

    written: frozenset[str]
    made: frozenset[str]

    @classmethod
    def now(cls) -> "LeftFiles":
        """Returns those of this moment."""
        with _lock:
            found = {path: each for path, each in _files.items() if _mark(path) == each.mark}
        return cls(frozenset(found), frozenset(path for path, each in found.items() if each.is_made))

    def read(self, read: Iterable[str]) -> str:
        """Returns the first of the files in ``read`` that runs of earlier explanations have changed; an
        empty text if there is none."""
        return next((each for each in read if each in self.written), "") if self.written else ""

    def named(self, texts: Iterable[str]) -> str:
        """Returns the first file that runs of earlier explanations made or removed, and that an
        application can name by these texts; an empty text if there is none. ``texts``: those in its
        code, and the texts and paths that it holds."""
        known, folders = tuple(filter(None, texts)) if self.made else (), [gettempdir()]
        for place in (Path.cwd, Path.home):
            with suppress(OSError, RuntimeError):  # the folder is gone, or nobody's
                folders.append(str(place()))
        return next((each for each in sorted(self.made) if _is_named(each, known, folders)), "")


def _is_named(path: str, texts: tuple[str, ...], folders: Iterable[str]) -> bool:
    """Returns True iff each part of a path occurs in one of the texts; of a path inside one of
    ``folders``, which every application knows, each part after that folder."""
    inside = max((each for each in folders if path.startswith(each + os.sep)), key=len, default="")
    parts = Path(path.removeprefix(inside)).parts
    return all(any(each in text for text in texts) for each in parts if each != os.sep)


def _mark(path: str) -> object:
    """Returns a value that is another one once a file has been written: its kind, size and time."""
    try:
        known = Path(path).stat()
    except OSError:
        return None
    return known.st_mode, known.st_size, known.st_mtime_ns
