"""Connections to the database of one address, set up as a store needs them."""

import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from ..errors import MissingExtra, RagRuleError, StoreFailed
from . import postgres, sqlite
from .address import Address
from .encoding import Corrupted
from .failures import corrupted, failed, gone, is_reset, may_pass
from .file_lock import Presence
from .rows import HotStatements
from .schema import migrate, version_of

Result = TypeVar("Result")
File: TypeAlias = tuple[int, int]
"""Says which file it is, whatever its path."""

BUSY_SECONDS = 30.0
"""Seconds for which what is in the way is waited for: another writer, or a server that restarts."""
RESETS = 8
"""How often work is done again where the connection to the server broke, before anything was paid."""
OUTSIDE_OPTIONS: dict[str, Any] = {"outside": True}
"""Options of a connection to SQLite that is to begin no transaction: it waits for no writer."""
_BUSY = 5_000
_PRAGMAS = (
    # Every commit is on the disk, and no power failure takes it back; the second is for macOS.
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",
)
_SESSION = (
    "SET synchronous_commit = on",
    "SET lock_timeout = '10s'",
    # Without statistics the planner would read a table of any size to find a few keys.
    "SET enable_seqscan = off",
    # Where a table has to be read all the same, that looks so expensive that it would be compiled first.
    "SET jit = off",
)
_SERVER_TIME = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS float8)"


class Database:
    """Connections to one database.

    ``ahead``: by how many seconds its clock is ahead of this machine's, known once it was connected to.
    """

    def __init__(self, address: Address) -> None:
        self.shown = address.shown
        self.ahead = 0.0
        self.hot: HotStatements = cast("Any", sqlite if address.dialect == "sqlite" else postgres)
        self._address = address
        # Absolute, because the current folder may change.
        self._path = os.path.abspath(address.target) if address.dialect == "sqlite" else ""  # noqa: PTH100
        self._file: File | None = None
        self._engine = _engine(address)

    @property
    def now(self) -> float:
        """Returns the time by the database's clock, in seconds since 1970."""
        return time.time() + self.ahead

    def presence(self) -> Presence | None:
        """Says who else is there, for one writer; None where that cannot be known.

        A server has many users, and poolers in front of it, behind which no session is anybody's.
        """
        return Presence(self._address.identity) if self._address.dialect == "sqlite" else None

    def connect(self) -> Connection:
        """Returns a connection, to be used by one thread. Raises what SQLAlchemy raises."""
        connection = self._engine.connect()
        if self._address.dialect == "postgresql":
            asked = time.time()
            told = connection.exec_driver_sql(_SERVER_TIME).scalar_one()
            self.ahead = float(told) - (asked + time.time()) / 2
            connection.rollback()
        return connection

    def prepare(self, *, make: bool = True) -> None:
        """Makes the file and the tables where there are none yet. Raises StoreFailed.

        ``make=False``: where there are none, that is an error.
        """
        with self.told():
            if self._address.dialect == "sqlite":
                path = Path(self._address.target)
                if not make and not path.exists():
                    raise StoreFailed(f"there is no store {self.shown}; check the path")
                _make_file(path)
            patiently(partial(self._migrate, make=make), resets=RESETS)
            if self._address.dialect == "sqlite":
                patiently(self._write_ahead)
                self._file = file_at(self._path)

    def check_there(self) -> None:
        """Makes sure that the file is the one that was opened. Raises StoreFailed.

        Whoever deletes a file that is open notices nothing, and neither does SQLite, which writes on to
        what nobody will ever find. Takes microseconds.
        """
        if self._file is not None and file_at(self._path) != self._file:
            raise gone(self.shown)

    @contextmanager
    def told(self) -> Generator[None, None, None]:
        """What is raised inside becomes a StoreFailed, but for errors of this package.

        Whatever it is: of a damaged file, drivers raise any error there is.
        """
        try:
            yield
        except RagRuleError:
            raise
        except Exception as error:
            raise failed(self.shown, error) from error

    def decoded(self, decode: Callable[..., Result], content: object, *key: str) -> Result:
        """Returns what ``decode`` makes of a column, and of the key of its row. Raises StoreFailed where
        it is corrupted."""
        try:
            return decode(content, *key)
        except Corrupted as error:
            raise corrupted(self.shown, str(error)) from error

    def _migrate(self, *, make: bool) -> None:
        with self.connect() as connection, connection.begin():
            if not make and version_of(connection, self.shown) is None:
                raise StoreFailed(f"there is no store at {self.shown}; check the url")
            migrate(connection, self.shown)

    def _write_ahead(self) -> None:
        # Readers and one writer at once; stays with the file.
        with self.connect() as connection:
            connection.execution_options(**OUTSIDE_OPTIONS).exec_driver_sql("PRAGMA journal_mode = WAL")


def file_at(path: str) -> File | None:
    """Which file is at the path; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 -- for every transaction, and a Path takes twice as long
    except OSError:
        return None
    return found.st_dev, found.st_ino


def patiently(
    work: Callable[[], Result],
    is_worth_waiting_for: Callable[[Exception], bool] = may_pass,
    *,
    resets: int = 0,
) -> Result:
    """Does the work, again and again for a while where something passing is in the way.

    ``resets``: how often at the most it is done again where a connection broke, which is only for work
    that may be done twice.
    """
    until, pause = time.monotonic() + BUSY_SECONDS, 0.02
    while True:
        try:
            return work()
        except Exception as error:
            is_again = is_worth_waiting_for(error) or (resets > 0 and is_reset(error))
            resets -= is_reset(error)
            if not is_again or time.monotonic() > until:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 1.0)


def _engine(address: Address) -> Engine:
    if address.dialect == "sqlite":
        return _sqlite_engine(address)
    if find_spec(address.driver) is None:
        if address.driver == "pg8000":
            raise MissingExtra.naming("postgres", f"the store {address.shown}")
        raise MissingExtra(f"the store {address.shown} needs: pip install {address.driver}")
    try:
        url = make_url(address.target)
        # A Unix socket needs no TLS, and building pg8000's default SSL context is slow: turn it off.
        plain = address.driver == "pg8000" and "unix_sock" in url.query
        arguments = {"ssl_context": False} if plain else {}
        engine = create_engine(url, poolclass=NullPool, connect_args=arguments)
        if address.driver == "pg8000":
            event.listen(engine, "do_connect", _linked)
    except (SQLAlchemyError, ValueError, TypeError) as error:
        raise StoreFailed(
            f"the url of the store {address.shown} cannot be read; write special characters in its "
            "password as %40 and the like"
        ) from error
    event.listen(engine, "connect", _set_session)
    return engine


def _sqlite_engine(address: Address) -> Engine:
    url = URL.create("sqlite+pysqlite", database=address.target)
    engine = create_engine(url, poolclass=NullPool, connect_args={"check_same_thread": False})
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _begin)
    return engine


def _set_pragmas(connection: Any, _record: Any) -> None:
    # The driver begins no transactions of its own accord.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {_BUSY}")
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _begin(connection: Connection) -> None:
    if not connection.get_execution_options().get("outside"):
        sqlite.begin(connection)


def _linked(_dialect: object, _record: object, arguments: list[Any], named: dict[str, Any]) -> Any:
    from .link import Link  # here, because the driver may not be installed

    return Link(*arguments, **named)


def _set_session(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for statement in _SESSION:
        cursor.execute(statement)
    cursor.close()
    connection.commit()


def _make_file(path: Path) -> None:
    """Makes the file, which nobody else can read from its first moment on, and the folders to it."""
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    # Opened for reading only: what may not be written is found out by writing.
    os.close(os.open(path, os.O_RDONLY | os.O_CREAT, 0o600))
