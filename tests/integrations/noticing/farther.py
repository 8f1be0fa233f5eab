"""Marks that lie farther off: on objects of libraries, behind names with spaces, in what is open."""

import functools
import importlib
import json
import logging
import multiprocessing
import os
import socket
import sys
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.commands import folder, said
from tests.integrations.noticing.modes import Mark
from tests.integrations.noticing.names import Holder

Both = tuple[Mark, Mark]
_PARTS = ("far", "off")


def _name() -> str:
    return "_".join(_PARTS)


def _undone(thing: Any) -> None:
    def undo() -> None:
        if _name() in vars(thing):
            delattr(thing, _name())

    undo()
    HELD_OPEN.callback(undo)


def on_a_librarys_class() -> Both:
    _undone(json.JSONEncoder)
    encoder: Any = json.JSONEncoder
    return lambda: setattr(encoder, _name(), 1), lambda: getattr(json.JSONEncoder, _name(), 0)


def on_a_librarys_object() -> Both:
    _undone(logging.root)
    return lambda: setattr(logging.root, _name(), 1), lambda: getattr(logging.root, _name(), 0)


def on_a_stream() -> Both:
    _undone(sys.__stdout__)
    return lambda: setattr(sys.__stdout__, _name(), 1), lambda: getattr(sys.__stdout__, _name(), 0)


def by_a_partial() -> Both:
    place: Any = importlib.import_module("tests.integrations.noticing.place")
    _undone(place)
    set_there = functools.partial(setattr, place)
    return lambda: set_there(_name(), 1), lambda: getattr(place, _name(), 0)


def an_attribute_that_is_deleted() -> Both:
    held = Holder()
    setattr(held, _name(), 1)

    def mark() -> None:
        if hasattr(held, _name()):
            delattr(held, _name())

    return mark, lambda: not hasattr(held, _name())


def _marking(path: Any) -> Mark:
    return lambda: path.write_text("two", encoding="utf-8")


def names_in_braces() -> Both:
    at = folder()
    return _marking(at / "file1"), lambda: said(["bash", "-c", f"cat {at}/file{{1,2}} 2>/dev/null"])


def a_variable_of_the_text() -> Both:
    at = folder()
    return _marking(at / "part-1.md"), lambda: said("F=part; cat $F-1.md 2>/dev/null", at=at)


def a_name_with_a_space() -> Both:
    path = folder() / "my file.md"
    return _marking(path), lambda: said(f"cat '{path}' 2>/dev/null")


def a_name_with_a_space_behind_a_stroke() -> Both:
    at = folder()
    return _marking(at / "my file.md"), lambda: said("cat my\\ file.md 2>/dev/null", at=at)


def a_folder_that_is_tested() -> Both:
    path = folder() / "mode"
    return lambda: path.mkdir(exist_ok=True), lambda: said(f"test -d {path} && echo yes")


def what_a_shell_writes() -> Both:
    path = folder() / "mode"
    return lambda: said(f"echo two > {path}"), lambda: said(f"cat {path} 2>/dev/null")


def what_waits_in_a_socket() -> Both:
    ours, theirs = socket.socketpair()
    HELD_OPEN.callback(ours.close)
    HELD_OPEN.callback(theirs.close)
    theirs.setblocking(False)

    def marked() -> bytes:
        try:
            return theirs.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return b""

    return lambda: ours.send(b"2"), marked


def what_waits_in_a_counter() -> Both:
    number = os.eventfd(0, os.EFD_NONBLOCK)
    HELD_OPEN.callback(os.close, number)

    def marked() -> int:
        try:
            found = os.eventfd_read(number)
        except BlockingIOError:
            return 0
        os.eventfd_write(number, found)
        return found

    return lambda: os.eventfd_write(number, 1), marked


def what_waits_for_a_process() -> Both:
    waiting: Any = multiprocessing.SimpleQueue()
    return lambda: waiting.put(1), lambda: not waiting.empty()


def in_a_file_of_the_system() -> Both:
    name = "/proc/self/comm"

    def marked() -> bool:
        with open(name, encoding="utf-8") as file:  # noqa: PTH123 -- one of several ways
            return file.read().strip() == "two"

    def mark() -> None:
        with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123 -- one of several ways
            file.write("two")

    with open(name, encoding="utf-8") as file:  # noqa: PTH123 -- one of several ways
        before = file.read()

    def undo() -> None:
        with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123 -- one of several ways
            file.write(before.strip())

    HELD_OPEN.callback(undo)
    return mark, marked


FARTHER = (
    on_a_librarys_class,
    on_a_librarys_object,
    on_a_stream,
    by_a_partial,
    an_attribute_that_is_deleted,
    names_in_braces,
    a_variable_of_the_text,
    a_name_with_a_space,
    a_name_with_a_space_behind_a_stroke,
    a_folder_that_is_tested,
    what_a_shell_writes,
    what_waits_in_a_socket,
    *((what_waits_in_a_counter,) if hasattr(os, "eventfd") else ()),
    what_waits_for_a_process,
    in_a_file_of_the_system,
)
