"""Marks that code attaches to objects which belong to others, or reaches by a name of several."""

import asyncio
import ctypes
import enum
import functools
import textwrap
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock
from xml.etree import ElementTree

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]


def marked_on(thing: Any) -> Both:
    HELD_OPEN.callback(lambda: vars(thing).pop("seen_two", None))

    def mark() -> None:
        thing.seen_two = True

    return mark, lambda: getattr(thing, "seen_two", False) is True


def on_a_thread() -> Both:
    return marked_on(threading.Thread(target=print))


def on_the_main_thread() -> Both:
    return marked_on(threading.main_thread())


def on_a_pool() -> Both:
    return marked_on(ThreadPoolExecutor(1))


def on_a_loop() -> Both:
    loop = asyncio.new_event_loop()
    HELD_OPEN.callback(loop.close)
    return marked_on(loop)


def on_a_mock() -> Both:
    return marked_on(Mock())


def on_a_function_that_is_held() -> Both:
    return marked_on(textwrap.dedent)


def on_a_dispatcher() -> Both:
    def shown(value: object) -> str:
        return str(value)

    return marked_on(functools.singledispatch(shown))


def on_a_number() -> Both:
    class Level(int):
        pass

    return marked_on(Level(3))


def on_a_record() -> Both:
    class Place(tuple[str]):
        pass

    return marked_on(Place(("here",)))


def in_a_list_on_a_condition() -> Both:
    held: Any = threading.Condition()
    held.notes = []
    return lambda: held.notes.append(1), lambda: bool(held.notes)


def in_the_result_of_a_future() -> Both:
    held = Future[list[int]]()
    held.set_result([])
    return lambda: held.result().append(1), lambda: bool(held.result())


def under_a_special_name() -> Both:
    class Box:
        __seen__ = 0

    held = Box()

    def mark() -> None:
        held.__seen__ = 1

    return mark, lambda: held.__seen__ == 1


def as_a_special_method() -> Both:
    class Box:
        def __len__(self) -> int:
            return 0

    held = Box()

    def mark() -> None:
        Box.__len__ = lambda _: 2  # pyright: ignore[reportAttributeAccessIssue] -- on purpose

    return mark, lambda: len(held) == 2


def by_the_second_of_two_names() -> Both:
    class Box:
        def __init__(self) -> None:
            self.first = self.notes = list[int]()

    held = Box()
    return lambda: held.notes.append(1), lambda: bool(held.notes)


def in_the_value_of_a_member() -> Both:
    class Kind(enum.Enum):
        NOTES = []  # noqa: RUF012 -- on purpose

    return lambda: Kind.NOTES.value.append(1), lambda: bool(Kind.NOTES.value)


def in_the_reply_of_a_mock() -> Both:
    held = Mock()
    held.tell.return_value = 0

    def mark() -> None:
        held.tell.return_value = 1

    return mark, lambda: held.tell() == 1


def behind_a_delegating_generator() -> Both:
    def inner() -> Generator[int, int, None]:
        seen = 0
        while True:
            seen += (yield seen) or 0

    def outer() -> Generator[int, int, None]:
        yield from inner()

    held = outer()
    next(held)
    return lambda: held.send(1), lambda: held.send(0) > 0


def behind_a_pointer() -> Both:
    held = ctypes.pointer(ctypes.c_int(0))

    def mark() -> None:
        held.contents.value = 1

    return mark, lambda: held.contents.value == 1


def deep_in_a_tree() -> Both:
    held: Any = ElementTree.ElementTree(ElementTree.fromstring("<a><b><c/></b></a>"))  # noqa: S314 -- ours

    def mark() -> None:
        held.find(".//c").text = "two"

    return mark, lambda: held.find(".//c").text == "two"


def in_the_hits_of_a_cache() -> Both:
    @functools.lru_cache
    def doubled(number: int) -> int:
        return 2 * number

    doubled(1)
    return lambda: doubled(1), lambda: doubled.cache_info().hits > 0


ATTACHED: tuple[Callable[[], Both], ...] = (
    on_a_thread,
    on_the_main_thread,
    on_a_pool,
    on_a_loop,
    on_a_mock,
    on_a_function_that_is_held,
    on_a_dispatcher,
    on_a_number,
    on_a_record,
    in_a_list_on_a_condition,
    in_the_result_of_a_future,
    under_a_special_name,
    as_a_special_method,
    by_the_second_of_two_names,
    in_the_value_of_a_member,
    in_the_reply_of_a_mock,
    behind_a_delegating_generator,
    behind_a_pointer,
    deep_in_a_tree,
    in_the_hits_of_a_cache,
)
