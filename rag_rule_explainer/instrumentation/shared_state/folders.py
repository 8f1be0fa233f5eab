"""This module describes the content of folders: the names in them, at any depth, and what their files
contain."""

import os
from collections.abc import Collection, Iterator
from hashlib import blake2b
from pathlib import Path

from .file_contents import description_of

_MOST_ENTRIES = 5000
"""The maximum number of entries in a folder, counted at all depths. The content of a larger folder is not
compared."""
_LARGEST, _MOST_BYTES = 65_536, 4_000_000
"""The largest size in bytes of a file whose content is read, and the largest number of bytes that are
read from all files together. Other files are compared by their size and the time of their last change."""
_OF_PYTHON = frozenset({"__pycache__"})


def content_of_folder(path: str, without: Collection[str], *, times: bool = False) -> bytes | None:
    """Returns a digest of everything in a folder; None if the folder has too many entries to be read.

    ``without``: paths of files that are left out. ``times``: True to compare the times of files too.
    """
    digest, read = blake2b(digest_size=16), 0
    for number, entry in enumerate(_entries(path)):
        if number >= _MOST_ENTRIES:
            return None
        if entry.path in without:
            continue
        digest.update(f"{entry.path.removeprefix(path)}\0".encode("utf-8", "surrogateescape"))
        digest.update(description_of(entry.path, times=times and not entry.is_dir()))
        try:
            if entry.is_dir(follow_symlinks=False):
                continue
            known = entry.stat()
            if known.st_size <= _LARGEST and read < _MOST_BYTES:
                read += known.st_size
                content = Path(entry.path).read_bytes() if entry.is_file() else b""
            else:
                content = f"{known.st_size} {known.st_mtime_ns}".encode()
        except OSError:  # the file was removed in the meantime, or may not be read
            content = b"none"
        digest.update(b"%d %s" % (len(content), content))
    return digest.digest()


def _entries(path: str) -> Iterator[os.DirEntry[str]]:
    """Yields the entries of a folder and of the folders in it. They are sorted, so that the order is
    always the same."""
    try:
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda each: each.name)
    except OSError:  # there is no such folder, or it may not be read
        return
    for each in entries:
        yield each
        if each.is_dir(follow_symlinks=False) and each.name not in _OF_PYTHON:
            yield from _entries(each.path)
