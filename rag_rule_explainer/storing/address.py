"""This module reads the URL of a store, and masks the password in it for messages."""

import os
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..errors import InvalidInput
from ..late_patterns import compiled_late

Dialect: TypeAlias = Literal["sqlite", "postgresql"]

_SQLITE = ("sqlite", "sqlite+pysqlite")
_POSTGRES = {
    "postgres": "pg8000",
    "postgresql": "pg8000",
    "postgresql+pg8000": "pg8000",
    "postgresql+psycopg": "psycopg",
}
_EXPECTED = "give the path of a SQLite file, sqlite:///PATH, or postgresql://USER:PASSWORD@HOST/DATABASE"
_URL_AS_PATH = compiled_late(rf"({'|'.join(map(re.escape, (*_SQLITE, *_POSTGRES)))}):[/\\]")
_SECRET = compiled_late(r"([?&][^=&]*(?:pass|secret|token)[^=&]*=)[^&]*", re.IGNORECASE)
_CREDENTIALS = compiled_late(r"(?s)(\w+(?:\+\w+)?://[^:/@?]*):.*@")


@dataclass(frozen=True, slots=True)
class Address:
    """An ``Address`` says where the database of a store is.

    ``target``: the path of a SQLite file, or a URL for SQLAlchemy with the password. ``shown``: the path
    or URL as the user gave it, with a masked password, for messages and records.
    """

    dialect: Dialect
    driver: str
    target: str
    shown: str

    @classmethod
    def of(cls, given: str | os.PathLike[str]) -> "Address":
        """Returns the address for a URL of SQLite or PostgreSQL, or for the path of a SQLite file. Raises
        InvalidInput for a URL of another kind of database, and for anything that is neither URL nor
        path."""
        url = as_written(given)
        if not isinstance(url, str) or not url.strip():  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
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
        """Returns a text that is equal for two addresses if they lead to the same SQLite file, even by
        different paths. For PostgreSQL it is the URL."""
        return os.path.realpath(self.target) if self.dialect == "sqlite" else self.target


def as_written(given: str | os.PathLike[str]) -> str:
    """Returns a ``Path`` as a text, and anything else unchanged. Raises InvalidInput for a ``Path``
    that was made of a URL, because a ``Path`` loses one of the two slashes after the colon."""
    if not isinstance(given, os.PathLike):
        return given
    path = os.fspath(given)
    if _URL_AS_PATH.match(path):
        # The message does not show the path, because the path may contain a password.
        raise InvalidInput("the store is a Path that was made of a url; give the url itself, as a str")
    return path


def hidden(url: str) -> str:
    """Returns the URL with everything masked that may be a password. A password may contain ``@``,
    ``/`` and ``?``. So everything between the colon after the user's name and the last ``@`` is
    masked."""
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
    from pathlib import Path  # imported late, because only a search with a store needs it

    # A shell does not expand the ~ in "--store=~/answers.db", so it is expanded here.
    try:
        return str(Path(path).expanduser()) if path.startswith("~") else path
    except RuntimeError as error:
        raise InvalidInput(f"the store is {path!r}, and there is no such home folder") from error
