"""Which tables the SQL that stands in an application's code writes, and which it reads."""

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
    """``written``, ``read``: names of tables; an empty one where the name is put in later."""

    written: frozenset[str]
    read: frozenset[str]

    @classmethod
    def among(cls, texts: Iterable[str]) -> "Statements":
        """Returns what the statements among these texts say."""
        written, read = set[str](), set[str]()
        for text in texts:
            if len(text) > 5000:
                continue
            written.update(found.group(1).lower() for found in _WRITTEN.finditer(text))
            read.update("".join(filter(None, found.groups())).lower() for found in _READ.finditer(text))
        return cls(frozenset(written), frozenset(read))

    @property
    def any(self) -> bool:
        """Returns True iff there are any."""
        return bool(self.written or self.read)

    @property
    def both(self) -> str:
        """Returns a table that is written and read; empty for none."""
        if "" in self.read and self.written:
            return min(self.written)
        return min(self.written & self.read, default="")
