"""Marks in objects of the standard library that have methods of their own to set what they go by."""

import calendar
import cmd
import codecs
import csv
import difflib
import gettext
import gzip
import html.parser
import http.cookies
import io
import pickle
import selectors
import shlex
import socket
import textwrap
import urllib.robotparser
import zipfile
from collections.abc import Callable
from types import FunctionType
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]


def in_the_width_of_a_wrapper() -> Both:
    held = textwrap.TextWrapper(width=40)

    def mark() -> None:
        held.width = 3

    return mark, lambda: len(held.wrap("one two")) > 1


def in_half_a_letter() -> Both:
    held = codecs.getincrementaldecoder("utf-8")()
    return lambda: held.decode(b"\xc3"), lambda: bool(held.getstate()[0])


def in_an_archive() -> Both:
    held = zipfile.ZipFile(io.BytesIO(), "w")
    HELD_OPEN.callback(held.close)

    def mark() -> None:
        if not held.namelist():
            held.writestr("two", "1")

    return mark, lambda: bool(held.namelist())


def in_what_is_packed() -> Both:
    inner = io.BytesIO()
    held = gzip.GzipFile(fileobj=inner, mode="w")
    HELD_OPEN.callback(held.close)

    def mark() -> None:
        held.write(b"two")
        held.flush()

    return mark, lambda: len(inner.getvalue()) > 12


def in_rows_that_are_written() -> Both:
    inner = io.StringIO()
    held = csv.writer(inner)
    return lambda: held.writerow(["two"]), lambda: inner.getvalue() != ""


def in_the_memory_of_a_pickler() -> Both:
    held: Any = pickle.Pickler(io.BytesIO())
    return lambda: held.dump(["two"]), lambda: bool(held.memo.copy())


def in_words_that_are_read() -> Both:
    held: Any = shlex.shlex("one two three " * 99)

    def mark() -> None:
        if held.lineno == 1 and not held.pushback:
            held.push_token("two")

    return mark, lambda: bool(held.pushback)


def in_half_a_page() -> Both:
    held = html.parser.HTMLParser()
    return lambda: held.feed("<a"), lambda: bool(held.rawdata)


def in_what_is_compared() -> Both:
    held = difflib.SequenceMatcher(None, "one", "two")
    return lambda: held.set_seq1("two"), lambda: held.ratio() == 1.0


def in_the_first_day() -> Both:
    held = calendar.Calendar()
    return lambda: held.setfirstweekday(3), lambda: held.firstweekday == 3


def in_the_last_command() -> Both:
    held: Any = cmd.Cmd()

    def mark() -> None:
        held.lastcmd = "two"

    return mark, lambda: held.lastcmd == "two"


def in_other_translations() -> Both:
    class Two(gettext.NullTranslations):
        def gettext(self, message: str) -> str:
            return "two"

    held = gettext.NullTranslations()
    return lambda: held.add_fallback(Two()), lambda: held.gettext("one") == "two"


def in_a_cookie() -> Both:
    held: Any = http.cookies.SimpleCookie()

    def mark() -> None:
        held["two"] = "1"

    return mark, lambda: "two" in held.output()


def in_rules_for_robots() -> Both:
    held = urllib.robotparser.RobotFileParser()
    held.parse([])
    return lambda: held.parse(["User-agent: *", "Disallow: /"]), lambda: not held.can_fetch("a", "/b")


def among_what_is_selected() -> Both:
    held = selectors.DefaultSelector()
    HELD_OPEN.callback(held.close)
    ours, theirs = socket.socketpair()
    HELD_OPEN.callback(ours.close)
    HELD_OPEN.callback(theirs.close)

    def mark() -> None:
        if not held.get_map():
            held.register(ours, selectors.EVENT_READ)

    return mark, lambda: len(held.get_map()) > 0


OF_STANDARD: tuple[Callable[[], Both], ...] = tuple(
    each
    for name, each in list(globals().items())
    if isinstance(each, FunctionType) and not name.startswith("_") and each.__module__ == __name__
)
