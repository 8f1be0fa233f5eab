"""This module holds the lock of a process that uses a SQLite file: on a file beside it, which must stay
there.

The lock is not on the database itself, where SQLite has locks of its own that might conflict.
"""

import contextlib
import errno
import os
from pathlib import Path
from typing import Any

try:
    import fcntl as _fcntl
except ImportError:  # Windows, which has no shared locks
    _fcntl = None
_locks: Any = _fcntl

_SUFFIX = ".users"
_NONE_THERE = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)
_HELD = (errno.EWOULDBLOCK, errno.EACCES)


class Presence:
    """A Presence is the lock of one process at a database.

    The length of its file counts the requests for it since a process was alone. ``database``: its path.
    Without shared locks on this system, another process is always assumed to be there.
    """

    def __init__(self, database: str) -> None:
        self._database = Path(database)
        self._path = Path(database + _SUFFIX)
        self._file: int | None = None
        self._inode = (0, 0)

    def try_alone(self) -> bool:
        """Takes the exclusive lock if no process holds any lock; returns True iff it did."""
        if _locks is None or not self._locked(_locks.LOCK_EX):
            return False
        os.ftruncate(self._opened(), 0)
        return True

    def try_among(self) -> bool:
        """Takes a shared lock, and returns True; if a process is alone, requests it from that process
        instead."""
        if _locks is None or self._locked(_locks.LOCK_SH):
            return True
        os.write(self._opened(), b"?")
        return False

    def is_asked_for(self) -> bool:
        """Returns True iff another process may be waiting for this one to give up the exclusive lock."""
        try:
            found = self._path.stat()
        except OSError:
            return True
        # Newcomers do not see this lock if its file was deleted and made again.
        return found.st_size > 0 or (found.st_dev, found.st_ino) != self._inode

    def leave(self) -> None:
        """Gives the lock back; in a forked child, leaves it to the parent."""
        # Closing does that: unlocking in a child would unlock the parent's lock too.
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _locked(self, kind: int) -> bool:
        """Returns True iff the lock is held on the current file, or if the system has no such locks."""
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
        """Returns False, and closes the file, if newcomers would open another file."""
        with contextlib.suppress(OSError):
            found = self._path.stat()
            if (found.st_dev, found.st_ino) == self._inode:
                return True
        self.leave()
        return False

    def _opened(self) -> int:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            found = os.fstat(self._file)
            self._inode = found.st_dev, found.st_ino
            self._share(self._file, found.st_mode)
        return self._file

    def _share(self, file: int, mode: int) -> None:
        """Gives the lock file the permissions of the database, so that each user of the database can open
        it."""
        with contextlib.suppress(OSError):  # another user's file, with permissions already set
            database = self._database.stat().st_mode
            if mode != database:
                os.fchmod(file, database & 0o777)
