"""This module reads the settings of a SQLite connection, and which databases and tables it has."""

import sqlite3
from typing import Any

_PRAGMAS = (
    *("user_version", "application_id", "foreign_keys", "query_only", "recursive_triggers"),
    "temp.schema_version",
)
"""The settings (PRAGMA) of a SQLite connection that are read."""
_OWN = frozenset({"main", "temp"})
"""The databases that every connection has."""


def settings_of_connection(connection: sqlite3.Connection) -> object:
    """Returns the settings of a SQLite connection, the SQL functions that were defined for it, and the
    databases that were attached to it."""
    set_for_it = [answer_to(connection, name) for name in _PRAGMAS]
    made = connection.execute("SELECT name, narg FROM pragma_function_list WHERE NOT builtin")
    attached = [name for name in _databases(connection) if name not in _OWN]
    known = sorted(made.fetchall()), connection.row_factory, connection.text_factory
    return set_for_it, *known, attached


def answer_to(connection: sqlite3.Connection, pragma: str) -> list[Any]:
    """Returns the rows that a connection gives for a setting."""
    return connection.execute(f"PRAGMA {pragma}").fetchall()


def state_of_rows(connection: sqlite3.Connection) -> object:
    """Returns a value that changes whenever rows are written by a connection, and whenever a table is
    made or changed in one of its databases; None if the connection is closed."""
    try:
        return connection.total_changes, connection.isolation_level, _schemas(connection)
    except sqlite3.Error:
        return None


def _schemas(connection: sqlite3.Connection) -> object:
    try:
        return [(name, _plain(connection, f'"{name}".schema_version')) for name in _databases(connection)]
    except sqlite3.Error:  # the connection belongs to another thread, or its database is locked
        return None


def _databases(connection: sqlite3.Connection) -> list[str]:
    return [str(name) for _, name, _ in _plain(connection, "database_list")]


def _plain(connection: sqlite3.Connection, pragma: str) -> list[Any]:
    """Returns the rows for a setting as tuples, whatever the user's code makes of rows."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor.execute(f"PRAGMA {pragma}").fetchall()
