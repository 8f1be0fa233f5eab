"""Marks in references, variables, queues and settings of Python itself."""

import contextlib
import enum
import functools
import importlib
import io
import logging
import multiprocessing
import queue
import signal
import sys
import textwrap
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from types import FunctionType, SimpleNamespace
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]


def on_a_member() -> Both:
    class Kind(enum.Enum):
        ONE = 1

    kind: Any = Kind

    def mark() -> None:
        kind.ONE.seen = True

    return mark, lambda: getattr(Kind.ONE, "seen", False)


def on_a_weak_reference() -> Both:
    class Reference(weakref.ref):
        pass

    class Box:
        pass

    box = Box()
    held: Any = Reference(box)

    def mark() -> None:
        held.seen = True

    return mark, lambda: getattr(held, "seen", False) and held() is box


def by_a_weak_key() -> Both:
    class Box:
        pass

    box = Box()
    held = weakref.WeakKeyDictionary[Box, int]()
    return lambda: held.update({box: 1}), lambda: held.get(box)


def behind_a_descriptor() -> Both:
    class Kept:
        def __init__(self) -> None:
            self.known = weakref.WeakKeyDictionary[Any, int]()

        def __get__(self, thing: Any, kind: Any) -> int:
            return self.known.get(thing, 0)

        def __set__(self, thing: Any, value: int) -> None:
            self.known[thing] = value

    class Box:
        size = Kept()

    held = Box()

    def mark() -> None:
        held.size = 1

    return mark, lambda: held.size


def in_a_cell() -> Both:
    seen = 0

    def tell() -> int:
        return seen

    held: Any = tell

    def mark() -> None:
        held.__closure__[0].cell_contents = 1

    return mark, lambda: held() == 1


def in_what_is_wrapped() -> Both:
    @functools.wraps(len)
    def tell(given: Any) -> Any:
        return held.__wrapped__(given)

    held: Any = tell

    def mark() -> None:
        held.__wrapped__ = lambda given: 9

    return mark, lambda: held("") == 9


def in_the_default_of_a_variable() -> Both:
    variable = ContextVar[list[int]]("two", default=[])  # noqa: B039 -- the case at hand
    return lambda: variable.get().append(1), lambda: bool(variable.get())


def in_what_a_property_computes_once() -> Both:
    class Box:
        made = False

        @functools.cached_property
        def size(self) -> int:
            return 1

    held = Box()
    return lambda: held.size, lambda: "size" in vars(held)


def in_what_is_left_to_do() -> Both:
    held: Any = contextlib.ExitStack()
    return lambda: held.callback(print), lambda: bool(held._exit_callbacks)


def in_what_is_done_at_the_end() -> Both:
    held = SimpleNamespace(seen=0)
    stack = contextlib.ExitStack()
    stack.callback(lambda: setattr(held, "seen", 1))
    return lambda: stack.close(), lambda: held.seen


def in_a_value_of_processes() -> Both:
    held: Any = multiprocessing.Value("i", 0)

    def mark() -> None:
        held.value = 1

    return mark, lambda: held.value


def in_an_array_of_processes() -> Both:
    held: Any = multiprocessing.Array("i", [0])

    def mark() -> None:
        held[0] = 1

    return mark, lambda: held[0]


def in_a_queue() -> Both:
    held = queue.SimpleQueue[int]()
    return lambda: held.put(1), lambda: held.qsize()


def in_a_queue_of_ranks() -> Both:
    held = queue.PriorityQueue[int]()
    return lambda: held.put(1), lambda: not held.empty()


def in_an_event() -> Both:
    held = threading.Event()
    return lambda: held.set(), lambda: held.is_set()


def in_a_timer_of_the_process() -> Both:
    HELD_OPEN.callback(signal.setitimer, signal.ITIMER_VIRTUAL, 0)
    return (
        lambda: signal.setitimer(signal.ITIMER_VIRTUAL, 9999),
        lambda: signal.getitimer(signal.ITIMER_VIRTUAL)[0] > 0,
    )


def in_what_is_traced_of_memory() -> Both:
    HELD_OPEN.callback(tracemalloc.stop)
    return lambda: tracemalloc.start(), lambda: tracemalloc.is_tracing()


def in_how_long_numbers_may_be() -> Both:
    before = sys.get_int_max_str_digits()
    HELD_OPEN.callback(sys.set_int_max_str_digits, before)
    return lambda: sys.set_int_max_str_digits(9999), lambda: sys.get_int_max_str_digits() == 9999


def in_where_modules_are_found() -> Both:
    HELD_OPEN.callback(lambda: "/two" in sys.path and sys.path.remove("/two"))
    return lambda: sys.path.append("/two"), lambda: "/two" in sys.path


def in_the_level_of_a_handler() -> Both:
    held = logging.StreamHandler(io.StringIO())
    return lambda: held.setLevel(61), lambda: held.level == 61


def in_how_a_handler_writes() -> Both:
    held = logging.StreamHandler(io.StringIO())
    record = logging.makeLogRecord({"msg": "one"})
    other = logging.Formatter("two", validate=False)
    return lambda: held.setFormatter(other), lambda: held.format(record) == "two"


def in_a_function_of_a_library() -> Both:
    module: Any = importlib.import_module("colorsys")
    HELD_OPEN.callback(setattr, module, "rgb_to_yiq", module.rgb_to_yiq)

    def mark() -> None:
        module.rgb_to_yiq = lambda *_: "two"

    return mark, lambda: module.rgb_to_yiq(0, 0, 0) == "two"


def in_a_class_of_a_library() -> Both:
    HELD_OPEN.callback(setattr, textwrap.TextWrapper, "wordsep_re", textwrap.TextWrapper.wordsep_re)
    HELD_OPEN.callback(lambda: vars(textwrap.TextWrapper).get("x") and delattr(textwrap.TextWrapper, "x"))
    return lambda: setattr(textwrap.TextWrapper, "x", 1), lambda: hasattr(textwrap.TextWrapper, "x")


def in_the_place_of_an_iterator() -> Both:
    held = SimpleNamespace(turns=enumerate("a" * 99))
    return lambda: next(held.turns), lambda: held.turns.__reduce__()[1][1] > 0


def in_a_reversed_list() -> Both:
    held: Any = reversed(["a"] * 99)
    return lambda: next(held), lambda: held.__length_hint__() < 99


def in_a_mapped_list() -> Both:
    inner: Any = iter(["a"] * 99)
    held = map(str.upper, inner)
    return lambda: next(held), lambda: inner.__length_hint__() < 99


OF_PYTHON: tuple[Callable[[], Both], ...] = tuple(
    each
    for name, each in list(globals().items())
    if isinstance(each, FunctionType) and not name.startswith("_") and each.__module__ == __name__
)
