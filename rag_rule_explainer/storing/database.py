"""This module connects to the database of one address, with the settings that a store needs."""

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
"""The device and the inode of a file, which identify it whatever its path."""

BUSY_SECONDS = 30.0
"""The seconds for which an obstacle is waited for, such as another writer or a restarting server."""
RESETS = 8
"""The number of times that work is repeated after a broken connection, before any answer was paid for."""
OUTSIDE_OPTIONS: dict[str, Any] = {"outside": True}
"""The options of a connection to SQLite without a transaction, which waits for no writer."""
_BUSY = 5_000
_PRAGMAS = (
    # Every commit is on the disk and survives a power failure; the second setting is for macOS.
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",
)
_SESSION = (
    "SET synchronous_commit = on",
    "SET lock_timeout = '10s'",
    # Without statistics, the planner would scan a whole table to find a few keys.
    "SET enable_seqscan = off",
    # A scan that is needed anyway would look so expensive that the server would compile it first.
    "SET jit = off",
)
_SERVER_TIME = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS float8)"


class Database:
    """This class makes connections to one database. ``ahead``: the seconds by which its clock is ahead of
    this machine's, set by the first connection."""

    def __init__(self, address: Address) -> None:
        self.shown = address.shown
        self.ahead = 0.0
        self.hot: HotStatements = cast("Any", sqlite if address.dialect == "sqlite" else postgres)
        self._address = address
        # The path is absolute, because the current folder may change.
        self._path = os.path.abspath(address.target) if address.dialect == "sqlite" else ""  # noqa: PTH100
        self._file: File | None = None
        self._engine = _engine(address)

    @property
    def now(self) -> float:
        """The time by the database's clock, in seconds since 1970."""
        return time.time() + self.ahead

    def presence(self) -> Presence | None:
        """Returns the lock that shows other processes at the database; None if there is no such lock.

        A server may have connection poolers in front of it, so no session lock can stand for one process.
        """
        return Presence(self._address.identity) if self._address.dialect == "sqlite" else None

    def connect(self) -> Connection:
        """Returns a connection for one thread. Raises the errors of SQLAlchemy."""
        connection = self._engine.connect()
        if self._address.dialect == "postgresql":
            sent = time.time()
            server_time = connection.exec_driver_sql(_SERVER_TIME).scalar_one()
            self.ahead = float(server_time) - (sent + time.time()) / 2
            connection.rollback()
        return connection

    def prepare(self, *, make: bool = True) -> None:
        """Makes the file and the tables if they do not exist. Raises StoreFailed. ``make=False``: raises
        StoreFailed if they do not exist."""
        with self.as_store_failed():
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
        """Checks that the file is still the one that was opened. Raises StoreFailed. SQLite goes on
        writing to a deleted file, which is then lost. Takes microseconds."""
        if self._file is not None and file_at(self._path) != self._file:
            raise gone(self.shown)

    @contextmanager
    def as_store_failed(self) -> Generator[None, None, None]:
        """Turns every error inside into a StoreFailed, except errors of this package. It catches all
        errors, since a damaged file makes drivers raise any error."""
        try:
            yield
        except RagRuleError:
            raise
        except Exception as error:
            raise failed(self.shown, error) from error

    def decoded(self, decode: Callable[..., Result], content: object, *key: str) -> Result:
        """Returns a column, decoded with the key of its row. Raises StoreFailed if it is corrupted."""
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
        # This mode allows readers beside one writer; it is stored in the file.
        with self.connect() as connection:
            connection.execution_options(**OUTSIDE_OPTIONS).exec_driver_sql("PRAGMA journal_mode = WAL")


def file_at(path: str) -> File | None:
    """Returns the identity of the file at the path; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 -- called for every transaction, and Path is slower
    except OSError:
        return None
    return found.st_dev, found.st_ino


def patiently(
    work: Callable[[], Result],
    is_worth_waiting_for: Callable[[Exception], bool] = may_pass,
    *,
    resets: int = 0,
) -> Result:
    """Returns the result of the work, which is repeated for a while after failures that may pass.

    ``resets``: the largest number of repetitions after a broken connection; only for work that may be
    done twice.
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
        # A Unix socket needs no TLS, and pg8000's default SSL context is slow to make.
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
    # This keeps the driver from beginning transactions itself.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {_BUSY}")
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _begin(connection: Connection) -> None:
    if not connection.get_execution_options().get("outside"):
        sqlite.begin(connection)


def _linked(_dialect: object, _record: object, arguments: list[Any], named: dict[str, Any]) -> Any:
    from .link import Link  # imported here, because the driver may not be installed

    return Link(*arguments, **named)


def _set_session(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for statement in _SESSION:
        cursor.execute(statement)
    cursor.close()
    connection.commit()


def _make_file(path: Path) -> None:
    """Makes the file and its folders; only the user can read the file, from its first moment on."""
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    # Reading is enough here: a file without write permission fails at the first write.
    os.close(os.open(path, os.O_RDONLY | os.O_CREAT, 0o600))
