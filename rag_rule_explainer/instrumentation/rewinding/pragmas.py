"""This module finds the settings (PRAGMA) of a SQLite connection that the application's code reads."""

import re
from collections.abc import Iterable, Iterator

_READ = re.compile(r"(?i)\s*pragma\s+(\w+)\s*;?\s*")
_MARK = "pragma "
_LISTS_TABLES = ("sqlite_master", "sqlite_schema")
"""Tables by which code learns which tables there are."""


def pragmas_read(texts: Iterable[str]) -> Iterator[str]:
    """Yields a name for each setting that one of the SQL statements in ``texts`` reads. A statement that
    only sets a setting does not count. Code that asks which tables there are reads the number of their
    changes (``schema_version``)."""
    for each in texts:
        found = _READ.fullmatch(each)
        if found:
            yield _MARK + found[1].lower()
        if any(name in each.lower() for name in _LISTS_TABLES):
            yield _MARK + "schema_version"


def pragmas_in(named: Iterable[str]) -> list[str]:
    """Returns the settings whose names, as ``pragmas_read`` yields them, are in ``named``."""
    return sorted(each.removeprefix(_MARK) for each in named if each.startswith(_MARK))
