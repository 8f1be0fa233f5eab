"""Twins of applications that leave marks beside their runs: they only read such places, or keep none."""

import asyncio
import collections.abc
import copy
import copyreg
import ctypes
import functools
import importlib
import inspect
import json
import linecache
import logging
import logging.handlers
import multiprocessing
import sqlite3
import threading
import typing
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import httpx
import jinja2
import requests
import tiktoken
import tokenizers

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.commands import folder
from tests.integrations.noticing.harmless import Used

_LOG = logging.getLogger("rag_rule_harmless_beside")
_UNKNOWN = "[UNK]"


def what_a_thread_is_given() -> Used:
    end = threading.Event()
    HELD_OPEN.callback(end.set)
    thread: Any = threading.Thread(target=lambda *_: end.wait(60), args=(["words"],), daemon=True)
    return lambda question, found: _LOG.debug("%s %s", thread.name, thread._args)


def _loop() -> Any:
    loop = asyncio.new_event_loop()
    HELD_OPEN.callback(loop.close)
    return loop


async def _counted(found: list[str]) -> int:
    await asyncio.sleep(0)
    return await asyncio.wait_for(asyncio.sleep(0, len(found)), 60)


_ONE_AT_A_TIME = threading.Lock()


def _beside(work: Any) -> None:
    thread = threading.Thread(target=work)
    with _ONE_AT_A_TIME:  # a loop runs once at a time
        thread.start()
        thread.join()


def a_loop_of_all_runs() -> Used:
    loop = _loop()
    return lambda question, found: _beside(lambda: loop.run_until_complete(_counted(found)))


def the_timers_of_a_loop_for_the_log() -> Used:
    loop = _loop()

    def use(question: str, found: list[str]) -> None:
        _beside(lambda: loop.run_until_complete(_counted(found)))
        _LOG.debug("%s tasks", len(asyncio.all_tasks(loop)))

    return use


def a_call_that_a_loop_makes_at_once() -> Used:
    loop = _loop()

    def work() -> None:
        loop.call_soon(loop.stop)
        loop.run_forever()

    return lambda question, found: _beside(work)


def workers_of_a_pool() -> Used:
    pool = ThreadPoolExecutor(2)
    HELD_OPEN.callback(pool.shutdown)
    return lambda question, found: sum(pool.map(len, found))


def names_of_the_workers_for_the_log() -> Used:
    pool = ThreadPoolExecutor(2)
    HELD_OPEN.callback(pool.shutdown)

    def counted(text: str) -> int:
        _LOG.debug("%s", threading.current_thread().name)
        return len(text)

    return lambda question, found: sum(pool.map(counted, found))


def _words(text: str) -> int:
    return len(text.split())


def processes_of_a_pool() -> Used:
    pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork"))
    HELD_OPEN.callback(pool.shutdown)
    return lambda question, found: sum(pool.map(_words, found))


def a_future_of_each_run() -> Used:
    def use(question: str, found: list[str]) -> int:
        future = Future[int]()
        future.set_result(len(found))
        return future.result()

    return use


def a_future_of_all_runs() -> Used:
    future = Future[int]()
    future.set_result(3)
    return lambda question, found: future.result()


def the_annotations_of_a_function() -> Used:
    def tell(text: str, number: int = 1) -> str:
        return text * number

    return lambda question, found: typing.get_type_hints(tell) and inspect.signature(tell).parameters


def a_function_that_is_wrapped_in_each_run() -> Used:
    def tell(text: str) -> str:
        return text

    def use(question: str, found: list[str]) -> str:
        @functools.wraps(tell)
        def told(text: str) -> str:
            return tell(text)

        told.__annotations__["text"] = str
        told.__doc__ = question
        return told(question)

    return use


def the_words_of_a_property() -> Used:
    class Box:
        @property
        def size(self) -> int:
            """Says one."""
            return 1

    held = Box()
    return lambda question, found: (Box.size.__doc__, held.size)


def an_abstract_class() -> Used:
    class Box(collections.abc.Sized):
        def __len__(self) -> int:
            return 1

    held: Any = Box()
    return lambda question, found: isinstance(held, collections.abc.Sized) and Box.__abstractmethods__


def the_class_of_a_module() -> Used:
    place = importlib.import_module("tests.integrations.noticing.place")
    return lambda question, found: (place.__class__.__name__, getattr(place, "none", None))


def a_pointer() -> Used:
    held = ctypes.pointer(ctypes.c_int(3))
    return lambda question, found: held[0] + held.contents.value


def a_buffer_of_each_run() -> Used:
    def use(question: str, found: list[str]) -> bytes:
        held = ctypes.create_string_buffer(4)
        ctypes.memmove(held, b"two", 3)
        return held.value

    return use


def a_database_that_is_attached() -> Used:
    held = sqlite3.connect(":memory:", check_same_thread=False)
    HELD_OPEN.callback(held.close)
    held.execute("ATTACH DATABASE ':memory:' AS two")
    held.execute("CREATE TABLE two.words (word)")
    return lambda question, found: held.execute("SELECT count(*) FROM two.words").fetchone()


def a_file_that_a_method_asks_for() -> Used:
    path = folder() / "words"
    path.touch()
    asks = path.exists
    return lambda question, found: asks()


def a_tokenizer() -> Used:
    held = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "[UNK]": 1}, unk_token=_UNKNOWN))
    return lambda question, found: [held.encode(each).ids for each in found]


def a_tokenizer_whose_size_is_read() -> Used:
    held = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "[UNK]": 1}, unk_token=_UNKNOWN))
    held.enable_truncation(512)
    return lambda question, found: (held.get_vocab_size(), held.truncation, held.encode(question).ids)


def a_set_beside_a_tokenizer() -> Used:
    held = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "[UNK]": 1}, unk_token=_UNKNOWN))

    def use(question: str, found: list[str]) -> int:
        seen = set[int]()
        seen.add(len(held.encode(question).ids))
        seen.update([1])
        return len(seen)

    return use


def an_encoding() -> Used:
    held: Any = tiktoken.Encoding("two", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})
    return lambda question, found: len(held.encode("aaa"))


def a_session_whose_headers_are_read() -> Used:
    held = requests.Session()
    return lambda question, found: (held.headers.get("two"), held.adapters, held.cookies.get("two"))


def a_client_whose_headers_are_read() -> Used:
    held = httpx.Client()
    HELD_OPEN.callback(held.close)
    return lambda question, found: (held.headers.get("two"), held.build_request("GET", "http://a.test/"))


def a_template_with_globals() -> Used:
    held: Any = jinja2.Environment(autoescape=True)
    held.globals["two"] = 2
    template = held.from_string("{{ two }} {{ found | length }}")
    return lambda question, found: template.render(found=found)


def a_template_of_each_run() -> Used:
    held: Any = jinja2.Environment(autoescape=True)
    return lambda question, found: held.from_string("{{ found | length }}").render(found=found)


def an_environment_of_each_run() -> Used:
    def use(question: str, found: list[str]) -> str:
        held: Any = jinja2.Environment(autoescape=True)
        held.globals["two"] = len(found)
        held.filters["mode"] = len
        return held.from_string("{{ two }} {{ found | mode }}").render(found=found)

    return use


def a_handler_that_keeps_the_log() -> Used:
    held = logging.handlers.MemoryHandler(9999)
    logger = logging.Logger("rag_rule_harmless_beside.own")
    logger.addHandler(held)
    return lambda question, found: logger.warning("%s found", len(found))


def lines_of_a_file() -> Used:
    return lambda question, found: linecache.getline(__file__, 1)


def how_objects_are_copied() -> Used:
    return lambda question, found: (copy.copy(found), copy.deepcopy(found), len(copyreg.dispatch_table))


def an_encoder_of_each_run() -> Used:
    def use(question: str, found: list[str]) -> str:
        encoder: Any = json.JSONEncoder()
        encoder.sort_keys = True
        return encoder.encode({"b": found, "a": question})

    return use


def a_partial_of_all_runs() -> Used:
    counted = functools.partial(sorted, key=len)
    return lambda question, found: counted(found)


BESIDE = tuple(
    each
    for each in list(globals().values())
    if getattr(each, "__annotations__", {}).get("return") is Used
)
