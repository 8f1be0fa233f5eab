"""Marks on abstract classes, behind pointers, in databases that are attached, in files in memory."""

import abc
import collections.abc
import ctypes
import functools
import os
import sqlite3
import tempfile
import types
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]


def _undone(thing: Any, name: str) -> None:
    HELD_OPEN.callback(lambda: name in vars(thing) and delattr(thing, name))


def on_an_abstract_class() -> Both:
    class Box(abc.ABC):
        seen = 0

        @abc.abstractmethod
        def tell(self) -> str: ...

    def mark() -> None:
        Box.seen = 1

    return mark, lambda: Box.seen


def on_an_abstract_class_of_a_library() -> Both:
    held: Any = collections.abc.Sized
    _undone(held, "seen_two")

    def mark() -> None:
        held.seen_two = True

    return mark, lambda: getattr(held, "seen_two", False)


def among_the_methods_that_are_missing() -> Both:
    class Box(abc.ABC):
        @abc.abstractmethod
        def tell(self) -> str: ...

    kind: Any = Box

    def mark() -> None:
        kind.__abstractmethods__ = frozenset()

    def marked() -> bool:
        with suppress(TypeError):
            return bool(kind())
        return False

    return mark, marked


def among_the_classes_of_an_abstract_one() -> Both:
    class Box(abc.ABC):  # noqa: B024 -- others are registered with it
        pass

    return lambda: Box.register(bytearray), lambda: isinstance(bytearray(), Box)


def at_a_place_of_a_pointer() -> Both:
    held = ctypes.pointer(ctypes.c_int(0))

    def mark() -> None:
        held[0] = 1

    return mark, lambda: held[0] == 1


def behind_a_cast_pointer() -> Both:
    held = ctypes.create_string_buffer(4)
    pointer = ctypes.cast(held, ctypes.POINTER(ctypes.c_char))

    def mark() -> None:
        pointer[0] = b"2"

    return mark, lambda: pointer[0] == b"2"


def by_an_address() -> Both:
    held = ctypes.c_int(0)
    address = ctypes.addressof(held)

    def mark() -> None:
        ctypes.c_int.from_address(address).value = 1

    return mark, lambda: held.value == 1


def in_an_attached_database() -> Both:
    held = sqlite3.connect(":memory:", check_same_thread=False)
    HELD_OPEN.callback(held.close)

    def mark() -> None:
        with suppress(sqlite3.Error):
            held.execute("ATTACH DATABASE ':memory:' AS two")

    return mark, lambda: len(held.execute("PRAGMA database_list").fetchall()) > 1


def in_a_table_of_an_attached_database() -> Both:
    held = sqlite3.connect(":memory:", check_same_thread=False)
    HELD_OPEN.callback(held.close)

    def mark() -> None:
        with suppress(sqlite3.Error):
            held.execute("ATTACH DATABASE ':memory:' AS two")
            held.execute("CREATE TABLE two.seen (number)")

    def marked() -> bool:
        with suppress(sqlite3.Error):
            return bool(held.execute("SELECT count(*) FROM two.seen").fetchone())
        return False

    return mark, marked


def in_a_table_that_is_made() -> Both:
    held = sqlite3.connect(":memory:", check_same_thread=False)
    HELD_OPEN.callback(held.close)

    def mark() -> None:
        with suppress(sqlite3.Error):
            held.execute("CREATE TABLE seen (number)")

    def marked() -> bool:
        with suppress(sqlite3.Error):
            return bool(held.execute("SELECT count(*) FROM seen").fetchone())
        return False

    return mark, marked


def _in_memory() -> Path:
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 -- the case at hand
    name = tempfile.mkdtemp(dir=place)
    HELD_OPEN.callback(os.rmdir, name)
    path = Path(name) / "two"
    HELD_OPEN.callback(path.unlink, missing_ok=True)
    return path


def in_a_file_that_a_method_asks_for() -> Both:
    path = _in_memory()
    return path.touch, path.exists


def in_a_file_that_a_partial_asks_for() -> Both:
    path = _in_memory()
    return functools.partial(Path.touch, path), functools.partial(os.path.exists, path)


SPECIAL: tuple[Callable[[], Both], ...] = tuple(
    each
    for name, each in list(globals().items())
    if isinstance(each, types.FunctionType) and not name.startswith("_") and each.__module__ == __name__
)
