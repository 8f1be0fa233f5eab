"""This module connects to the database of a store, with the settings that the store needs."""

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
"""The device and the inode of a file. If they change, the path leads to a different file."""

BUSY_SECONDS = 30.0
"""Work that fails for a passing reason, such as another process that writes or a server that restarts, is
tried again for this number of seconds. After that, the error is raised."""
RESETS = 8
"""The number of times that work is tried again after its connection broke. The first attempt may have
succeeded before the connection broke, so this is only for work that may be done twice."""
OUTSIDE_OPTIONS: dict[str, Any] = {"outside": True}
"""Options for a connection to SQLite that begins no transaction. Without a transaction, reading never
waits for another process that writes. Some statements also need such a connection, because SQLite refuses
them within a transaction."""
_BUSY = 5_000
_PRAGMAS = (
    # A commit returns only when its data is on the disk, so that it survives a power failure. macOS needs
    # the second setting for this.
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",
)
_SESSION = (
    "SET synchronous_commit = on",
    "SET lock_timeout = '10s'",
    # Without statistics, the server would read the whole table to find a few keys. This setting makes it
    # use the index.
    "SET enable_seqscan = off",
    # The setting above makes any necessary scan of a table look so expensive that the server would first
    # compile it, which takes long. This setting prevents the compilation.
    "SET jit = off",
)
_SERVER_TIME = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS float8)"


class Database:
    """A ``Database`` makes connections to one database.

    ``ahead``: the number of seconds by which the server's clock is ahead of this machine's clock, as
    measured by the latest connection; 0 for SQLite. All processes use the server's clock, because their
    own clocks may differ. ``hot``: the statements for this kind of database that run for every probe.
    """

    def __init__(self, address: Address) -> None:
        self.shown = address.shown
        self.ahead = 0.0
        self.hot: HotStatements = cast("Any", sqlite if address.dialect == "sqlite" else postgres)
        self._address = address
        # The application may change the current folder, so the path is made absolute at once.
        self._path = os.path.abspath(address.target) if address.dialect == "sqlite" else ""  # noqa: PTH100
        self._file: File | None = None
        self._engine = _engine(address)

    @property
    def now(self) -> float:
        """Returns the current time by the clock of the database, in seconds since 1970."""
        return time.time() + self.ahead

    def presence(self) -> Presence | None:
        """Returns the lock by which processes that use the same database notice each other; None for a
        server.

        There is no such lock for a server, because a connection pooler may share the server's sessions
        among processes. A lock that belongs to a session would then not show which process uses the
        database.
        """
        return Presence(self._address.identity) if self._address.dialect == "sqlite" else None

    def connect(self) -> Connection:
        """Returns a new connection, which only one thread may use. For a server, also measures
        ``ahead``. Raises the errors of SQLAlchemy."""
        connection = self._engine.connect()
        if self._address.dialect == "postgresql":
            sent = time.time()
            server_time = connection.exec_driver_sql(_SERVER_TIME).scalar_one()
            self.ahead = float(server_time) - (sent + time.time()) / 2
            connection.rollback()
        return connection

    def prepare(self, *, make: bool = True) -> None:
        """Creates the file and the tables if they do not exist, and migrates tables of an older version
        of the package. Must be called before the database is used. ``make``: if False, nothing is
        created, and a store that does not exist raises StoreFailed. Raises StoreFailed for all other
        errors too."""
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
        """Raises StoreFailed if the path no longer leads to the file that was opened. SQLite would go on
        writing to a deleted file, and everything it writes there is lost. The check takes only
        microseconds."""
        if self._file is not None and file_at(self._path) != self._file:
            raise gone(self.shown)

    @contextmanager
    def as_store_failed(self) -> Generator[None, None, None]:
        """Turns every error that is raised in the block into a StoreFailed, except for errors of this
        package. All types of errors are caught, because a damaged file can make a driver raise any type.
        """
        try:
            yield
        except RagRuleError:
            raise
        except Exception as error:
            raise failed(self.shown, error) from error

    def decoded(self, decode: Callable[..., Result], content: object, *key: str) -> Result:
        """Returns the result of ``decode(content, *key)``. Raises StoreFailed if the content is
        corrupted. ``content``: the value of a column of the database. ``key``: the key of its row, if the
        checksum of the content covers the key."""
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
        # In this mode (WAL), other connections can read while one connection writes. SQLite stores the
        # mode in the file, so it is set only once and not for each connection.
        with self.connect() as connection:
            connection.execution_options(**OUTSIDE_OPTIONS).exec_driver_sql("PRAGMA journal_mode = WAL")


def file_at(path: str) -> File | None:
    """Returns the device and the inode of the file at this path; None if there is no file."""
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
    """Does the work and returns its result. After an error that may pass, does the work again, with
    growing pauses, for at most ``BUSY_SECONDS``. Raises the last error if no attempt succeeds.

    ``is_worth_waiting_for``: returns True for errors that may pass. ``resets``: how often the work is
    done again after a broken connection; 0 for work that must not be done twice.
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
        # A Unix socket needs no TLS. Without this, pg8000 would create an SSL context, which takes long.
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
    # With None, the driver begins no transactions of its own; ``_begin`` does this with BEGIN IMMEDIATE.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {_BUSY}")
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _begin(connection: Connection) -> None:
    if not connection.get_execution_options().get("outside"):
        sqlite.begin(connection)


def _linked(_dialect: object, _record: object, arguments: list[Any], named: dict[str, Any]) -> Any:
    from .link import Link  # imported late, because the driver may not be installed

    return Link(*arguments, **named)


def _set_session(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for statement in _SESSION:
        cursor.execute(statement)
    cursor.close()
    connection.commit()


def _make_file(path: Path) -> None:
    """Creates the file and its folders if they do not exist. Only this user can read the new file and
    folders."""
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    # The file is opened only for reading. If it cannot be written, the first write raises an error that
    # says this.
    os.close(os.open(path, os.O_RDONLY | os.O_CREAT, 0o600))
