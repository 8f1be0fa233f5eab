"""The lock of a process that has a SQLite file open: on a file beside it, which must not be deleted.

Not on the database itself: SQLite has locks of its own there, and on some systems they would meet.
"""

# ruff: noqa: ARG002, D102 -- the methods are those of ``Presence``; a file needs no connection

import contextlib
import errno
import os
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

try:
    import fcntl as _fcntl
except ImportError:  # Windows, whose locks are never shared ones
    _fcntl = None
_locks: Any = _fcntl

_NONE_THERE = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)
_HELD = (errno.EWOULDBLOCK, errno.EACCES)


class FilePresence:
    """A lock on a file whose length says how often it was asked for since somebody was alone.

    Where there are no such locks, there is always somebody else.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: int | None = None
        self._inode = (0, 0)

    def try_alone(self, connection: Connection) -> bool:
        if _locks is None or not self._locked(_locks.LOCK_EX):
            return False
        os.ftruncate(self._opened(), 0)
        return True

    def try_among(self, connection: Connection) -> bool:
        if _locks is None or self._locked(_locks.LOCK_SH):
            return True
        os.write(self._opened(), b"?")
        return False

    def is_asked_for(self, connection: Connection) -> bool:
        try:
            found = os.stat(self._path)  # noqa: PTH116
        except OSError:
            return True
        # Where it was deleted and made anew, newcomers see nothing of this lock.
        return found.st_size > 0 or (found.st_dev, found.st_ino) != self._inode

    def leave(self, connection: Connection) -> None:
        self.forked()

    def lost(self) -> bool:
        return False

    def forked(self) -> None:
        # Closing is enough, and right in a child as well: it would unlock the parent's by unlocking.
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _locked(self, kind: int) -> bool:
        """True iff it has the lock now, on the file that is there now; and where nobody can have one."""
        try:
            _locks.flock(self._opened(), kind | _locks.LOCK_NB)
        except OSError as error:
            if error.errno in _NONE_THERE:
                return kind == _locks.LOCK_SH
            if error.errno not in _HELD:
                raise
            self._reopen_if_gone()
            return False
        return self._reopen_if_gone()

    def _reopen_if_gone(self) -> bool:
        """False where the file that is open is not the one that newcomers would open."""
        with contextlib.suppress(OSError):
            found = Path(self._path).stat()
            if (found.st_dev, found.st_ino) == self._inode:
                return True
        self.forked()
        return False

    def _opened(self) -> int:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            found = os.fstat(self._file)
            self._inode = found.st_dev, found.st_ino
            self._share(found.st_mode)
        return self._file

    def _share(self, mode: int) -> None:
        """Whoever may write the database is to have a lock."""
        database = Path(self._path.removesuffix(".users")).stat().st_mode
        if mode != database:
            with contextlib.suppress(OSError):  # somebody else's, who has done so
                os.fchmod(self._opened(), database & 0o777)
