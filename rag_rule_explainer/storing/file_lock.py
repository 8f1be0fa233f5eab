"""The lock of a process that has a SQLite file open: on a file beside it, which must not be deleted.

Not on the database itself: SQLite has locks of its own there, and on some systems they would meet.
"""

import contextlib
import errno
import os
from pathlib import Path
from typing import Any

try:
    import fcntl as _fcntl
except ImportError:  # Windows, whose locks are never shared ones
    _fcntl = None
_locks: Any = _fcntl

_SUFFIX = ".users"
_NONE_THERE = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)
_HELD = (errno.EWOULDBLOCK, errno.EACCES)


class Presence:
    """This class represents a lock on a file whose length says how often it was asked for since somebody
    was alone.

    ``database``: its path. Where there are no such locks, there is always somebody else.
    """

    def __init__(self, database: str) -> None:
        self._database = Path(database)
        self._path = Path(database + _SUFFIX)
        self._file: int | None = None
        self._inode = (0, 0)

    def try_alone(self) -> bool:
        """Holds the exclusive lock, if nobody holds any."""
        if _locks is None or not self._locked(_locks.LOCK_EX):
            return False
        os.ftruncate(self._opened(), 0)
        return True

    def try_among(self) -> bool:
        """Holds a shared lock, unless somebody is alone; then says to that one that it is asked for."""
        if _locks is None or self._locked(_locks.LOCK_SH):
            return True
        os.write(self._opened(), b"?")
        return False

    def is_asked_for(self) -> bool:
        """Returns True iff somebody may be waiting for this one not to be alone any more."""
        try:
            found = self._path.stat()
        except OSError:
            return True
        # Where it was deleted and made anew, newcomers see nothing of this lock.
        return found.st_size > 0 or (found.st_dev, found.st_ino) != self._inode

    def leave(self) -> None:
        """Gives the lock back; in a forked child, lets go of it and leaves it to the parent."""
        # Closing does both: unlocking would unlock the parent's as well.
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _locked(self, kind: int) -> bool:
        """Returns True iff it has the lock now, on the file that is there now; and where nobody can have
        one."""
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
        """Returns False where the file that is open is not the one that newcomers would open."""
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
        """Give the lock file the database's permissions, so that everyone who may write the database
        can open the lock."""
        with contextlib.suppress(OSError):  # somebody else's file, who has done so
            database = self._database.stat().st_mode
            if mode != database:
                os.fchmod(file, database & 0o777)
