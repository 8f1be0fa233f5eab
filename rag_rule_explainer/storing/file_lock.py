"""This module provides a lock by which processes that use the same SQLite file notice each other.

The lock is on a separate file beside the database, and that file must not be deleted. A lock on the
database itself might conflict with the locks of SQLite.
"""

import contextlib
import errno
import os
from pathlib import Path
from typing import Any

try:
    import fcntl as _fcntl
except ImportError:  # This is Windows, which has no shared locks.
    _fcntl = None
_locks: Any = _fcntl

_SUFFIX = ".users"
_NONE_THERE = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)
_HELD = (errno.EWOULDBLOCK, errno.EACCES)


class Presence:
    """A ``Presence`` is the lock by which one process shows that it uses a database. The lock is
    exclusive if no other process uses the database, else shared.

    ``database``: the path of the database. A process that needs the database while another one has the
    exclusive lock makes the lock's file one byte longer. The process with the exclusive lock checks the
    length regularly. If the system has no shared locks, no process ever gets the exclusive lock.
    """

    def __init__(self, database: str) -> None:
        self._database = Path(database)
        self._path = Path(database + _SUFFIX)
        self._file: int | None = None
        self._inode = (0, 0)

    def try_alone(self) -> bool:
        """Takes the exclusive lock if no other process has a lock. Returns True iff this process now
        has it."""
        if _locks is None or not self._locked(_locks.LOCK_EX):
            return False
        os.ftruncate(self._opened(), 0)
        return True

    def try_among(self) -> bool:
        """Takes a shared lock and returns True. If another process has the exclusive lock, asks that
        process to give it up, and returns False."""
        if _locks is None or self._locked(_locks.LOCK_SH):
            return True
        os.write(self._opened(), b"?")
        return False

    def is_asked_for(self) -> bool:
        """Returns True iff another process may be waiting until this process gives up the exclusive
        lock."""
        try:
            found = self._path.stat()
        except OSError:
            return True
        # If the file was deleted and made anew, other processes use the new file and do not see this
        # lock.
        return found.st_size > 0 or (found.st_dev, found.st_ino) != self._inode

    def leave(self) -> None:
        """Gives the lock back. In a forked child, the parent keeps its lock."""
        # The file is closed instead of unlocked: unlocking it in a forked child would take the lock from
        # the parent too.
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _locked(self, kind: int) -> bool:
        """Tries to take a lock of this kind, without waiting. Returns True iff the lock was taken and
        its file is still the one at the path. If the system has no such locks, returns True for a
        shared lock."""
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
        """Returns True if the path still leads to the open file. Otherwise closes the open file and
        returns False."""
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
        """Gives the lock's file the permissions of the database. Each user who may open the database
        can then open it as well."""
        # The call fails if the file belongs to another user. That user has then set the permissions.
        with contextlib.suppress(OSError):
            database = self._database.stat().st_mode
            if mode != database:
                os.fchmod(file, database & 0o777)
