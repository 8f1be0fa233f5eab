"""This module describes files, so that two descriptions differ if a file was changed in between."""

import sqlite3
from contextlib import closing
from hashlib import blake2b
from itertools import islice
from pathlib import Path

_LARGEST = 1_000_000
"""The size in bytes of the largest file that is compared by content. Larger files are compared by their
size and the time of their last change."""
_MOST_LINES = 100_000
"""The maximum number of SQL statements that are compared for a database in shared memory. These
statements would create the database's content."""


def is_shared_memory(database: str) -> bool:
    """Returns True for a SQLite database in memory that several connections may open by its name."""
    is_shared = "cache=shared" in database and "memory" in database
    return database.startswith("file:") and (is_shared or "vfs=memdb" in database)


def _of_memory(database: str) -> bytes:
    """Returns a digest of the content of a database in shared memory."""
    digest = blake2b(digest_size=16)
    try:
        with closing(sqlite3.connect(database, uri=True, timeout=0)) as connection:
            for line in islice(connection.iterdump(), _MOST_LINES):
                digest.update(line.encode("utf-8", "surrogatepass"))
    except sqlite3.Error:  # another run is writing to the database
        return b"in use"
    return digest.digest()


def content_of(path: str) -> bytes:
    """Returns a digest of the file or folder at ``path``. Two digests differ if the file or folder was
    changed in between. The digest of a folder is made of the names in the folder. The digest of a file is
    made of the file's content, and for a database also of its write-ahead log. A missing file has a
    digest too."""
    if is_shared_memory(path):
        return _of_memory(path)
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


def description_of(path: str, *, times: bool) -> bytes:
    """Returns what a command may find out about a file without reading its content: its mode, and the
    target of a link. ``times``: True to add the time of the last change."""
    file = Path(path)
    try:
        known = file.lstat()
        told = str(file.readlink()) if file.is_symlink() else ""
        mode = file.stat().st_mode if file.exists() else 0
    except OSError:  # the file does not exist, or may not be read
        return b"none"
    changed = known.st_mtime_ns if times else 0
    return f"{known.st_mode} {mode} {changed} {told}".encode("utf-8", "surrogateescape")
