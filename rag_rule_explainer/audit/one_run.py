"""This module keeps two runs of an audit from using the same folder at the same time. Otherwise each run
would know only its own spending since its beginning, and would overwrite the count of the other run."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InvalidInput

try:
    import fcntl as _fcntl
except ImportError:  # This is Windows, where two runs do not notice each other.
    _fcntl = None
_locks: Any = _fcntl


@dataclass(slots=True, eq=False)
class OneRun:
    """A ``OneRun`` locks a folder for one run. The lock ends with ``close``, or with the process. Some
    network file systems have no such lock; two runs there do not notice each other.

    Raises InvalidInput if another run has locked the folder.
    """

    folder: Path
    _file: int | None = field(init=False, default=None)
    _process: int = field(init=False, default_factory=os.getpid)

    def __post_init__(self) -> None:
        if _locks is None:
            return
        # The folder itself is locked, not a file in it, so that a run that is refused writes nothing.
        file = os.open(self.folder, os.O_RDONLY)
        try:
            _locks.flock(file, _locks.LOCK_EX | _locks.LOCK_NB)
        except BlockingIOError as error:
            os.close(file)
            raise InvalidInput(
                f"another run is auditing in {self.folder}; wait for its end, or give another folder"
            ) from error
        except OSError:
            os.close(file)
            return
        self._file = file

    def close(self) -> None:
        """Releases the lock, so that another run may use the folder. Does nothing at a second call."""
        file, self._file = self._file, None
        if file is None:
            return
        if os.getpid() == self._process:
            # A forked process of the application has the open file, too, and may live longer. Without an
            # explicit unlock, it would keep the lock.
            with suppress(OSError):
                _locks.flock(file, _locks.LOCK_UN)
        os.close(file)
