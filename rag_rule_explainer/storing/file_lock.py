"""This module provides the lock by which processes that use the same SQLite file notice each other.

The lock is on a separate file beside the database, because a lock on the database itself might conflict
with the locks of SQLite. Nobody must delete that file: processes that use the deleted file and a new one
would not notice each other.
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
    exclusive if no other process uses the database, else shared. ``database``: the path of the database.

    If one process has the exclusive lock, another process that needs the database makes the lock's file
    one byte longer. This asks the first process to give up the exclusive lock. The first process checks
    the length of the file regularly. On a system without such locks, as on Windows, no process ever gets
    the exclusive lock.
    """

    def __init__(self, database: str) -> None:
        self._database = Path(database)
        self._path = Path(database + _SUFFIX)
        self._file: int | None = None
        self._inode = (0, 0)

    def try_alone(self) -> bool:
        """Takes the exclusive lock if no other process has any lock on the database. Returns True iff
        this process now has it. Does not wait."""
        if _locks is None or not self._locked(_locks.LOCK_EX):
            return False
        os.ftruncate(self._opened(), 0)
        return True

    def try_among(self) -> bool:
        """Takes a shared lock and returns True. If another process has the exclusive lock, asks it to
        give the lock up, and returns False; the caller must then try again. Does not wait."""
        if _locks is None or self._locked(_locks.LOCK_SH):
            return True
        os.write(self._opened(), b"?")
        return False

    def is_asked_for(self) -> bool:
        """Returns True iff another process may have asked this process to give up its exclusive lock."""
        try:
            found = self._path.stat()
        except OSError:
            return True
        # If the lock's file was deleted and made anew, other processes use the new file and do not see
        # this lock. This counts as a request, so that this process takes a lock on the new file.
        return found.st_size > 0 or (found.st_dev, found.st_ino) != self._inode

    def leave(self) -> None:
        """Gives the lock back. If a forked child calls this, the parent still has the lock."""
        # The file is closed instead of unlocked: unlocking it in a forked child would take the lock from
        # the parent too.
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _locked(self, kind: int) -> bool:
        """Tries to take an exclusive or a shared lock (``kind``), without waiting. Returns True iff the
        lock was taken, and the path still leads to its file. If the system has no such locks, returns
        True for a shared lock and False for an exclusive one."""
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
        """Returns True if the path still leads to the open file. Otherwise the lock on that file is
        useless: closes the file, so that the next attempt opens the new one, and returns False."""
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
        """Gives the lock's file the permissions of the database, so that each user who may open the
        database can also open the lock's file. ``mode``: the present permissions of the lock's file."""
        # The call fails if the file belongs to a different user. This does no harm, because that user has
        # set the permissions.
        with contextlib.suppress(OSError):
            database = self._database.stat().st_mode
            if mode != database:
                os.fchmod(file, database & 0o777)
