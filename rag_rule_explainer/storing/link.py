"""This module wraps pg8000's connection, so that it reports a broken network by an error of its own.

pg8000 lets some errors of a broken connection through: those of a socket that is read, and those that
partly received messages cause. SQLAlchemy takes these for bugs: it keeps the connection, and prints a
trace when it cannot be closed cleanly.
"""

import contextlib
import struct
from typing import Any

import pg8000.dbapi  # pyright: ignore[reportMissingTypeStubs] -- it has none

_driver: Any = pg8000.dbapi
_Connection: Any = _driver.Connection
_HALF_READ = (OSError, EOFError, LookupError, struct.error)
_NO_LONGER_OPEN = (AttributeError, ValueError)
"""The errors of pg8000 and of Python's files if a closed connection is used."""


class Link(_Connection):
    """A Link is a connection that raises only pg8000's own errors, ``network error`` if it is broken.
    Closing it sends no farewell if the server cannot be reached."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._sock = self._usock = None
        try:
            _Connection.__init__(self, *arguments, **named)
        except _HALF_READ as error:
            self.close()
            raise _driver.InterfaceError("network error") from error

    def handle_messages(self, context: Any) -> None:
        """Reads messages until the server is ready. Raises pg8000's errors."""
        try:
            _Connection.handle_messages(self, context)
        except _HALF_READ as error:
            self.close()
            raise _driver.InterfaceError("network error") from error
        except _NO_LONGER_OPEN as error:
            if self._is_open:
                raise
            raise _driver.InterfaceError("connection is closed") from error

    def rollback(self) -> None:
        """Rolls back; if the connection is broken, the server does that itself."""
        with contextlib.suppress(_driver.InterfaceError):
            _Connection.rollback(self)

    def close(self) -> None:
        """Closes the connection, and informs the server if it can be reached."""
        file = self._sock
        with contextlib.suppress(_driver.Error, OSError, *_NO_LONGER_OPEN):
            _Connection.close(self)
        # Otherwise the file would try to send its buffer when it is garbage-collected.
        if file is not None:
            with contextlib.suppress(OSError, ValueError):
                file.close()

    @property
    def _is_open(self) -> bool:
        return self._sock is not None and not self._sock.closed
