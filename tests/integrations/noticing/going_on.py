"""Marks in what goes on beside the runs: threads, timers, event loops and the workers of pools."""

import asyncio
import multiprocessing
import queue
import sched
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from types import FunctionType, SimpleNamespace
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]
_SEEN = SimpleNamespace(two=False)


def _waiting(*given: Any, **named: Any) -> Any:
    end = threading.Event()
    HELD_OPEN.callback(end.set)

    def wait(*_: Any, **__: Any) -> None:
        end.wait(60)

    return threading.Thread(target=wait, args=given, kwargs=named, daemon=True)


def in_what_a_thread_is_given() -> Both:
    thread = _waiting([])
    return lambda: thread._args[0].append(1), lambda: bool(thread._args[0])


def in_what_a_waiting_thread_is_given() -> Both:
    thread = _waiting([])
    thread.start()
    return (
        lambda: getattr(thread, "_args", [[]])[0].append(1),
        lambda: bool(getattr(thread, "_args", [[]])[0]),
    )


def in_the_names_that_a_thread_is_given() -> Both:
    thread = _waiting(notes=[])
    return lambda: thread._kwargs["notes"].append(1), lambda: bool(thread._kwargs["notes"])


def in_other_words_for_a_thread() -> Both:
    thread = _waiting(0)

    def mark() -> None:
        thread._args = (1,)

    return mark, lambda: thread._args == (1,)


def in_what_a_timer_is_given() -> Both:
    timer: Any = threading.Timer(60, print, args=[[]])
    return lambda: timer.args[0].append(1), lambda: bool(timer.args[0])


def in_how_long_a_timer_waits() -> Both:
    timer: Any = threading.Timer(60, print)

    def mark() -> None:
        timer.interval = 61

    return mark, lambda: timer.interval == 61


def in_what_a_process_is_given() -> Both:
    process: Any = multiprocessing.Process(target=print, args=([],))
    return lambda: process._args[0].append(1), lambda: bool(process._args[0])


def _loop() -> Any:
    loop = asyncio.new_event_loop()
    HELD_OPEN.callback(loop.close)
    return loop


def among_the_timers_of_a_loop() -> Both:
    loop = _loop()
    return lambda: loop.call_later(99, print), lambda: bool(loop._scheduled)


def among_the_next_calls_of_a_loop() -> Both:
    loop = _loop()
    return lambda: loop.call_soon(print), lambda: bool(loop._ready)


def among_the_tasks_of_a_loop() -> Both:
    loop = _loop()

    async def wait() -> None:
        await asyncio.sleep(99)

    def ended(task: Any) -> None:
        task.cancel()
        loop.run_until_complete(asyncio.gather(task, return_exceptions=True))

    def mark() -> None:
        HELD_OPEN.callback(ended, loop.create_task(wait()))

    return mark, lambda: bool(asyncio.all_tasks(loop))


def in_a_task_that_a_loop_goes_on_with() -> Both:
    loop = _loop()
    state = {"two": False}

    async def noted() -> None:
        state["two"] = True

    def mark() -> None:
        loop.run_until_complete(noted())

    return mark, lambda: state["two"]


def as_the_pool_of_a_loop() -> Both:
    loop = _loop()
    pool = ThreadPoolExecutor(1)
    HELD_OPEN.callback(pool.shutdown)
    return lambda: loop.set_default_executor(pool), lambda: loop._default_executor is not None


def in_the_workers_of_a_pool() -> Both:
    pool = ThreadPoolExecutor(1)
    HELD_OPEN.callback(pool.shutdown)
    own = threading.local()

    def note() -> None:
        own.seen = True

    return (
        lambda: pool.submit(note).result(),
        lambda: pool.submit(lambda: getattr(own, "seen", False)).result(),
    )


def in_lists_of_the_workers_of_a_pool() -> Both:
    pool = ThreadPoolExecutor(1)
    HELD_OPEN.callback(pool.shutdown)
    own = threading.local()

    def noted() -> list[int]:
        if not hasattr(own, "notes"):
            own.notes = []
        return own.notes

    return (
        lambda: pool.submit(lambda: noted().append(1)).result(),
        lambda: bool(pool.submit(noted).result()),
    )


def on_the_threads_of_a_pool() -> Both:
    pool = ThreadPoolExecutor(1)
    HELD_OPEN.callback(pool.shutdown)

    def note() -> None:
        threading.current_thread().name = "rag_rule_two"

    def noted() -> bool:
        return threading.current_thread().name == "rag_rule_two"

    return lambda: pool.submit(note).result(), lambda: pool.submit(noted).result()


def in_a_number_of_workers() -> Both:
    pool: Any = ThreadPoolExecutor(4)
    HELD_OPEN.callback(pool.shutdown)
    return lambda: pool.submit(int).result(), lambda: bool(pool._threads)


def _note() -> None:
    _SEEN.two = True


def _noted() -> bool:
    return _SEEN.two


def _pool_of_processes() -> ProcessPoolExecutor:
    pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork"))
    HELD_OPEN.callback(pool.shutdown)
    return pool


def in_a_process_of_a_pool() -> Both:
    pool = _pool_of_processes()
    return lambda: pool.submit(_note).result(), lambda: pool.submit(_noted).result()


def in_a_process_of_a_pool_that_has_begun() -> Both:
    pool = _pool_of_processes()
    pool.submit(int).result()
    return lambda: pool.submit(_note).result(), lambda: pool.submit(_noted).result()


def in_a_worker_of_multiprocessing() -> Both:
    pool = multiprocessing.get_context("fork").Pool(1)
    HELD_OPEN.callback(pool.terminate)
    return lambda: pool.apply(_note), lambda: pool.apply(_noted)


def in_a_plan() -> Both:
    plan = sched.scheduler()
    return lambda: plan.enter(99, 1, print), lambda: not plan.empty()


def in_a_queue_that_a_thread_empties() -> Both:
    waiting = queue.Queue[int]()
    state = SimpleNamespace(seen=0)

    def work() -> None:
        while True:
            state.seen += waiting.get()
            waiting.task_done()

    threading.Thread(target=work, daemon=True).start()

    def mark() -> None:
        waiting.put(1)
        waiting.join()

    return mark, lambda: state.seen > 0


def in_the_local_names_of_a_thread() -> Both:
    asked, told = queue.Queue[bool](), queue.Queue[int]()

    def work() -> None:
        seen = 0
        while True:
            seen += asked.get()
            told.put(seen)

    threading.Thread(target=work, daemon=True).start()

    def ask(is_two: bool) -> int:
        asked.put(is_two)
        return told.get()

    return lambda: ask(True), lambda: ask(False) > 0


def in_a_future_that_others_wait_for() -> Both:
    held = Future[int]()

    def mark() -> None:
        if not held.done():
            held.set_result(1)

    return mark, lambda: held.done()


def in_the_callbacks_of_a_future() -> Both:
    held: Any = Future[int]()
    return lambda: held.add_done_callback(print), lambda: bool(held._done_callbacks)


GOING_ON: tuple[Callable[[], Both], ...] = tuple(
    each
    for name, each in list(globals().items())
    if isinstance(each, FunctionType) and not name.startswith("_") and each.__module__ == __name__
)
