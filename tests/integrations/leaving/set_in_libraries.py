"""Applications that leave something in an object of a library that has no attributes to compare."""

import csv
import encodings.aliases
import hashlib
import io
import itertools
import linecache
import re
import socket
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from multiprocessing.shared_memory import ShareableList, SharedMemory
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import httpx
from typing_extensions import override

from tests.integrations.leaving.parts import HELD_OPEN, Answer, Ask, Search, answering


def in_a_block_of_shared_memory(search: Search, ask: Ask) -> Answer:
    block = SharedMemory(create=True, size=8)
    HELD_OPEN.callback(block.unlink)
    HELD_OPEN.callback(block.close)
    held: Any = block

    def note() -> None:
        held.buf[0] = 1

    return answering(search, ask, note, lambda: held.buf[0] == 1)


def in_a_shared_list(search: Search, ask: Ask) -> Answer:
    held = ShareableList([0, 0])
    HELD_OPEN.callback(held.shm.unlink)
    HELD_OPEN.callback(held.shm.close)

    def note() -> None:
        held[0] = 1

    return answering(search, ask, note, lambda: held[0] == 1)


def in_the_changes_of_a_connection(search: Search, ask: Ask) -> Answer:
    """No statement reads what others wrote, but the connection counts it."""
    held = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    HELD_OPEN.callback(held.close)
    held.execute("CREATE TABLE notes (note TEXT)")
    return answering(
        search,
        ask,
        lambda: held.execute("INSERT INTO notes VALUES ('two')"),
        lambda: held.total_changes > 0,
    )


def in_the_calls_of_a_mock(search: Search, ask: Ask) -> Answer:
    listener = MagicMock()
    return answering(search, ask, listener, lambda: listener.called)


def in_the_calls_of_a_method_of_a_mock(search: Search, ask: Ask) -> Answer:
    listener = MagicMock()
    return answering(search, ask, lambda: listener.tell("two"), lambda: listener.tell.call_count > 0)


def in_the_timeout_of_a_socket(search: Search, ask: Ask) -> Answer:
    held = HELD_OPEN.enter_context(socket.socket())
    return answering(search, ask, lambda: held.settimeout(5), lambda: held.gettimeout() == 5)


def in_the_options_of_a_socket(search: Search, ask: Ask) -> Answer:
    held = HELD_OPEN.enter_context(socket.socket())
    option = (socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    return answering(
        search, ask, lambda: held.setsockopt(*option, 1), lambda: held.getsockopt(*option) == 1
    )


def in_the_place_of_a_reader_of_tables(search: Search, ask: Ask) -> Answer:
    rows = csv.reader(["a,b"] * 100)
    return answering(search, ask, lambda: next(rows), lambda: rows.line_num > 0)


def in_the_place_of_matches(search: Search, ask: Ask) -> Answer:
    def places() -> Callable[[], bool]:
        matches = re.finditer("a", "a" * 9_000)
        return lambda: next(matches).start() > 50

    held = places()
    return answering(search, ask, lambda: [held() for _ in range(51)], lambda: held())


def in_the_place_of_a_mapped_list(search: Search, ask: Ask) -> Answer:
    modes = map(str.strip, ["calm "] * 30 + ["warn "] * 9_000)
    return answering(search, ask, lambda: [next(modes) for _ in range(30)], lambda: next(modes) == "warn")


def in_how_a_file_is_written(search: Search, ask: Ask) -> Answer:
    path = Path(tempfile.mkdtemp(), "log")
    log = HELD_OPEN.enter_context(path.open("w", encoding="ascii"))
    held: Any = log
    return answering(
        search, ask, lambda: held.reconfigure(errors="ignore"), lambda: held.errors == "ignore"
    )


def on_the_first_output(search: Search, ask: Ask) -> Answer:
    held: Any = sys.__stdout__
    HELD_OPEN.callback(lambda: vars(held).pop("seen_two", None))

    def note() -> None:
        # A new attribute, on purpose.
        sys.__stdout__.seen_two = True  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]

    return answering(search, ask, note, lambda: getattr(sys.__stdout__, "seen_two", False))


def among_the_lines_of_files(search: Search, ask: Ask) -> Answer:
    HELD_OPEN.callback(lambda: linecache.cache.pop("<two>", None))

    def note() -> None:
        linecache.cache["<two>"] = (3, None, ["two\n"], "<two>")

    return answering(search, ask, note, lambda: linecache.getline("<two>", 1) == "two\n")


def among_the_names_of_encodings(search: Search, ask: Ask) -> Answer:
    known = encodings.aliases.aliases
    HELD_OPEN.callback(lambda: known.pop("rag_rule_two", None))

    def note() -> None:
        encodings.aliases.aliases["rag_rule_two"] = "ascii"

    return answering(search, ask, note, lambda: "rag_rule_two" in encodings.aliases.aliases)


def in_a_running_digest(search: Search, ask: Ask) -> Answer:
    digest = hashlib.sha256()
    empty = digest.hexdigest()
    return answering(search, ask, lambda: digest.update(b"two"), lambda: digest.hexdigest() != empty)


def in_the_parts_of_a_cycle(search: Search, ask: Ask) -> Answer:
    first, second = itertools.tee(iter(["calm"] * 40 + ["warn"] * 9_000))
    del first
    return answering(
        search, ask, lambda: [next(second) for _ in range(40)], lambda: next(second) == "warn"
    )


class Counting(httpx.BaseTransport):
    """A way to send requests that goes by how many there were of a kind."""

    def __init__(self) -> None:
        self.seen = set[str]()

    @override
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/two":
            self.seen.add("two")
        return httpx.Response(200, text="yes" if self.seen else "no")


def in_how_a_client_sends(search: Search, ask: Ask) -> Answer:
    client = httpx.Client(transport=Counting(), base_url="http://service.test")
    HELD_OPEN.callback(client.close)
    return answering(search, ask, lambda: client.get("/two"), lambda: client.get("/asked").text == "yes")


def in_how_a_provider_is_asked(search: Search, ask: Ask) -> Answer:
    """The client of a provider of models, used for something else."""
    import openai

    client = openai.OpenAI(
        api_key="none",
        base_url="http://service.test",
        http_client=httpx.Client(transport=Counting(), base_url="http://service.test"),
    )
    HELD_OPEN.callback(client.close)

    def said(path: str) -> str:
        return client.get(path, cast_to=httpx.Response).text

    return answering(search, ask, lambda: said("/two"), lambda: said("/asked") == "yes")


def in_the_buffer_of_a_stream(search: Search, ask: Ask) -> Answer:
    stream = io.TextIOWrapper(io.BytesIO(b"a\n" * 100))
    return answering(search, ask, lambda: stream.readline(), lambda: stream.tell() > 0)


SET_IN_LIBRARIES = (
    in_a_block_of_shared_memory,
    in_a_shared_list,
    in_the_changes_of_a_connection,
    in_the_calls_of_a_mock,
    in_the_calls_of_a_method_of_a_mock,
    in_the_timeout_of_a_socket,
    in_the_options_of_a_socket,
    in_the_place_of_a_reader_of_tables,
    in_the_place_of_matches,
    in_the_place_of_a_mapped_list,
    in_how_a_file_is_written,
    on_the_first_output,
    among_the_lines_of_files,
    among_the_names_of_encodings,
    in_a_running_digest,
    in_the_parts_of_a_cycle,
    in_how_a_client_sends,
    in_how_a_provider_is_asked,
    in_the_buffer_of_a_stream,
)
