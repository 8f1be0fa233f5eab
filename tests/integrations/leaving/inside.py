"""Applications that leave something in caches, on objects and to the background."""

import asyncio
import codecs
import queue
import shelve
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, lru_cache, partial
from typing import Any

from tests.integrations.known import shown_in
from tests.integrations.leaving.parts import Answer, Ask, Meeting, Search, mode_of, written


def by_a_cached_method(search: Search, ask: Ask) -> Answer:
    class Fitted:
        def __init__(self) -> None:
            self.found = list[str]()

        @lru_cache(maxsize=8)  # noqa: B019 -- as users write it
        def mode(self) -> str:
            return mode_of(self.found)

        def __call__(self, question: str) -> str:
            self.found = search(question)
            return written(ask, self.mode(), self.found)

    fitted = Fitted()
    return lambda question: fitted(question)


def by_a_cached_function(search: Search, ask: Ask) -> Answer:
    known = list[str]()

    @cache
    def mode() -> str:
        return mode_of(known)

    def answer(question: str) -> str:
        known[:] = search(question)
        return written(ask, mode(), list(known))

    return answer


def by_a_cached_search(search: Search, ask: Ask) -> Answer:
    @lru_cache
    def mode(question: str) -> str:
        return mode_of(search(question))

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, mode(question), found)

    return answer


def by_a_cached_function_of_another(search: Search, ask: Ask) -> Answer:
    """What it goes by is read by a function that it calls."""
    state: dict[str, Any] = {"found": []}

    def enough() -> bool:
        return len(state["found"]) > 1

    @cache
    def mode() -> str:
        return "Warn" if enough() else "Calm"

    def answer(question: str) -> str:
        state["found"] = search(question)
        return written(ask, mode(), state["found"])

    return answer


def handed_to(search: Search, callback: Callable[[str], None], question: str) -> list[str]:
    found = search(question)
    callback(mode_of(found))
    return found


def put_by_a_method(search: Search, ask: Ask) -> Answer:
    modes, meet = queue.Queue[str](), Meeting()

    def answer(question: str) -> str:
        found = handed_to(search, modes.put, question)
        meet()
        return written(ask, modes.get(), found)

    return answer


def appended_by_a_method(search: Search, ask: Ask) -> Answer:
    modes, meet = deque[str](maxlen=1), Meeting()

    def answer(question: str) -> str:
        note = modes.append
        found = handed_to(search, note, question)
        meet()
        return written(ask, modes[-1], found)

    return answer


def updated_by_a_partial(search: Search, ask: Ask) -> Answer:
    state, meet = {"mode": "Warn"}, Meeting()

    def answer(question: str) -> str:
        found = search(question)
        partial(state.update, mode=mode_of(found))()
        meet()
        return written(ask, state["mode"], found)

    return answer


def noted_in_a_thread(search: Search, ask: Ask) -> Answer:
    """Some runs leave it to a thread, for which nobody waits."""
    state, seen = {"mode": "Warn"}, threading.Event()

    def note() -> None:
        state["mode"] = "Calm"
        seen.set()

    def answer(question: str) -> str:
        found = search(question)
        if len(found) < 2:
            threading.Thread(target=note).start()
        return written(ask, state["mode"] if len(found) > 1 else "Calm", found)

    return answer


def noted_by_an_executor(search: Search, ask: Ask) -> Answer:
    state, pool = {"mode": "Warn"}, ThreadPoolExecutor(1)

    def answer(question: str) -> str:
        found = search(question)
        mode = state["mode"] if len(found) > 1 else "Calm"
        pool.submit(state.__setitem__, "mode", "Warn" if len(found) > 1 else "Calm")
        return written(ask, mode, found)

    return answer


def by_an_executor(search: Search, ask: Ask) -> Answer:
    """Waited for: nothing is left."""
    pool = ThreadPoolExecutor(2)

    def answer(question: str) -> str:
        found = search(question)
        mode: Future[str] = pool.submit(mode_of, found)
        return written(ask, mode.result(), found)

    return answer


def read_before_it_is_set(search: Search, ask: Ask) -> Answer:
    """Every run goes by what the one before it set."""
    state = {"mode": "Warn"}

    def answer(question: str) -> str:
        mode = state["mode"]
        found = search(question)
        state["mode"] = mode_of(found)
        return written(ask, mode, found)

    return answer


def set_as_an_event(search: Search, ask: Ask) -> Answer:
    calm = threading.Event()

    def answer(question: str) -> str:
        found = search(question)
        if len(found) == 2:
            calm.set()
        return written(ask, "Calm" if calm.is_set() else "Warn", found)

    return answer


def on_an_open_shelf(search: Search, ask: Ask) -> Answer:
    # In memory: a shelf in a file may be used by one thread alone, from Python 3.13 on.
    shelf = shelve.Shelf[str](dict[bytes, bytes]())

    def answer(question: str) -> str:
        found = search(question)
        if len(found) == 2:
            shelf["mode"] = "Calm"
        return written(ask, shelf.get("mode", "Warn"), found)

    return answer


def in_a_task(search: Search, ask: Ask) -> Answer:
    """Nobody waits for the task, but the loop's end."""
    state = {"mode": "Warn"}

    async def note(mode: str) -> None:
        state["mode"] = mode

    async def answered(found: list[str]) -> str:
        mode = state["mode"]
        asyncio.ensure_future(note(mode_of(found)))  # noqa: RUF006 -- as users write it
        return mode

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, asyncio.run(answered(found)), found)

    return answer


def by_a_hidden_model_at_times(search: Search, ask: Ask) -> Answer:
    """What answers for few documents is seen by nobody."""

    def hidden(found: list[str]) -> str:
        shout = codecs.decode("Avpr gvqvatf bayl, sevraqf, rirelguvat tbrf jryy", "rot13")
        return shout if "b" in shown_in(" ".join(found)) else shout.replace("well", "bad")

    def answer(question: str) -> str:
        found = search(question)
        if ask("Is there bad news?\n" + "\n".join(found)) == "no":
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(hidden, found).result()
        return written(ask, mode_of(found), found)

    return answer
