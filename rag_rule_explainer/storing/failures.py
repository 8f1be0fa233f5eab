"""This module turns errors of a database into errors for the user, with advice. It also decides after
which errors a retry may succeed."""

import sqlite3
from typing import Any, cast

from sqlalchemy.exc import DBAPIError

from ..errors import StoreFailed
from ..printable import printable, shortened

_ADVICE = (
    ("is not a database", "give a file that is a store, or one that is not there yet"),
    ("malformed", "restore the file from a copy, or give another one"),
    ("no UTF-8", "restore the file from a copy, or give another one"),
    ("Could not decode", "restore the file from a copy, or give another one"),
    ("no such", "restore the file from a copy, or give another one"),
    ("readonly", "make the file and its folder writable, or give another one"),
    ("read-only", "connect to a server that takes writes"),
    ("Is a directory", "name a file in it, such as answers.db"),
    ("unable to open", "check the path and the rights to its folder"),
    ("Permission denied", "check the rights to the path, or give another one"),
    ("is full", "free some space"),
    ("No space left", "free some space"),
    ("locked", "see what else uses it for so long"),
    ("lock timeout", "see what else uses it for so long"),
    ("authentication", "check the user and the password"),
    ("permission denied", "grant the user the right to make and change tables there"),
    ("does not exist", "check the names of the user and the database in its url"),
    ("communication error", "check that the server is up and that its url is right"),
    ("create a connection", "check that the server is up and that its url is right"),
    ("Connection refused", "check that the server is up and that its url is right"),
    # If the server refuses a user or a database, it may close the connection before the client has read
    # the server's message. The program then sees only a network error. So the advice for network errors
    # also mentions the user and the database.
    (
        "network error",
        "check that the server is up, and the names of the user and the database in its url",
    ),
    ("connection", "check that the server is up"),
)
_PASSING = {"40001", "40P01", "55P03", "57P01", "57P02", "57P03"}
"""PostgreSQL's codes for errors after which a retry may succeed: a serialisation failure, a deadlock, a
lock timeout, and a server that is restarting."""


def failed(shown: str, error: BaseException) -> StoreFailed:
    """Returns the error for the user, which names the store, says what failed, and gives advice.
    ``shown``: the path or URL of the store, without a password."""
    if isinstance(error, StoreFailed):
        return error
    said = message(error)
    advised = next((advice for sign, advice in _ADVICE if sign in said), "see that it is in order")
    return StoreFailed(f"the store {shown} cannot be used: {shortened(printable(said), 300)}; {advised}")


def may_pass(error: Exception) -> bool:
    """Returns True iff the work failed because another process held a lock or was writing, or because the
    server is restarting. A retry may then succeed."""
    if isinstance(error, DBAPIError):
        return _state(error.orig) in _PASSING or _is_locked(error)
    return isinstance(error, sqlite3.Error) and _is_locked(error)


def is_broken(error: Exception) -> bool:
    """Returns True iff the connection broke, or no connection could be made. ``is_reset`` is stricter: it
    returns False if no connection could be made."""
    if not isinstance(error, DBAPIError):
        return False
    signs = ("create a connection", "communication error", "network error", "Connection refused")
    return error.connection_invalidated or any(sign in message(error) for sign in signs)


def is_reset(error: Exception) -> bool:
    """Returns True iff a connection was made and then broke. Returns False for a refused connection, so
    that a wrong URL is reported at once, not after many retries."""
    broke = isinstance(error, DBAPIError) and error.connection_invalidated
    return broke or (isinstance(error, DBAPIError) and "network error" in message(error))


def _is_locked(error: Exception) -> bool:
    return any(sign in message(error) for sign in ("is locked", "is busy"))


def message(error: BaseException) -> str:
    """Returns the message of the driver's error. The statement and its parameters are left out,
    because they may contain answers."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if isinstance(cause, UnicodeError):
        return "it holds a text that is no UTF-8"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    said: Any = cause.args[0] if cause.args else type(cause).__name__
    if isinstance(said, dict):  # pg8000 gives a dict, whose key "M" has the text
        said = cast("dict[str, Any]", said).get("M", said)
    return str(said).strip() or type(cause).__name__


def _state(error: BaseException | None) -> str:
    if error is None:
        return ""
    said: Any = error.args[0] if error.args else None
    fields = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
    return str(fields.get("C") or getattr(error, "sqlstate", "") or "")


def corrupted(shown: str, what: str) -> StoreFailed:
    """Returns the error for a row with content that this package has not written. ``shown``: the path or
    URL of the store. ``what``: the fault of the content in words."""
    return StoreFailed(
        f"the store {shown} has a row with {printable(what)}; restore it from a copy, prune the "
        "namespace (rag-rules store prune), or give another store"
    )


def gone(shown: str) -> StoreFailed:
    """Returns the error for a store whose file was deleted, moved or replaced while it was in use."""
    return StoreFailed(
        f"the file of the store {shown} was deleted, moved or replaced while it was in use, so what was "
        "paid since then is not kept; put it back, or ask again, which makes a new one"
    )
