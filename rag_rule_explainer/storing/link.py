"""A pg8000 connection that says so itself when the way to its server is broken.

pg8000 lets some of what a broken connection raises through as it is: what a socket raises while it is
read, and what becomes of messages of which only a part arrived. SQLAlchemy takes these for bugs: it keeps
the connection, and prints a trace when it cannot be closed politely.
"""

import contextlib
import struct
from typing import Any

import pg8000.dbapi  # pyright: ignore[reportMissingTypeStubs] -- it has none

_driver: Any = pg8000.dbapi
_Connection: Any = _driver.Connection
_HALF_READ = (OSError, EOFError, LookupError, struct.error)
_NO_LONGER_OPEN = (AttributeError, ValueError)
"""Raised by pg8000 and by Python's files where a connection is used that was closed."""


class Link(_Connection):
    """This class represents a connection whose errors are pg8000's own, ``network error`` where it is
    broken.

    What would be said to the server in parting is left out where it cannot be said.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._sock = self._usock = None
        try:
            _Connection.__init__(self, *arguments, **named)
        except _HALF_READ as error:
            self.close()
            raise _driver.InterfaceError("network error") from error

    def handle_messages(self, context: Any) -> None:
        """Reads until the server is ready for more. Raises pg8000's errors."""
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
        """Rolls back; a server to which the connection is broken does so of its own accord."""
        with contextlib.suppress(_driver.InterfaceError):
            _Connection.rollback(self)

    def close(self) -> None:
        """Closes the connection, politely where that is possible."""
        file = self._sock
        with contextlib.suppress(_driver.Error, OSError, *_NO_LONGER_OPEN):
            _Connection.close(self)
        # Else it would try to send what is left in it when it is forgotten.
        if file is not None:
            with contextlib.suppress(OSError, ValueError):
                file.close()

    @property
    def _is_open(self) -> bool:
        return self._sock is not None and not self._sock.closed
