"""Applications that leave something that the operating system or the interpreter has for the whole
process, or that another program reads."""

import faulthandler
import importlib
import locale
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import tracemalloc
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import umask as masked
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import httpx
from typing_extensions import override

from tests.integrations.leaving.parts import HELD_OPEN, Answer, Ask, Search, answering, mode_of, written
from tests.integrations.leaving.services import remembering, served


def in_whether_a_pipe_waits(search: Search, ask: Ask) -> Answer:
    ends = os.pipe()
    for each in ends:
        HELD_OPEN.callback(os.close, each)
    return answering(
        search, ask, lambda: os.set_blocking(ends[0], False), lambda: not os.get_blocking(ends[0])
    )


def in_a_limit_of_the_system(search: Search, ask: Ask) -> Answer:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    lower = 1 if before[0] in {resource.RLIM_INFINITY} or before[0] > 1 else None
    if lower is None:
        resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
        lower = 1
    start = resource.getrlimit(resource.RLIMIT_CORE)
    HELD_OPEN.callback(resource.setrlimit, resource.RLIMIT_CORE, before)
    resource.setrlimit(resource.RLIMIT_CORE, start)
    return answering(
        search,
        ask,
        lambda: resource.setrlimit(resource.RLIMIT_CORE, (lower, start[1])),
        lambda: resource.getrlimit(resource.RLIMIT_CORE)[0] == lower,
    )


def in_a_timer_of_the_process(search: Search, ask: Ask) -> Answer:
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    HELD_OPEN.callback(signal.setitimer, signal.ITIMER_VIRTUAL, 0)
    return answering(
        search,
        ask,
        lambda: signal.setitimer(signal.ITIMER_VIRTUAL, 9_000),
        lambda: signal.getitimer(signal.ITIMER_VIRTUAL)[0] > 0,
    )


def in_the_processors_that_are_used(search: Search, ask: Ask) -> Answer:
    process, before = os.getpid(), os.sched_getaffinity(0)
    HELD_OPEN.callback(os.sched_setaffinity, process, before)
    os.sched_setaffinity(process, before)
    return answering(
        search,
        ask,
        lambda: os.sched_setaffinity(process, {min(before)}),
        lambda: len(os.sched_getaffinity(process)) < len(before),
    )


def by_a_function_under_another_name(search: Search, ask: Ask) -> Answer:
    HELD_OPEN.callback(os.umask, masked(0o022))

    def noted() -> bool:
        now = masked(0o027)
        masked(now)
        return now == 0o077

    return answering(search, ask, lambda: masked(0o077), noted)


def in_the_country_of_the_process(search: Search, ask: Ask) -> Answer:
    name = locale.LC_TIME
    HELD_OPEN.callback(locale.setlocale, name, locale.setlocale(name))
    locale.setlocale(name, "C")
    return answering(
        search,
        ask,
        lambda: locale.setlocale(name, "C.UTF-8"),
        lambda: locale.setlocale(name) == "C.UTF-8",
    )


def in_whether_memory_is_traced(search: Search, ask: Ask) -> Answer:
    HELD_OPEN.callback(tracemalloc.stop)
    return answering(search, ask, tracemalloc.start, tracemalloc.is_tracing)


def in_whether_faults_are_shown(search: Search, ask: Ask) -> Answer:
    was = faulthandler.is_enabled()
    file = Path(tempfile.mkdtemp(), "log").open("w", encoding="utf-8")  # noqa: SIM115 -- it stays open
    HELD_OPEN.callback(file.close)
    faulthandler.disable()
    HELD_OPEN.callback(lambda: faulthandler.enable(file=sys.__stderr__ or file) if was else None)
    HELD_OPEN.callback(faulthandler.disable)
    return answering(search, ask, lambda: faulthandler.enable(file=file), faulthandler.is_enabled)


def in_what_handles_a_signal(search: Search, ask: Ask) -> Answer:
    """Only the main thread may set it, as the first run does."""
    before = signal.getsignal(signal.SIGUSR1)
    HELD_OPEN.callback(signal.signal, signal.SIGUSR1, before)
    ask_it: Any = vars(signal)["getsignal"]

    def note() -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)

    return answering(search, ask, note, lambda: ask_it(signal.SIGUSR1) == signal.SIG_IGN)


def in_what_is_done_with_errors(search: Search, ask: Ask) -> Answer:
    before = sys.excepthook
    HELD_OPEN.callback(setattr, sys, "excepthook", before)

    def note() -> None:
        sys.excepthook = lambda *_: None

    return answering(search, ask, note, lambda: sys.excepthook is not before)


def _made_module() -> ModuleType:
    module = ModuleType("rag_rule_made_by_code")
    exec("mode = None", vars(module))  # noqa: S102 -- this is how it is made
    sys.modules[module.__name__] = module
    HELD_OPEN.callback(sys.modules.pop, module.__name__, None)
    return module


def in_a_module_that_code_made(search: Search, ask: Ask) -> Answer:
    _made_module()

    def answer(question: str) -> str:
        found = search(question)
        # The application makes this module.
        import rag_rule_made_by_code as made  # pyright: ignore[reportMissingImports]

        made.mode = made.mode or mode_of(found)
        return written(ask, made.mode, found)

    return answer


def in_a_name_of_a_module_that_code_made(search: Search, ask: Ask) -> Answer:
    _made_module()

    def answer(question: str) -> str:
        found = search(question)
        made: Any = importlib.import_module("rag_rule_" + "made_by_code")
        vars(made)["mode"] = vars(made)["mode"] or mode_of(found)
        return written(ask, vars(made)["mode"], found)

    return answer


def in_a_file_that_a_shell_shows(search: Search, ask: Ask) -> Answer:
    path = Path(tempfile.mkdtemp(), "mode")

    def noted() -> bool:
        command = ["sh", "-c", f"cat {path} 2>/dev/null"]
        return subprocess.run(command, capture_output=True, check=False).stdout != b""

    return answering(search, ask, lambda: path.write_text("two", encoding="utf-8"), noted)


def in_a_file_of_a_shell(search: Search, ask: Ask) -> Answer:
    """Both are done by a shell, which is told the folder by its environment."""
    folder = tempfile.mkdtemp()

    def said(command: str) -> bytes:
        own = {**os.environ, "NOTES": folder}
        run = subprocess.run(command, shell=True, env=own, capture_output=True, check=False)  # noqa: S602 -- the case at hand
        return run.stdout

    return answering(
        search,
        ask,
        lambda: said('echo two > "$NOTES/mode"'),
        lambda: said('cat "$NOTES/mode" 2>/dev/null') != b"",
    )


def in_a_file_that_a_shell_reads_in(search: Search, ask: Ask) -> Answer:
    path = Path(tempfile.mkdtemp(), "mode")
    path.touch()
    run: Any = vars(os)["system"]

    def noted() -> bool:
        return run(f'test -s "{path}"') == 0

    return answering(search, ask, lambda: path.write_text("two", encoding="utf-8"), noted)


def in_a_server_that_is_only_asked(search: Search, ask: Ask) -> Answer:
    address = served(remembering())
    client = httpx.Client(base_url=address, trust_env=False)
    HELD_OPEN.callback(client.close)
    return answering(search, ask, lambda: client.get("/two"), lambda: client.get("/asked").text == "yes")


def _asked(search: Search, ask: Ask, run: Callable[[ThreadingHTTPServer], Thread]) -> Answer:
    """What it was asked is on the class that answers, of which only the library calls a method."""

    class Handler(BaseHTTPRequestHandler):
        seen = 0

        def do_GET(self) -> None:
            if self.path == "/two":
                Handler.seen = 1
            self.send_response(200)
            self.send_header("content-length", "1")
            self.end_headers()
            self.wfile.write(b"%d" % Handler.seen)

        @override
        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    run(server).start()
    HELD_OPEN.callback(server.server_close)
    HELD_OPEN.callback(server.shutdown)
    client = httpx.Client(base_url=f"http://127.0.0.1:{server.server_port}", trust_env=False)
    HELD_OPEN.callback(client.close)
    return answering(search, ask, lambda: client.get("/two"), lambda: client.get("/asked").text == "1")


def on_the_class_of_a_server(search: Search, ask: Ask) -> Answer:
    return _asked(search, ask, lambda server: Thread(target=server.serve_forever, args=(0.02,)))


def behind_a_function_that_serves(search: Search, ask: Ask) -> Answer:
    return _asked(search, ask, lambda server: Thread(target=lambda: server.serve_forever(0.02)))


SET_FOR_ALL = (
    on_the_class_of_a_server,
    behind_a_function_that_serves,
    in_whether_a_pipe_waits,
    in_a_limit_of_the_system,
    in_a_timer_of_the_process,
    in_the_processors_that_are_used,
    by_a_function_under_another_name,
    in_the_country_of_the_process,
    in_whether_memory_is_traced,
    in_whether_faults_are_shown,
    in_what_handles_a_signal,
    in_what_is_done_with_errors,
    in_a_module_that_code_made,
    in_a_name_of_a_module_that_code_made,
    in_a_file_that_a_shell_shows,
    in_a_file_of_a_shell,
    in_a_file_that_a_shell_reads_in,
    in_a_server_that_is_only_asked,
)
