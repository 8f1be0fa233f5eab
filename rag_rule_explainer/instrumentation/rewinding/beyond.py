"""This module finds changes of state that cannot be restored, such as the state of open files, databases,
processes and settings.

Such a change may influence later runs, unless the code shows that nothing reads the state. So it is a
reason to doubt the rules.
"""

import gc
import sqlite3
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from ..shared_state.files import Left
from ..shared_state.statements import Statements
from .asking import answer_of, asked_of
from .owners import package_of
from .pipes import call_of_pipes
from .system_settings import names_of_builtins
from .whole_process import loggers_named, settings_of_loggers, settings_of_the_process
from .workers import begun_to_write, processes_begun, worker_in

_DATABASES = frozenset({"aiosqlite", "sqlalchemy", "sqlmodel", "peewee", "pony", "tortoise", "dataset"})
"""The packages whose objects may refer to a SQLite connection, directly or through other objects."""
_MOST_IN_LIBRARIES = 3000
_ASKING_FOR_CHANGES = ("changes()", "last_insert_rowid()")
"""SQL functions by which code learns what its connection has written, although it reads no table."""
_OF_THE_SYSTEM = frozenset(
    {
        *("tzset", "setlocale", "getsignal", "umask", "pwrite", "ftruncate", "mkfifo", "setxattr"),
        *(
            "register_error",
            "posix_fallocate",
            "memfd_create",
            "shm_open",
            "SharedMemory",
            "ShareableList",
            "pipe2",
            "socketpair",
            "eventfd",
            "openpty",
            "create_function",
            "create_aggregate",
            "create_collation",
        ),
    }
)
"""Names of functions that change state of the operating system or the interpreter."""


class Beyond:
    """A ``Beyond`` detects changes of state that cannot be restored. It reads this state when it is
    created; ``all_left`` compares the current state with it.

    ``things``: the objects that are reachable from the application. ``named``: the names in its code.
    ``texts``: the string constants in its code. ``writes``: returns True iff its code writes to state
    that all runs share.
    """

    def __init__(
        self,
        things: Iterable[object],
        named: frozenset[str],
        texts: Iterable[str],
        writes: Callable[[], bool] = lambda: True,
    ) -> None:
        self._texts = tuple(texts)
        found = self._things = list(things)
        # Code may import a function under another name, as in ``from os import umask as mask``.
        self._named = named = named.union(names_of_builtins(found))
        self._asked = [
            (thing, ask, answer_of(thing, ask)) for thing in found for ask in asked_of(thing, named)
        ]
        self._call_of_pipes = call_of_pipes(found)
        self._talks = any(issubclass(type(each), subprocess.Popen) for each in found)
        self._worker, self._begun = worker_in(found, writes), processes_begun()
        self._rows = [(each, _state_of_rows(each)) for each in self._connections()]
        self._settings = settings_of_the_process(named)
        self._names_of_loggers = loggers_named(self._texts)
        self._loggers = settings_of_loggers(named, self._names_of_loggers)

    def all_left(self, apart: Callable[[], Collection[int]] = tuple) -> Iterator[Left]:
        """Yields the changes found since this object was created.

        ``apart``: a function that returns the ``id()`` of the library objects to which only isolated
        objects refer (objects that have their own state in each run). Changes of databases that are
        reachable only through these objects are ignored.
        """
        called = min(_OF_THE_SYSTEM & self._named, default="") or self._call_of_pipes
        if called:
            yield Left(called, f"the code calls {called}(), which lasts for the process")
        if {"codecs", "register"} <= self._named:
            yield Left("codecs", "the code calls codecs.register(), which lasts for the process")
        if self._talks:
            yield Left("Popen", "the code talks to a process that was started before the run")
        has_begun = processes_begun() != self._begun
        worker = self._worker or begun_to_write(self._named, self._texts, has_begun=has_begun)
        if worker:
            yield Left("multiprocessing", f"the code may talk to {worker}")
        yield from self._of_settings()
        for thing, ask, was in self._asked:
            if answer_of(thing, ask) != was:
                kind = thing.__name__ if isinstance(thing, type) else type(thing).__name__
                yield Left(kind, f"a run has changed {kind}, which was there before it")
        if self._has_written(apart) and not self._is_only_written():
            wrote = (
                "a run wrote to a database by a connection that was open before, and the code reads one"
            )
            yield Left("sqlite3", wrote)

    def _of_settings(self) -> Iterator[Left]:
        now = settings_of_the_process(self._named)
        for name, was in self._settings.items():
            if now[name] != was:
                yield Left(name, f"a run has changed what {name} sets for the whole process")
        now = settings_of_loggers(self._named, self._names_of_loggers)
        for name, was in self._loggers.items():
            if now[name] != was:
                yield Left(name, f"a run has changed the settings of the logger {name!r}")

    def _connections(self, apart: Collection[int] = ()) -> list[sqlite3.Connection]:
        """Returns all reachable SQLite connections, also those that library objects hold.

        ``apart``: the ``id()`` of objects that are not searched.
        """
        waiting: list[Any] = [
            each
            for each in self._things
            if id(each) not in apart
            and (issubclass(type(each), sqlite3.Connection) or package_of(each) in _DATABASES)
        ]
        seen, found = set[int](), list[sqlite3.Connection]()
        while waiting and len(seen) < _MOST_IN_LIBRARIES:
            thing = waiting.pop(0)
            if id(thing) in seen or isinstance(thing, (ModuleType, type, FunctionType)):
                continue
            seen.add(id(thing))
            if isinstance(thing, sqlite3.Connection):
                found.append(thing)
            else:
                waiting += gc.get_referents(thing)
        return found

    def _has_written(self, apart: Callable[[], Collection[int]]) -> bool:
        written = [each for each, was in self._rows if _state_of_rows(each) != was]
        if not written:
            return False
        of_all_runs = {id(each) for each in self._connections(apart())}
        return any(id(each) in of_all_runs for each in written)

    def _is_only_written(self) -> bool:
        """Returns True iff the SQL statements in the code show that no table is both written and read."""
        if any(each in text for text in self._texts for each in _ASKING_FOR_CHANGES):
            return False
        tables = Statements.among(self._texts)
        if tables.read and not tables.written:
            # The statements that write are unknown, so they may write the table that is read.
            return False
        return bool(tables.any) and not tables.both and "" not in {*tables.written, *tables.read}


def _state_of_rows(connection: sqlite3.Connection) -> object:
    try:
        return connection.total_changes, connection.isolation_level
    except sqlite3.Error:  # the connection is closed
        return None
