"""This module wraps the connection of pg8000, so that a broken network always raises an error of pg8000.

If the network breaks, pg8000 itself may raise any error, for example while it reads half a message.
SQLAlchemy does not recognise such an error as a lost connection. SQLAlchemy then keeps using the
connection, and prints a traceback when it cannot close the connection.
"""

import contextlib
import struct
from typing import Any

import pg8000.dbapi  # pyright: ignore[reportMissingTypeStubs] -- this package has no stubs

_driver: Any = pg8000.dbapi
_Connection: Any = _driver.Connection
_HALF_READ = (OSError, EOFError, LookupError, struct.error)
_NO_LONGER_OPEN = (AttributeError, ValueError)
"""The errors that pg8000 and Python's files raise if a connection is used after it was closed."""


class Link(_Connection):
    """A ``Link`` is a connection to PostgreSQL that raises only errors of pg8000. If the network is
    broken, the error's text is "network error". Closing a ``Link`` raises no error, even if the server
    cannot be reached."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._sock = self._usock = None
        try:
            _Connection.__init__(self, *arguments, **named)
        except _HALF_READ as error:
            self.close()
            raise _driver.InterfaceError("network error") from error

    def handle_messages(self, context: Any) -> None:
        """Reads the messages of the server until it is ready for the next statement. Raises only errors
        of pg8000."""
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
        """Rolls back the transaction. Raises no error if the connection is broken, because the server
        then rolls back by itself."""
        with contextlib.suppress(_driver.InterfaceError):
            _Connection.rollback(self)

    def close(self) -> None:
        """Closes the connection. Informs the server, if the server can be reached."""
        file = self._sock
        with contextlib.suppress(_driver.Error, OSError, *_NO_LONGER_OPEN):
            _Connection.close(self)
        # The socket's file is closed too. An open file would try to send the rest of its buffer when it
        # is garbage-collected, and fail.
        if file is not None:
            with contextlib.suppress(OSError, ValueError):
                file.close()

    @property
    def _is_open(self) -> bool:
        return self._sock is not None and not self._sock.closed
