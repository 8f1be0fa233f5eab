"""This module finds out whether files have another content than before a run wrote them."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path

_LARGEST = 1_000_000
"""The size in bytes of the largest file that is compared by content. Larger files are compared by their
size and the time of their last change."""
_MOST_LINES = 100_000
"""The most lines of a database in shared memory that are compared."""
_MOST_WRITTEN = 5000
"""The most files that are compared with what they were before runs wrote them."""
_NOTHING = blake2b(b"none" * 2, digest_size=16).digest()
"""This digest is what ``content_of`` returns for a path where there is nothing."""


@dataclass(slots=True, eq=False)
class WrittenFiles:
    """A ``WrittenFiles`` stores what was in files and folders before runs wrote them."""

    _before: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def note(self, path: str) -> None:
        """Stores what is there, unless it was noted before. A run is about to write it."""
        if len(self._before) < _MOST_WRITTEN and path not in self._before:
            self._before[path] = content_of(path)

    def changed(self) -> dict[str, bool]:
        """Returns the files and folders that have changed. The values are True for those that were made
        or removed."""
        now = {path: content_of(path) for path in self._before}
        return {
            path: _NOTHING in (was, now[path]) for path, was in self._before.items() if was != now[path]
        }


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
    except sqlite3.Error:  # another run is writing to it
        return b"in use"
    return digest.digest()


def content_of(path: str) -> bytes:
    """Returns a digest that shows changes. For a folder, it is made of the names in it; for a file, of
    its content; for a database, also of its write-ahead log."""
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
