"""Twins of applications that leave marks in the process: what they make is gone with the run."""

import atexit
import contextvars
import decimal
import hashlib
import itertools
import json
import logging
import os
import random
import signal
import socket
import string
import subprocess
import threading
import time
import uuid
import warnings
import weakref
import zlib
from collections import Counter, deque
from contextlib import suppress
from functools import lru_cache
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.commands import folder, said
from tests.integrations.noticing.harmless import Used

_LOG = logging.getLogger("rag_rule_harmless_work")


def a_pair_of_sockets_of_each_run() -> Used:
    def use(question: str, found: list[str]) -> bytes:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.send(b"2")
            return theirs.recv(1)

    return use


def a_pipe_of_each_run() -> Used:
    def use(question: str, found: list[str]) -> bytes:
        reads, writes = os.pipe()
        os.write(writes, b"2")
        os.close(writes)
        with os.fdopen(reads, "rb") as file:
            return file.read()

    return use


def threads_that_are_listed() -> Used:
    return lambda question, found: _LOG.debug("%s threads", len(threading.enumerate()))


def threads_of_each_run() -> Used:
    def use(question: str, found: list[str]) -> None:
        threads = [threading.Thread(target=len, args=(each,)) for each in found]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    return use


def a_compressor_of_each_run() -> Used:
    def use(question: str, found: list[str]) -> int:
        packer = zlib.compressobj()
        return len(packer.compress("".join(found).encode()) + packer.flush())

    return use


def a_digest_of_each_run() -> Used:
    return lambda question, found: hashlib.sha256("".join(found).encode()).hexdigest()


def a_note_on_an_error_of_the_run() -> Used:
    def use(question: str, found: list[str]) -> None:
        with suppress(ValueError):
            error: Any = ValueError("none")
            getattr(error, "add_note", str)("two")
            raise error

    return use


def a_logger_by_its_name() -> Used:
    return lambda question, found: logging.getLogger(f"rag_rule.{'harmless'}").debug("%s", found)


def a_level_for_the_log() -> Used:
    return lambda question, found: _LOG.isEnabledFor(logging.DEBUG) and _LOG.debug("%s", found)


def warnings_of_each_run() -> Used:
    def use(question: str, found: list[str]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.warn("harmless", stacklevel=1)

    return use


def a_context_of_decimals_of_each_run() -> Used:
    def use(question: str, found: list[str]) -> decimal.Decimal:
        with decimal.localcontext() as context:
            context.prec = 4
            return decimal.Decimal(1) / 3

    return use


def chance_of_each_run() -> Used:
    return lambda question, found: random.Random(4).sample(range(9), 3)


def a_number_for_the_log() -> Used:
    numbers = itertools.count(1)

    def use(question: str, found: list[str]) -> None:
        _LOG.debug("request %s", next(numbers))

    return use


def a_name_for_the_log() -> Used:
    return lambda question, found: _LOG.debug("request %s", uuid.uuid4())


def the_last_requests_for_the_log() -> Used:
    last = deque[str](maxlen=5)

    def use(question: str, found: list[str]) -> None:
        last.append(question)
        _LOG.debug("last %s", len(last))

    return use


def a_lock_of_all_runs() -> Used:
    lock = threading.Lock()

    def use(question: str, found: list[str]) -> int:
        with lock:
            return len(found)

    return use


def a_semaphore_of_all_runs() -> Used:
    places = threading.Semaphore(2)

    def use(question: str, found: list[str]) -> int:
        with places:
            return len(found)

    return use


def a_pure_cache() -> Used:
    @lru_cache(maxsize=100)
    def words(text: str) -> int:
        return len(text.split())

    return lambda question, found: sum(map(words, found))


def a_context_variable_of_each_run() -> Used:
    variable = contextvars.ContextVar("found", default=0)

    def use(question: str, found: list[str]) -> None:
        token = variable.set(len(found))
        variable.reset(token)

    return use


def the_priority_that_is_read() -> Used:
    return lambda question, found: _LOG.debug("priority %s", os.getpriority(os.PRIO_PROCESS, 0))


def the_number_of_the_process() -> Used:
    return lambda question, found: _LOG.debug("process %s", os.getpid())


def the_handler_of_a_signal() -> Used:
    return lambda question, found: signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL


def the_zone_of_times() -> Used:
    return lambda question, found: time.strftime("%Z")


def a_weak_reference_of_each_run() -> Used:
    class Held:
        pass

    def use(question: str, found: list[str]) -> bool:
        held = Held()
        return weakref.ref(held)() is held

    return use


def a_generator_of_each_run() -> Used:
    return lambda question, found: next((each for each in found if "z" in each), "")


def words_that_are_counted() -> Used:
    return lambda question, found: Counter(" ".join(found).split()).most_common(1)


def a_template_of_all_runs() -> Used:
    template = string.Template("$count found")
    return lambda question, found: template.substitute(count=len(found))


def an_encoder_of_all_runs() -> Used:
    encoder = json.JSONEncoder(sort_keys=True)
    return lambda question, found: encoder.encode(found)


def a_log_file_that_is_open() -> Used:
    file = HELD_OPEN.enter_context((folder() / "log").open("a", encoding="utf-8"))

    def use(question: str, found: list[str]) -> None:
        file.write(f"{len(found)}\n")
        file.flush()

    return use


def a_function_at_the_end() -> Used:
    atexit.register(len, "")
    return lambda question, found: len(found)


def a_queue_of_each_run() -> Used:
    import queue

    def use(question: str, found: list[str]) -> list[str]:
        waiting = queue.Queue[str]()
        for each in found:
            waiting.put(each)
        return [waiting.get() for _ in found]

    return use


def a_database_of_each_run() -> Used:
    import sqlite3

    def use(question: str, found: list[str]) -> int:
        held = sqlite3.connect(":memory:")
        held.execute("CREATE TABLE texts (text)")
        held.executemany("INSERT INTO texts VALUES (?)", [(each,) for each in found])
        count = held.execute("SELECT count(*) FROM texts").fetchone()[0]
        held.close()
        return count

    return use


def a_pattern_of_all_runs() -> Used:
    import re

    pattern = re.compile(r"\w+")
    return lambda question, found: [pattern.findall(each) for each in found]


def a_process_with_its_own_environment() -> Used:
    return lambda question, found: (
        subprocess.run(["env"], env={"FOUND": str(len(found))}, capture_output=True, check=False).stdout
    )


def the_place_of_the_program() -> Used:
    return lambda question, found: said(["which", "cat"])


IN_THE_PROCESS = tuple(
    each
    for each in list(globals().values())
    if getattr(each, "__annotations__", {}).get("return") is Used
)
