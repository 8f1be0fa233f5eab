"""This module finds the database tables that the SQL statements in an application's code write and
read."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NAME = r"[\"`\[]?([\w.]+)"
_WRITTEN = re.compile(
    rf"^\s*(?:insert\s+(?:or\s+\w+\s+)?into|replace\s+into|update(?:\s+or\s+\w+)?|delete\s+from)\s+{_NAME}",
    re.I,
)
_READ = re.compile(rf"\bselect\b.*?\bfrom\s+{_NAME}|\bjoin\s+{_NAME}|\breturning\b()", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Statements:
    """A ``Statements`` holds the names of the tables that SQL statements write and read. In ``read``, an
    empty name stands for a statement that reads the rows that it has just written (``RETURNING``)."""

    written: frozenset[str]
    read: frozenset[str]

    @classmethod
    def among(cls, texts: Iterable[str]) -> "Statements":
        """Returns the tables in the SQL statements among these texts. Other texts are ignored."""
        written, read = set[str](), set[str]()
        for text in texts:
            if len(text) > 5000:
                continue
            written.update(found.group(1).lower() for found in _WRITTEN.finditer(text))
            read.update("".join(filter(None, found.groups())).lower() for found in _READ.finditer(text))
        return cls(frozenset(written), frozenset(read))

    @property
    def any(self) -> bool:
        """Returns True iff there is a statement that writes or reads a table."""
        return bool(self.written or self.read)

    @property
    def both(self) -> str:
        """Returns the name of a table that is both written and read; empty if there is none. By such a
        table, one run may influence a later one."""
        if "" in self.read and self.written:
            return min(self.written)
        return min(self.written & self.read, default="")
