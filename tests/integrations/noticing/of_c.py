"""Marks in what packages keep in C code, and in their settings for the whole process."""

import ctypes
from collections.abc import Callable
from types import FunctionType
from typing import Any

import bs4
import cffi
import jinja2
import markdown_it
import matplotlib as mpl
import multidict
import numpy as np
import tiktoken.registry
import yaml
from google.protobuf import struct_pb2

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]


def among_the_encodings() -> Both:
    known: Any = tiktoken.registry.ENCODINGS
    HELD_OPEN.callback(known.pop, "two", None)

    def mark() -> None:
        known["two"] = None

    return mark, lambda: "two" in tiktoken.registry.ENCODINGS


def in_how_yaml_is_read() -> Both:
    class Loader(yaml.SafeLoader):
        pass

    return (
        lambda: Loader.add_constructor("!two", lambda loader, node: 2),
        lambda: "!two" in Loader.yaml_constructors,
    )


def in_how_yaml_is_read_by_others() -> Both:
    HELD_OPEN.callback(lambda: yaml.SafeLoader.yaml_constructors.pop("!two", None))

    def marked() -> bool:
        try:
            return yaml.safe_load("!two x") == 2
        except yaml.YAMLError:
            return False

    return lambda: yaml.SafeLoader.add_constructor("!two", lambda loader, node: 2), marked


def in_a_message_of_protobuf() -> Both:
    held: Any = struct_pb2.Struct()
    return lambda: held.update({"two": 1}), lambda: "two" in held


def in_a_value_of_protobuf() -> Both:
    held: Any = struct_pb2.Value()

    def mark() -> None:
        held.number_value = 2

    return mark, lambda: held.number_value == 2


def in_many_headers() -> Both:
    held = multidict.CIMultiDict[str]()
    return lambda: held.add("two", "1"), lambda: "two" in held


def in_memory_of_cffi() -> Both:
    ffi = cffi.FFI()
    held: Any = ffi.new("int[1]")

    def mark() -> None:
        held[0] = 1

    return mark, lambda: held[0]


def in_a_structure_of_c() -> Both:
    class Pair(ctypes.Structure):
        _fields_ = (("first", ctypes.c_int),)

    held = Pair()

    def mark() -> None:
        held.first = 1

    return mark, lambda: held.first


def in_an_array_of_pointers() -> Both:
    inner = ctypes.c_int(0)
    held = (ctypes.POINTER(ctypes.c_int) * 1)(ctypes.pointer(inner))

    def mark() -> None:
        held[0][0] = 1

    return mark, lambda: held[0][0]


def in_a_tree_of_a_page() -> Both:
    held: Any = bs4.BeautifulSoup("<p>one</p>", "html.parser")

    def mark() -> None:
        held.p.string = "two"

    return mark, lambda: held.get_text() == "two"


def in_the_rules_of_a_parser() -> Both:
    held = markdown_it.MarkdownIt("zero")
    return lambda: held.enable("emphasis"), lambda: "<em>" in held.render("*a*")


def in_a_cycle_of_templates() -> Both:
    cycler: Any = jinja2.Environment(autoescape=True).globals["cycler"]
    held = cycler("one", "two")

    def mark() -> None:
        if held.current == "one":
            held.next()

    return mark, lambda: held.current == "two"


def in_how_figures_are_drawn() -> Both:
    HELD_OPEN.callback(mpl.rcParams.__setitem__, "lines.linewidth", mpl.rcParams["lines.linewidth"])

    def mark() -> None:
        mpl.rcParams["lines.linewidth"] = 61.0

    return mark, lambda: mpl.rcParams["lines.linewidth"] == 61.0


def in_how_numbers_are_shown() -> Both:
    HELD_OPEN.callback(np.set_printoptions, precision=8)
    return lambda: np.set_printoptions(precision=2), lambda: str(np.array([1.23456])) == "[1.23]"


def in_what_errors_of_numbers_do() -> Both:
    HELD_OPEN.callback(lambda: np.seterr(divide="warn"))
    return lambda: np.seterr(divide="ignore"), lambda: np.geterr()["divide"] == "ignore"


def in_the_seed_of_numbers() -> Both:
    numbers: Any = np.random
    return lambda: numbers.seed(4), lambda: numbers.get_state()[1][0] == 4


OF_C: tuple[Callable[[], Both], ...] = tuple(
    each
    for name, each in list(globals().items())
    if isinstance(each, FunctionType) and not name.startswith("_") and each.__module__ == __name__
)
