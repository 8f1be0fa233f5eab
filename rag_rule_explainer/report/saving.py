"""This module writes texts into files, so that no other program ever sees a file half-written."""

import os
import secrets
from pathlib import Path

from ..errors import InvalidInput


def check_place(path: Path) -> None:
    """Raises InvalidInput if the file cannot be written. To find this out, an empty file is written
    beside it and removed again; the file itself is not changed."""
    target = Path(os.path.realpath(path))
    folder = target.parent
    if target.is_dir():
        reason = "it is a folder"
    elif not folder.is_dir():
        reason = f"there is no folder {folder}"
    elif not os.access(target if target.exists() else folder, os.W_OK):
        reason = "it may not be written"
    elif target.exists() and not target.is_file():
        return
    else:
        reason = _why_no_file_beside(target)
        if not reason:
            return
    raise InvalidInput(f"{path} cannot be written: {reason}; give another file")


def write_whole(path: Path, text: str) -> None:
    """Writes the text into a file, as UTF-8, and replaces an existing file. A program that reads the file
    meanwhile gets either the whole old text or the whole new text. Raises InvalidInput if the file cannot
    be written."""
    try:
        # A symbolic link is kept, and the file to which it leads is replaced.
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            # The target is something like /dev/stdout or a named pipe, which cannot be replaced by a
            # file.
            target.write_text(text, encoding="utf-8", newline="")
        else:
            _replace(target, text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{path} cannot be written: {reason}; give another file") from error


def _why_no_file_beside(target: Path) -> str:
    # A folder may refuse new files although its permissions allow them, for example on a read-only
    # disk. So a file is written to find out.
    beside = _beside(target)
    try:
        beside.touch(exist_ok=False)
        beside.unlink()
    except (OSError, ValueError) as error:
        return str(getattr(error, "strerror", None) or error)
    return ""


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")


def _replace(target: Path, text: str) -> None:
    beside = _beside(target)
    try:
        with beside.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o777)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
