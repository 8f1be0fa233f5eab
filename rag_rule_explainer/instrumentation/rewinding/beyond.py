"""This module finds changes of state that cannot be restored, such as the state of open files, databases,
processes and settings.

Such a change may influence later runs, unless the code shows that nothing reads the state. So it is a
reason to doubt the rules.
"""

import gc
import sqlite3
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias

from ..copies.guarded_code import own_code
from ..shared_state.files import Left
from ..shared_state.reaching import SIMPLE
from ..shared_state.statements import Statements
from .asking import answer_of, asked_of
from .going_on import variables_of
from .hearing import tells_nothing
from .module_calls import functions_of_modules
from .of_sqlite import state_of_rows
from .outlasting import anything_changed, is_as_left, note_changed
from .owners import package_of
from .pipes import call_of_pipes
from .pragmas import pragmas_read
from .system_settings import names_of_builtins
from .whole_process import loggers_named, settings_of_loggers, settings_of_the_process
from .workers import begun_to_write, pool_at_work, pools_in, processes_begun, worker_in

_Key: TypeAlias = tuple[Any, ...]
_SETTING, _LOGGER, _STATE, _ROWS = "setting", "logger", "state", "rows"
"""The kinds of state that are compared. The key of each piece of state is a tuple that begins with its
kind."""
_DATABASES = frozenset({"aiosqlite", "sqlalchemy", "sqlmodel", "peewee", "pony", "tortoise", "dataset"})
"""The packages whose objects may refer to a SQLite connection, directly or through other objects."""
_MOST_IN_LIBRARIES = 3000
_ASKING_FOR_CHANGES = ("changes()", "last_insert_rowid()")
"""SQL functions by which code learns what its connection has written, although the code reads no
table."""
_OF_THE_SYSTEM = frozenset(
    {
        *("tzset", "setlocale", "umask", "captureWarnings", "pwrite", "ftruncate", "mkfifo", "setxattr"),
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
_OF_A_MODULE = frozenset(
    {
        *(
            "os.nice",
            "os.setpriority",
            "os.lseek",
            "os.dup2",
            "os.eventfd_read",
            "signal.pthread_sigmask",
        ),
        *("sys.set_coroutine_origin_tracking_depth", "ctypes.set_errno", "random.getstate"),
        *("typing.get_overloads", "weakref.getweakrefcount", "weakref.getweakrefs", "sys.getrefcount"),
        *(
            "gc.get_referrers",
            "gc.get_objects",
            "sys.getallocatedblocks",
            "sys.setprofile",
            "sys.settrace",
        ),
    }
)
"""Functions that change or show state of a thread, of the process or of the memory. They are listed with
their modules, because functions of other modules may have the same names."""
_BY_A_TEXT = frozenset({"getattr", "attrgetter", "getattr_static", "__getattribute__"})
"""Names by which code reads an attribute whose name is a text."""
_WAITING_FOR_FILES = ("select.", "selectors.")
"""The beginnings of the names of functions by which code learns whether unread data waits, for example in
a socket that an earlier run wrote to."""


class Beyond:
    """A ``Beyond`` detects changes of state that cannot be restored. It reads this state when it is
    created; ``all_left`` compares the current state with it.

    ``things``: the objects that are reachable from the application. ``named``: the names in the
    application's code. ``texts``: the string constants in this code. ``writes``: returns True iff this
    code writes to state that all runs share.
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
        # Code may use a function or a method under another name, as after ``from os import umask as
        # mask``. So the original names are added.
        methods = (each.__name__ for each in found if type(each) is MethodType)
        self._named = named.union(names_of_builtins(found), pragmas_read(self._texts), methods)
        named = self._named
        looked_up = (each for each in self._texts if named & _BY_A_TEXT and each.isidentifier())
        known = named.union(looked_up)
        self._asked = [
            (thing, ask, answer_of(thing, ask))
            for thing in found
            if type(thing) not in SIMPLE
            for ask in asked_of(thing, known)
        ]
        self._calls = functions_of_modules(found)
        self._call_of_pipes = call_of_pipes(found)
        self._talks = any(issubclass(type(each), subprocess.Popen) for each in found)
        self._writes, self._begun = writes, processes_begun()
        self._worker, self._pools = worker_in(found, writes), pools_in(found)
        self._rows = [(each, state_of_rows(each)) for each in self._connections()]
        self._settings = settings_of_the_process(named, self._calls)
        self._names_of_loggers = loggers_named(self._texts)
        self._loggers = settings_of_loggers(named, self._names_of_loggers)
        functions = (each for each in found if isinstance(each, FunctionType))
        self._codes = frozenset(code for each in functions for code in _with_inner(own_code(each)))
        self._earlier = [*self._left_earlier()]

    def keep_for_later(self) -> None:
        """Remembers, for later explanations, which of the compared state runs have changed."""
        for key, thing, was, now in self._compared():
            if now != was:
                note_changed(key, now, self._codes, thing)

    def all_left(
        self,
        apart: Callable[[], Collection[int]] = tuple,
        is_at_rest: Callable[[object], bool] = lambda _: False,
    ) -> Iterator[Left]:
        """Yields the changes of state since this object was created.

        ``apart``: returns the ``id()`` of the library objects to which only isolated objects refer
        (objects that have their own state in each run). Changes of databases that are reachable only
        through these objects are ignored. ``is_at_rest``: returns True iff only tools that no replay runs
        reach an object; its changes are ignored.
        """
        yield from self._earlier
        called = self._called()
        if called:
            yield Left(called, f"the code calls {called}(), which lasts for the process")
        if {"codecs", "register"} <= self._named:
            yield Left("codecs", "the code calls codecs.register(), which lasts for the process")
        if self._talks:
            yield Left("Popen", "the code talks to a process that was started before the run")
        has_begun = processes_begun() != self._begun
        # The processes of a pool begin when it is first given work, so a run may have begun them.
        worker = self._worker or pool_at_work(self._pools, self._writes)
        worker = worker or begun_to_write(self._named, self._texts, has_begun=has_begun)
        if worker:
            yield Left("multiprocessing", f"the code may talk to {worker}")
        for key, thing, was, now in self._compared():
            if now != was and key[0] != _ROWS and not is_at_rest(thing):
                yield self._left(key, thing, "a run has changed")
        if self._has_written(apart) and not self._is_only_written():
            wrote = (
                "a run wrote to a database by a connection that was open before, and the code reads one"
            )
            yield Left("sqlite3", wrote)

    def _called(self) -> str:
        """Returns the name of a function that the application's code calls and whose effect lasts for the
        process or for a thread; empty if there is none."""
        waiting = (each for each in self._calls if each.startswith(_WAITING_FOR_FILES))
        of_modules = min((*waiting, *(_OF_A_MODULE & self._calls)), default="")
        return min(_OF_THE_SYSTEM & self._named, default="") or self._call_of_pipes or of_modules

    def _compared(self) -> Iterator[tuple[_Key, object, object, object]]:
        """Yields each piece of state that is compared, as four values: its key, the object that has the
        state (None for a setting of the process), the state before all runs, and the current state."""
        settings = settings_of_the_process(self._named, self._calls)
        loggers = settings_of_loggers(self._named, self._names_of_loggers)
        for key, thing, was, ask in self._before():
            if key[0] in {_SETTING, _LOGGER}:
                yield key, thing, was, (settings if key[0] == _SETTING else loggers).get(key[1])
            else:
                is_over = ask is variables_of and tells_nothing(thing)
                yield key, thing, was, was if is_over else answer_of(thing, ask)

    def _before(self) -> Iterator[tuple[_Key, object, object, Callable[[Any], object]]]:
        for name, was in self._settings.items():
            yield (_SETTING, name), None, was, repr
        for name, was in self._loggers.items():
            yield (_LOGGER, name), None, was, repr
        for thing, ask, was in self._asked:
            yield (_STATE, id(thing), getattr(ask, "__code__", ask)), thing, was, ask
        for connection, was in self._rows:
            yield (_ROWS, id(connection)), connection, was, state_of_rows

    def _left_earlier(self) -> Iterator[Left]:
        """Yields state that runs of earlier explanations changed and that nothing has changed since."""
        if not anything_changed():
            return
        always = settings_of_the_process(frozenset(), frozenset()).keys()
        for key, thing, was, _ in self._before():
            is_left = is_as_left(key, was, self._codes, thing, is_named=self._is_named(key, always))
            if is_left and (key[0] != _ROWS or not self._is_only_written()):
                yield self._left(key, thing, "a run of an earlier explanation has changed")

    def _is_named(self, key: _Key, always: Collection[str]) -> bool:
        """Returns True iff the application's code names the state with this key, so that it may read the
        state even if another application left it. ``always``: the settings that this package reads
        whatever the code names."""
        name = str(key[1])
        if key[0] == _LOGGER:
            return name in self._texts
        if key[0] == _SETTING and name in always:
            return name.rpartition(".")[2] in self._named
        # The state of an object counts as named, and so does state that this package reads only if the
        # application's code names it.
        return True

    def _left(self, key: _Key, thing: object, who: str) -> Left:
        name = str(key[1])
        if key[0] == _SETTING:
            return Left(name, f"{who} what {name} sets for the whole process")
        if key[0] == _LOGGER:
            return Left(name, f"{who} the settings of the logger {name!r}")
        kind = thing.__name__ if isinstance(thing, type) else type(thing).__name__
        return Left(kind, f"{who} {kind}, which was there before it")

    def _connections(self, apart: Collection[int] = ()) -> list[sqlite3.Connection]:
        """Returns all reachable SQLite connections, including those to which library objects refer.

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
        written = [each for each, was in self._rows if state_of_rows(each) != was]
        if not written:
            return False
        of_all_runs = {id(each) for each in self._connections(apart())}
        return any(id(each) in of_all_runs for each in written)

    def _is_only_written(self) -> bool:
        """Returns True iff the SQL statements in the application's code show that no table is both
        written and read. Later runs then do not read what a run writes."""
        if any(each in text for text in self._texts for each in _ASKING_FOR_CHANGES):
            return False
        tables = Statements.among(self._texts)
        if tables.read and not tables.written:
            # The code reads tables, but no statement that writes was found. A run may still write, for
            # example by statements that the code composes, and may write to a table that is read.
            return False
        return bool(tables.any) and not tables.both and "" not in {*tables.written, *tables.read}


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    """Yields the code, and the code of the functions that are defined in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _with_inner(each)
