"""This module finds out whether a text that code reaches is the path of a file that runs have written."""

import os
import tempfile
from pathlib import Path, PurePath
from typing import Any

from .comparable import Unreadable

_LONGEST = 1_000
_SLACK = 0.01
"""The seconds by which the time of a file may be too early."""


def path_content(value: object, begun: float) -> Any:
    """Returns what is compared of a path in place of its text; None if the text itself is compared.
    ``begun``: the time at which the baseline began, in seconds.

    A file that was written since has no known content. A path in the folder for temporary files, where
    there is nothing or an empty folder, equals any other such path.
    """
    if not isinstance(value, (str, PurePath)) or not value or len(str(value)) > _LONGEST:
        return None
    path = Path(value)
    try:
        is_temporary = str(value).startswith(tempfile.gettempdir() + os.sep)
        if is_temporary and (not path.exists() or (path.is_dir() and not any(path.iterdir()))):
            return "a new path"
        return Unreadable() if path.exists() and path.stat().st_mtime >= begun - _SLACK else None
    except (OSError, ValueError):
        return None
