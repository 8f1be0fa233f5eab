"""Applications that leave something in another process, or where only code reaches."""

import contextvars
import logging
import mimetypes
import multiprocessing
import sqlite3
import sys
import threading
import warnings
import weakref
from concurrent.futures import ProcessPoolExecutor
from functools import singledispatch
from itertools import count
from multiprocessing.connection import Connection
from uuid import uuid4

from tests.integrations.leaving import at_work
from tests.integrations.leaving.parts import (
    HELD_OPEN,
    Answer,
    Ask,
    Search,
    answering,
    asking,
    mode_of,
    written,
)


def _actor(connection: Connection) -> None:
    seen = set[str]()
    while (word := connection.recv()) != "end":
        seen.update({word} - {"?"})
        connection.send(bool(seen))


def in_a_process(search: Search, ask: Ask) -> Answer:
    """A process that began before any run, at the other end of a pipe."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_actor, args=(there,), daemon=True)
    process.start()
    HELD_OPEN.callback(process.join)
    HELD_OPEN.callback(here.send, "end")

    def said(word: str) -> bool:
        here.send(word)
        return here.recv()

    return answering(search, ask, lambda: said("!"), lambda: said("?"))


def in_a_pool_of_processes(search: Search, ask: Ask) -> Answer:
    pool = HELD_OPEN.enter_context(
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    )
    pool.submit(at_work.noted).result()
    return answering(
        search,
        ask,
        lambda: pool.submit(at_work.note).result(),
        lambda: pool.submit(at_work.noted).result(),
    )


def in_shared_memory_of_sqlite(search: Search, ask: Ask) -> Answer:
    name = f"file:{uuid4().hex}?mode=memory&cache=shared"

    def opened() -> sqlite3.Connection:
        return sqlite3.connect(name, uri=True, check_same_thread=False, isolation_level=None)

    held = opened()
    HELD_OPEN.callback(held.close)
    held.execute("CREATE TABLE modes (mode TEXT)")

    def said(statement: str) -> bool:
        connection = opened()
        try:
            return bool(connection.execute(statement).fetchall())
        finally:
            connection.close()

    return answering(
        search,
        ask,
        lambda: said("INSERT INTO modes VALUES ('two')"),
        lambda: said("SELECT mode FROM modes"),
    )


def in_a_context(search: Search, ask: Ask) -> Answer:
    """A context that is kept, and in which code is run."""
    mode = contextvars.ContextVar("mode", default=False)
    context = contextvars.copy_context()
    return answering(search, ask, lambda: context.run(mode.set, True), lambda: context.run(mode.get))


def by_another_implementation(search: Search, ask: Ask) -> Answer:
    @singledispatch
    def noted(about: object) -> bool:
        return False

    def note() -> None:
        noted.register(int, lambda about: True)

    return answering(search, ask, note, lambda: noted(1))


def in_the_level_of_a_logger(search: Search, ask: Ask) -> Answer:
    HELD_OPEN.callback(logging.getLogger("rag_rule_level").setLevel, logging.NOTSET)
    return answering(
        search,
        ask,
        lambda: logging.getLogger("rag_rule_level").setLevel(12),
        lambda: logging.getLogger("rag_rule_level").level == 12,
    )


def as_a_filter_of_a_logger(search: Search, ask: Ask) -> Answer:
    logger, rule = logging.getLogger("rag_rule_filter"), logging.Filter()
    HELD_OPEN.callback(logger.removeFilter, rule)
    return answering(search, ask, lambda: logger.addFilter(rule), lambda: bool(logger.filters))


def as_a_filter_of_warnings(search: Search, ask: Ask) -> Answer:
    HELD_OPEN.enter_context(warnings.catch_warnings())
    return answering(
        search,
        ask,
        lambda: warnings.simplefilter("ignore", ImportWarning),
        lambda: any(each[0] == "ignore" and each[2] is ImportWarning for each in warnings.filters),
    )


class _Mode:
    """Something that a weak reference may lead to."""


_MODE = _Mode()
_MODES = weakref.WeakValueDictionary[str, _Mode]()


def in_a_weak_dict_of_a_module(search: Search, ask: Ask) -> Answer:
    HELD_OPEN.callback(lambda: _MODES.pop("two", None))

    def note() -> None:
        _MODES["two"] = _MODE

    return answering(search, ask, note, lambda: "two" in _MODES)


def in_a_list_of_a_context(search: Search, ask: Ask) -> Answer:
    modes = contextvars.ContextVar[list[str]]("modes")
    context = contextvars.copy_context()
    context.run(modes.set, [])
    return answering(
        search,
        ask,
        lambda: context.run(lambda: modes.get().append("two")),
        lambda: bool(context.run(modes.get)),
    )


def in_a_temporary_table(search: Search, ask: Ask) -> Answer:
    held = sqlite3.connect(":memory:", check_same_thread=False)
    HELD_OPEN.callback(held.close)
    return answering(
        search,
        ask,
        lambda: held.execute("CREATE TEMP TABLE IF NOT EXISTS two (mode)"),
        lambda: bool(held.execute("SELECT name FROM sqlite_temp_master").fetchall()),
    )


def in_the_types_of_files(search: Search, ask: Ask) -> Answer:
    mimetypes.init()
    HELD_OPEN.callback(mimetypes.init)
    return answering(
        search,
        ask,
        lambda: mimetypes.add_type("text/two", ".two"),
        lambda: mimetypes.guess_type("a.two")[0] == "text/two",
    )


def among_the_finders_of_modules(search: Search, ask: Ask) -> Answer:
    class Finder:
        @staticmethod
        def find_spec(*_: object) -> None:
            """Finds nothing."""

    def note() -> None:
        if Finder not in sys.meta_path:
            sys.meta_path.append(Finder)
            HELD_OPEN.callback(sys.meta_path.remove, Finder)

    return answering(search, ask, note, lambda: Finder in sys.meta_path)


def in_the_name_of_a_thread(search: Search, ask: Ask) -> Answer:
    thread = threading.main_thread()
    HELD_OPEN.callback(setattr, thread, "name", thread.name)

    def note() -> None:
        threading.main_thread().name = "two"

    return answering(search, ask, note, lambda: threading.main_thread().name == "two")


def by_a_number_that_decides(search: Search, ask: Ask) -> Answer:
    numbers = count()

    def answer(question: str) -> str:
        number, found = next(numbers), search(question)
        return written(ask, "Warn" if number > 2 else "Calm", found)

    return answer


SET_FARTHER = (
    in_a_list_of_a_context,
    in_a_temporary_table,
    in_the_types_of_files,
    among_the_finders_of_modules,
    in_the_name_of_a_thread,
    by_a_number_that_decides,
    in_a_process,
    in_a_pool_of_processes,
    in_shared_memory_of_sqlite,
    in_a_context,
    by_another_implementation,
    in_the_level_of_a_logger,
    as_a_filter_of_a_logger,
    as_a_filter_of_warnings,
    in_a_weak_dict_of_a_module,
)


def by_a_pool_that_keeps_nothing(search: Search, ask: Ask) -> Answer:
    pool = HELD_OPEN.enter_context(
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    )
    pool.submit(at_work.length_of, "a text").result()
    return asking(search, ask, lambda _, found: pool.submit(at_work.length_of, " ".join(found)).result())


def with_a_number_for_the_log(search: Search, ask: Ask) -> Answer:
    numbers, logger = count(), logging.getLogger("rag_rule_number")

    def answer(question: str) -> str:
        number = next(numbers)
        found = search(question)
        logger.info("request %d", number)
        return written(ask, mode_of(found), found)

    return answer


HARMLESS = (by_a_pool_that_keeps_nothing, with_a_number_for_the_log)
