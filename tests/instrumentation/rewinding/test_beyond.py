"""What cannot be put back tells when it has changed, and nothing that cannot be asked does any harm."""

import abc
import asyncio
import gc
import io
import os
import queue
import sqlite3
import sys
import threading
import types
import warnings
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any

import numpy
import pytest
from pydantic import BaseModel, Field
from typing_extensions import override

from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding


def told(application: Callable[[], Any], change: Callable[[], object]) -> str:
    kept = Rewinding(application, lambda _: False, tuple)
    assert kept.left() is None
    change()
    left = kept.left()
    return "" if left is None else left.clause


@pytest.mark.waits
def test_a_connection_that_its_server_closes_is_no_state_of_the_application() -> None:
    """Clients keep connections for later requests, and servers close them whenever they like."""

    async def with_a_connection() -> str:
        hang_up, hung_up = asyncio.Event(), asyncio.Event()

        class Client(asyncio.Protocol):
            @override
            def connection_lost(self, exc: Exception | None) -> None:
                hung_up.set()

        async def serve(_: asyncio.StreamReader, sending: asyncio.StreamWriter) -> None:
            await hang_up.wait()
            sending.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        connection, _ = await asyncio.get_running_loop().create_connection(Client, host, port)
        kept = Rewinding(lambda: connection, lambda _: False, tuple)
        assert kept.left() is None
        hang_up.set()
        await hung_up.wait()
        left = kept.left()
        server.close()
        return "" if left is None else left.clause

    assert asyncio.run(with_a_connection()) == ""


def test_what_is_set_for_the_process_counts_where_code_asks_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    was = gc.get_threshold()
    try:
        assert "gc" in told(lambda: gc.get_threshold()[0] == 1234, lambda: gc.set_threshold(1234))
        # Libraries set it as well.
        assert not told(lambda: "an answer", lambda: gc.set_threshold(4321))
    finally:
        gc.set_threshold(*was)
    monkeypatch.setattr(sys, "ps1", "calm", raising=False)
    assert "sys.ps1" in told(lambda: sys.ps1, lambda: monkeypatch.setattr(sys, "ps1", "alert"))


def test_a_setting_counts_where_code_also_calls_the_function_that_sets_it() -> None:
    was = sys.getrecursionlimit()
    try:
        assert "sys.setrecursionlimit" in told(
            lambda: sys.setrecursionlimit(sys.getrecursionlimit()), lambda: sys.setrecursionlimit(was + 1)
        )
    finally:
        sys.setrecursionlimit(was)


def test_an_asynchronous_generator_that_goes_on_is_told_of() -> None:
    async def modes() -> AsyncGenerator[str, str]:
        mode = "calm"
        while True:
            mode = yield mode

    going = modes()

    def go(said: Any) -> None:
        with suppress(StopIteration):
            going.asend(said).send(None)

    go(None)
    assert "async_generator" in told(lambda: going, lambda: go("alert"))


def test_a_lock_or_a_queue_is_told_of_where_code_finds_out_in_which_state_it_is() -> None:
    lock, jobs, few = threading.Lock(), queue.Queue[str](), queue.Queue[str](1)

    def entering() -> str:
        with lock:
            jobs.put("a")
        return "an answer"

    # Another thread holds the lock by now.
    assert not told(entering, lock.acquire)
    assert not told(entering, lambda: jobs.put("b"))
    assert "Queue" in told(lambda: jobs.qsize(), lambda: jobs.put("c"))
    assert "Queue" in told(lambda: few.put("a"), lambda: few.put("d"))
    assert "lock" in told(lambda: lock.locked(), lock.release)


class Hostile:
    """Raises whatever it is asked."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = object.__hash__


class Closed(io.TextIOBase):
    @property
    def closed(self) -> bool:
        raise RuntimeError


def test_what_raises_when_it_is_asked_does_no_harm() -> None:
    stream = io.TextIOWrapper(io.BytesIO())
    stream.detach()
    held: list[Any] = [stream, Closed(), Hostile()]
    kept = Rewinding(lambda: held[-1], lambda _: False, tuple)
    held.append(Hostile())
    assert kept.left() is None
    with kept.earlier():
        assert len(held) == 3
    assert len(held) == 4


def test_local_variables_of_code_that_goes_on_between_runs_are_compared() -> None:
    @types.coroutine
    def waiting() -> Any:
        yield

    async def acts() -> None:
        mode = "calm"
        await waiting()
        mode = "alert"
        await waiting()
        assert mode

    going = acts()
    going.send(None)
    try:
        assert "coroutine" in told(lambda: going, lambda: going.send(None))
    finally:
        going.close()

    async def with_a_task() -> str:
        acting = asyncio.create_task(acts())
        await asyncio.sleep(0)
        kept = Rewinding(lambda: acting, lambda _: False, tuple)
        await asyncio.sleep(0)
        left = kept.left()
        acting.cancel()
        return "" if left is None else left.clause

    assert "Task" in asyncio.run(with_a_task())


@pytest.mark.waits
def test_tasks_of_a_loop_that_has_a_thread_of_its_own_are_compared() -> None:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    requests = asyncio.Queue[str]()

    async def act() -> None:
        mode = "calm"
        while mode:
            mode = await requests.get()
            requests.task_done()

    async def start() -> Any:
        return asyncio.create_task(act())

    async def ask(mode: str) -> None:
        await requests.put(mode)
        await requests.join()

    def change() -> None:
        asyncio.run_coroutine_threadsafe(ask("alert"), loop).result()

    acting = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        assert "EventLoop" in told(lambda: loop, change)
    finally:
        asyncio.run_coroutine_threadsafe(ask(""), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        assert acting.done()


@pytest.mark.waits
def test_local_variables_of_a_thread_are_compared() -> None:
    requests, replies = queue.Queue[str](), queue.Queue[str]()

    def act() -> None:
        mode = "calm"
        while (request := requests.get()) != "end":
            mode = request
            replies.put(mode)

    actor = threading.Thread(target=act)
    actor.start()

    def ask() -> None:
        requests.put("alert")
        replies.get()

    try:
        assert "Thread" in told(lambda: actor, ask)
    finally:
        requests.put("end")
        actor.join()


class Preferences(BaseModel):
    tone: str = Field(default="neutral", description="calm")


class Trusted(abc.ABC):
    tone: "str"


def test_settings_of_a_database_connection_are_compared() -> None:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        assert "Connection" in told(lambda: database, lambda: database.execute("PRAGMA user_version = 7"))

        def makes_a_function() -> object:
            return database.create_function("tone", 0, lambda: "alert")

        assert "create_function" in told_at_once(makes_a_function)
    finally:
        database.close()


def told_at_once(application: Callable[[], Any]) -> str:
    left = Rewinding(application, lambda _: False, tuple).left()
    return "" if left is None else left.clause


def test_a_pipe_leaves_a_doubt_where_code_makes_one() -> None:
    assert "pipe" in told_at_once(lambda: os.pipe())
    renamed, pipe = os, os.pipe
    assert "pipe" in told_at_once(lambda: renamed.pipe())
    assert "pipe" in told_at_once(lambda: pipe())


def test_a_pipe_of_a_module_that_is_imported_inside_leaves_a_doubt() -> None:
    def imports() -> object:
        import os

        return os.pipe()

    def takes() -> object:
        from os import pipe as taken

        return taken()

    assert "pipe" in told_at_once(imports)
    assert "pipe" in told_at_once(takes)


def test_a_chain_or_a_method_that_is_called_pipe_leaves_none() -> None:
    class Chains:
        def pipe(self, _other: object) -> str:
            return os.sep

    pipe = Chains()
    assert not told_at_once(lambda: (pipe, os.getpid(), Chains().pipe(os)))


@pytest.mark.waits
def test_what_single_objects_keep_besides_their_attributes_is_compared() -> None:
    case, preferences, thread = Hostile(), Preferences(), threading.Thread(target=print, name="calm")
    local, array = threading.local(), numpy.ones(3)
    ended = weakref.finalize(case, print)
    assert "finalize" in told(lambda: ended.alive, ended.detach)
    assert "Preferences" in told(
        lambda: preferences.model_fields_set, lambda: setattr(preferences, "tone", "neutral")
    )
    newcomer = type("Newcomer", (), {})
    assert "ABCMeta" in told(lambda: Trusted.register, lambda: Trusted.register(newcomer))
    assert "Thread" in told(lambda: thread.name, lambda: setattr(thread, "name", "alert"))
    assert "local" in told(lambda: local.mode, lambda: setattr(local, "mode", "alert"))
    assert "ndarray" in told(lambda: array.flags, lambda: array.setflags(write=False))


def test_what_a_class_says_of_itself_is_compared() -> None:
    fields = Preferences.model_fields
    assert kept_apart(lambda: Preferences.model_fields["tone"].description, fields["tone"], "description")
    notes = Trusted.__annotations__
    kept = Rewinding(lambda: Trusted.__annotations__["tone"], lambda _: False, tuple)
    notes["tone"] = "int"
    with kept.earlier():
        assert notes["tone"] == "str"
    assert notes["tone"] == "int"
    notes["tone"] = "str"


def kept_apart(application: Callable[[], Any], thing: Any, name: str) -> bool:
    """Returns True iff the attribute is put back to what it was, and is afterwards what it is now."""
    was = getattr(thing, name)
    kept = Rewinding(application, lambda _: False, tuple)
    setattr(thing, name, "alert")
    with kept.earlier():
        is_put_back = getattr(thing, name) == was
    is_brought_back = getattr(thing, name) == "alert"
    setattr(thing, name, was)
    return is_put_back and is_brought_back


@pytest.mark.waits
def test_filters_of_warnings_and_threads_count_where_code_asks_for_them() -> None:
    def warns() -> None:
        warnings.simplefilter("error", DeprecationWarning)
        warnings.warn("sources may conflict", DeprecationWarning, stacklevel=1)

    with warnings.catch_warnings():
        assert "warnings" in told(warns, lambda: warnings.simplefilter("ignore", UserWarning))
    with warnings.catch_warnings():
        assert not told(lambda: "an answer", lambda: warnings.simplefilter("ignore", UserWarning))
    end = threading.Event()
    alert = threading.Thread(target=end.wait, name="alert")
    try:
        assert "threading" in told(lambda: threading.active_count(), alert.start)
    finally:
        end.set()
        alert.join()
