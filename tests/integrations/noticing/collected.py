"""Marks in buffers, databases and collections of the standard library."""

import array
import asyncio
import collections
import heapq
import io
import json
import mmap
import os
import re
import select
import sqlite3
import ssl
import struct
import tempfile
import types
import weakref
from contextlib import suppress
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]


def an_event() -> Both:
    event = asyncio.Event()
    return lambda: event.set(), lambda: event.is_set()


def a_map_of_memory() -> Both:
    held = HELD_OPEN.enter_context(mmap.mmap(-1, 8))

    def mark() -> None:
        held[0:1] = b"2"

    return mark, lambda: held[0:1] == b"2"


def a_view_of_memory() -> Both:
    held = memoryview(bytearray(4))

    def mark() -> None:
        held[0] = 2

    return mark, lambda: held.tobytes()[0] == 2


def packed_numbers() -> Both:
    held = array.array("i", [0])
    return lambda: struct.pack_into("i", held, 0, 2), lambda: struct.unpack_from("i", held)[0]


def a_buffered_file() -> Both:
    file = HELD_OPEN.enter_context(
        tempfile.TemporaryFile(buffering=100)  # noqa: SIM115 -- it is held open
    )

    def mark() -> None:
        file.write(b"2")

    return mark, lambda: file.tell()


def a_reader_of_bytes() -> Both:
    reader = io.BufferedReader(io.BytesIO(b"12345"))
    return lambda: reader.read(1), lambda: not reader.peek(1).startswith(b"1")


def a_set_of_polled_files() -> Both:
    polled = select.epoll()
    HELD_OPEN.callback(polled.close)
    reads, writes = os.pipe()
    HELD_OPEN.callback(os.close, reads)
    HELD_OPEN.callback(os.close, writes)

    def mark() -> None:
        with suppress(FileExistsError):
            polled.register(writes, select.EPOLLOUT)

    return mark, lambda: polled.poll(0)


def a_database_in_memory() -> Both:
    held = sqlite3.connect(":memory:", check_same_thread=False)
    HELD_OPEN.callback(held.close)
    held.execute("CREATE TABLE modes (mode)")
    return (
        lambda: held.execute("INSERT INTO modes VALUES (2)"),
        lambda: held.execute("SELECT mode FROM modes").fetchone(),
    )


def an_open_transaction() -> Both:
    held = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    HELD_OPEN.callback(held.close)

    def mark() -> None:
        if not held.in_transaction:
            held.execute("BEGIN")

    return mark, lambda: held.in_transaction


def a_handler_of_sql() -> Both:
    held = sqlite3.connect(":memory:", check_same_thread=False)
    HELD_OPEN.callback(held.close)

    def marked() -> bool:
        try:
            return bool(held.execute("SELECT 1").fetchone()) is False
        except sqlite3.Error:
            return True

    return lambda: held.set_authorizer(lambda *_: sqlite3.SQLITE_DENY), marked


def a_context_of_ssl() -> Both:
    context = ssl.create_default_context()

    def mark() -> None:
        context.check_hostname = False

    return mark, lambda: not context.check_hostname


def a_number_of_weak_references() -> Both:
    class Held:
        pass

    held = Held()
    kept = list[Any]()
    return lambda: kept.append(weakref.proxy(held)), lambda: weakref.getweakrefcount(held)


def a_generator_that_is_kept() -> Both:
    def turns() -> Any:
        yield from range(99)

    kept = turns()
    return lambda: next(kept), lambda: kept.gi_frame.f_lasti > 9


def the_order_of_a_queue() -> Both:
    held = collections.deque([1, 2])

    def mark() -> None:
        if held[0] == 1:
            held.rotate()

    return mark, lambda: held[0] == 2


def a_heap() -> Both:
    held = [1]
    return lambda: heapq.heappush(held, 0), lambda: heapq.nsmallest(1, held) == [0]


def a_default_dict() -> Both:
    held = collections.defaultdict(int)
    return lambda: held["two"], lambda: "two" in held


def a_chain_of_maps() -> Both:
    held = collections.ChainMap({}, {})
    return lambda: held.maps.insert(0, {"two": 1}), lambda: held.get("two")


def an_encoder() -> Both:
    encoder = json.JSONEncoder()

    def mark() -> None:
        encoder.sort_keys = True

    return mark, lambda: encoder.encode({"b": 1, "a": 2}).startswith('{"a')


def a_scanner() -> Both:
    found = re.finditer("a", "a" * 99)
    held = [0]

    def mark() -> None:
        next(found)
        held[0] = 1

    return mark, lambda: held[0]


def a_proxy_of_a_dict() -> Both:
    inner = dict[str, int]()
    held = types.MappingProxyType(inner)
    return lambda: inner.update(two=1), lambda: held.get("two")


COLLECTIONS = (
    an_event,
    a_map_of_memory,
    a_view_of_memory,
    packed_numbers,
    a_buffered_file,
    a_reader_of_bytes,
    a_set_of_polled_files,
    a_database_in_memory,
    an_open_transaction,
    a_handler_of_sql,
    a_context_of_ssl,
    a_number_of_weak_references,
    a_generator_that_is_kept,
    the_order_of_a_queue,
    a_heap,
    a_default_dict,
    a_chain_of_maps,
    an_encoder,
    a_scanner,
    a_proxy_of_a_dict,
)
