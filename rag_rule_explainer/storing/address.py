"""Which database a store's url means, and how it is shown: never with a password."""

import os
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..errors import InvalidInput

Dialect: TypeAlias = Literal["sqlite", "postgresql"]

_SQLITE = ("sqlite", "sqlite+pysqlite")
_POSTGRES = {
    "postgres": "pg8000",
    "postgresql": "pg8000",
    "postgresql+pg8000": "pg8000",
    "postgresql+psycopg": "psycopg",
}
_EXPECTED = "give the path of a SQLite file, sqlite:///PATH, or postgresql://USER:PASSWORD@HOST/DATABASE"
_SECRET = re.compile(r"([?&][^=&]*(?:pass|secret|token)[^=&]*=)[^&]*", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(?s)(\w+(?:\+\w+)?://[^:/@?]*):.*@")


@dataclass(frozen=True, slots=True)
class Address:
    """One database: the path of a SQLite file, or a url as SQLAlchemy reads it.

    ``shown`` is the url as messages and records have it.
    """

    dialect: Dialect
    driver: str
    target: str
    shown: str

    @classmethod
    def of(cls, url: str) -> "Address":
        """Returns the address that a url, or the bare path of a SQLite file, means. Raises
        InvalidInput."""
        if not isinstance(url, str) or not url.strip():  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"the url of a store is {url!r}; {_EXPECTED}")
        scheme, separator, rest = url.partition("://")
        if not separator:
            return cls("sqlite", "pysqlite", _file(url, url), url)
        if scheme in _SQLITE:
            return cls("sqlite", "pysqlite", _file(_path(rest, url), url), url)
        if scheme not in _POSTGRES:
            raise InvalidInput(f"a store cannot be at {hidden(url)!r}; {_EXPECTED}")
        driver = _POSTGRES[scheme]
        return cls("postgresql", driver, f"postgresql+{driver}://{rest}", hidden(url))

    @property
    def identity(self) -> str:
        """Returns the same for all spellings of one SQLite file."""
        return os.path.realpath(self.target) if self.dialect == "sqlite" else self.target


def hidden(url: str) -> str:
    """Returns the url without what could be a password.

    A password may itself hold ``@``, ``/`` and ``?``, so all up to the last ``@`` is taken for one.
    """
    return _SECRET.sub(r"\1***", _CREDENTIALS.sub(r"\1:***@", url))


def _path(rest: str, url: str) -> str:
    if not rest.startswith("/"):
        raise InvalidInput(f"{url!r} names a host; a SQLite url has three slashes: sqlite:///PATH")
    if "?" in rest:
        raise InvalidInput(
            f"{url!r} has options after a '?', which a store chooses itself; leave them out"
        )
    return rest[1:]


def _file(path: str, url: str) -> str:
    if not path.strip() or path == ":memory:" or "\0" in path:
        raise InvalidInput(f"{url!r} is no file that would last; {_EXPECTED}")
    return path
