"""The lock of a process that is connected to PostgreSQL: an advisory one, of the session."""

# ruff: noqa: D102 -- the methods are those of ``Presence``

from sqlalchemy import Connection

_SPACE = 724_186_031
_HERE = f"{_SPACE}, hashtext(current_schema())"
_DOOR = f"{_SPACE + 1}, hashtext(current_schema())"
_ALONE = f"SELECT pg_try_advisory_lock({_HERE})"
_AMONG = f"SELECT pg_try_advisory_lock_shared({_HERE})"
_WAIT = f"SELECT pg_try_advisory_lock_shared({_DOOR})"
_GO_IN = f"SELECT pg_advisory_unlock_shared({_DOOR})"
_NOBODY = (
    f"SELECT CASE WHEN pg_try_advisory_lock({_DOOR}) THEN pg_advisory_unlock({_DOOR}) ELSE false END"
)
_LEAVE = "SELECT pg_advisory_unlock_all()"


class ServerPresence:
    """Two locks: on being there, and on the door, which all who wait to come in share."""

    def __init__(self) -> None:
        self._waits = False

    def try_alone(self, connection: Connection) -> bool:
        return _told(connection, _ALONE)

    def try_among(self, connection: Connection) -> bool:
        if _told(connection, _AMONG):
            if self._waits:
                self._waits = not _told(connection, _GO_IN)
            return True
        # Who looks holds it for a moment; then it is had the next time.
        self._waits = self._waits or _told(connection, _WAIT)
        return False

    def is_asked_for(self, connection: Connection) -> bool:
        return not _told(connection, _NOBODY)

    def leave(self, connection: Connection) -> None:
        self._waits = False
        connection.exec_driver_sql(_LEAVE)
        connection.rollback()

    def lost(self) -> bool:
        self._waits = False
        return True

    def forked(self) -> None:
        """Nothing: the connection is the parent's."""


def _told(connection: Connection, question: str) -> bool:
    told = bool(connection.exec_driver_sql(question).scalar_one())
    connection.rollback()  # which takes no lock of a session back
    return told
