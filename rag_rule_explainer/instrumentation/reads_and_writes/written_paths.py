"""This module finds out whether a text that code reaches is the path of a file that runs have written."""

import os
import tempfile
from pathlib import Path, PurePath
from time import sleep
from typing import Any

from ..comparable import Unreadable
from ..shared_state.file_contents import content_of
from ..shared_state.folders import content_of_folder
from .file_reads import KnownFiles

_LONGEST = 1_000
_TICK, _MOST_TICKS = 0.001, 50
NEW_PATH = "a new path"
"""This is compared in place of a temporary path where there is nothing."""


def time_of_files() -> float:
    """Returns a time, in seconds, that is later than that of all files that have been written, and not
    later than that of any file that will be written. The time of a file goes on in steps of a few
    milliseconds, so that the clock does not tell."""
    with tempfile.NamedTemporaryFile() as file:
        path = Path(file.name)
        first = path.stat().st_mtime
        for _ in range(_MOST_TICKS):
            os.utime(path)
            if path.stat().st_mtime > first:
                break
            sleep(_TICK)
        return path.stat().st_mtime


def path_content(value: object, known: KnownFiles) -> Any:
    """Returns what is compared of a path in place of its text; None if the text itself is compared.

    Of a file or a folder that was written since the baseline began, the content is compared if it is
    known that the run itself has written it; else it has no known content. A path in the folder for
    temporary files, where there is nothing or an empty folder, equals any other such path.
    """
    if not isinstance(value, (str, PurePath)) or not value or len(str(value)) > _LONGEST:
        return None
    path = Path(value).absolute()
    try:
        is_temporary = str(value).startswith(tempfile.gettempdir() + os.sep)
        if is_temporary and (not path.exists() or (path.is_dir() and not any(path.iterdir()))):
            return NEW_PATH
        if not path.exists() or path.stat().st_mtime < known.begun:
            return None
        content = _content(path, known)
    except (OSError, ValueError):
        return None
    return Unreadable() if content is None else (NEW_PATH if is_temporary else str(path), content)


def _content(path: Path, known: KnownFiles) -> bytes | None:
    """Returns the content of a file or folder; None if it is not that of the run."""
    if not known.is_made(str(path)):
        return None
    if not path.is_dir():
        return content_of(str(path))
    content = content_of_folder(str(path), ())
    if content is None:
        return None
    inside = (each for each in path.rglob("*") if each.lstat().st_mtime >= known.begun)
    return content if all(known.is_made(str(each)) for each in inside) else None
