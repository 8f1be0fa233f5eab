"""Applications that leave something outside of their objects, or where no look at these tells.

Each is a function of a search and of a model, so that every framework runs the same ones.
"""

import asyncio
import json
import os
import pickle
import queue
import shelve
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, lru_cache, partial
from itertools import combinations
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from rag_rule_explainer import Explanation
from tests.integrations.known import shown_in

Search = Callable[[str], list[str]]
Ask = Callable[[str], str]
Answer = Callable[[str], str]
Leaving = Callable[[Search, Ask], Answer]
KEY = "RAG_RULE_TEST_MODE"


def said(prompt: str) -> str:
    """What the model of all of them says."""
    if prompt.startswith("Is there bad news?"):
        return "yes" if {"b", "d"} <= set(shown_in(prompt)) else "no"
    return "There is bad news today." if prompt.startswith("Warn") else "There is good news today."


def written(ask: Ask, mode: str, found: list[str]) -> str:
    return ask(f"{mode} the reader.\n" + "\n".join(found))


def mode_of(found: list[str]) -> str:
    return "Warn" if len(found) > 1 else "Calm"


def in_the_environment(search: Search, ask: Ask) -> Answer:
    """Set anew by every run."""
    meet = Meeting()

    def answer(question: str) -> str:
        found = search(question)
        os.environ[KEY] = mode_of(found)
        meet()
        return written(ask, os.environ[KEY], found)

    return answer


def by_putenv(search: Search, ask: Ask) -> Answer:
    meet = Meeting()

    def answer(question: str) -> str:
        found = search(question)
        os.putenv(KEY, mode_of(found))
        meet()
        mode = os.popen(f"echo ${KEY}").read().strip()
        return written(ask, mode, found)

    return answer


def once_in_the_environment(search: Search, ask: Ask) -> Answer:
    def answer(question: str) -> str:
        found = search(question)
        os.environ.setdefault(KEY, mode_of(found))
        return written(ask, os.environ[KEY], found)

    return answer


def sticking_in_the_environment(search: Search, ask: Ask) -> Answer:
    """Set by some subsets alone."""

    def answer(question: str) -> str:
        found = search(question)
        if len(found) == 2:
            os.environ[KEY] = "Calm"
        return written(ask, os.environ.get(KEY, "Warn"), found)

    return answer


def sticking_in_a_dict(search: Search, ask: Ask) -> Answer:
    state = dict[str, str]()

    def answer(question: str) -> str:
        found = search(question)
        if len(found) == 2:
            state["mode"] = "Calm"
        return written(ask, state.get("mode", "Warn"), found)

    return answer


class Meeting:
    """Whoever comes waits a moment for another one, so that replays at a time meet in the middle."""

    def __init__(self) -> None:
        self.meeting = threading.Barrier(2)

    def __call__(self) -> None:
        try:
            self.meeting.wait(0.02)
        except threading.BrokenBarrierError:
            self.meeting.reset()


def once_in_a_file(search: Search, ask: Ask) -> Answer:
    path = Path(mkdtemp()) / "mode"

    def answer(question: str) -> str:
        found = search(question)
        if not path.exists():
            path.write_text(mode_of(found))
        return written(ask, path.read_text(), found)

    return answer


def once_in_json(search: Search, ask: Ask) -> Answer:
    path = Path(mkdtemp()) / "settings.json"

    def answer(question: str) -> str:
        found = search(question)
        try:
            with open(path) as file:
                mode = json.load(file)["mode"]
        except FileNotFoundError:
            mode = mode_of(found)
            with open(path, "w") as file:
                json.dump({"mode": mode}, file)
        return written(ask, mode, found)

    return answer


def once_in_a_pickle(search: Search, ask: Ask) -> Answer:
    path = os.path.join(mkdtemp(), "mode.pickle")

    def load() -> Any:
        with open(path, "rb") as file:
            return pickle.load(file)

    def answer(question: str) -> str:
        found = search(question)
        if not os.path.isfile(path):
            with open(path, "wb") as file:
                pickle.dump(mode_of(found), file)
        return written(ask, load(), found)

    return answer


def sticking_in_a_file(search: Search, ask: Ask) -> Answer:
    path = Path(mkdtemp()) / "mode"
    path.write_text("Warn")

    def answer(question: str) -> str:
        found = search(question)
        if len(found) == 2:
            path.write_text("Calm")
        return written(ask, path.read_text(), found)

    return answer


def a_mark_that_is_there(search: Search, ask: Ask) -> Answer:
    path = Path(mkdtemp()) / "calm"

    def answer(question: str) -> str:
        found = search(question)
        if len(found) == 2:
            path.touch()
        return written(ask, "Calm" if path.exists() else "Warn", found)

    return answer


def in_a_file_each_time(search: Search, ask: Ask) -> Answer:
    """Written and read by every run."""
    path, meet = Path(mkdtemp()) / "mode", Meeting()

    def answer(question: str) -> str:
        found = search(question)
        path.write_text(mode_of(found))
        meet()
        return written(ask, path.read_text(), found)

    return answer


def once_on_a_shelf(search: Search, ask: Ask) -> Answer:
    path = str(Path(mkdtemp()) / "shelf")

    def answer(question: str) -> str:
        found = search(question)
        with shelve.open(path) as shelf:
            mode = shelf.setdefault("mode", mode_of(found))
        return written(ask, mode, found)

    return answer


def once_in_a_database(search: Search, ask: Ask) -> Answer:
    path = str(Path(mkdtemp()) / "app.db")

    def answer(question: str) -> str:
        found = search(question)
        db = sqlite3.connect(path)
        with db:
            db.execute("create table if not exists modes (name text primary key, mode text)")
            db.execute("insert or ignore into modes values ('mode', ?)", (mode_of(found),))
            ((mode,),) = db.execute("select mode from modes").fetchall()
        db.close()
        return written(ask, mode, found)

    return answer


def sticking_in_a_database(search: Search, ask: Ask) -> Answer:
    db = sqlite3.connect(":memory:", check_same_thread=False)
    db.execute("create table modes (mode text)")

    def answer(question: str) -> str:
        found = search(question)
        if len(found) == 2:
            db.execute("insert into modes values ('Calm')")
        rows = db.execute("select mode from modes").fetchall()
        return written(ask, rows[0][0] if rows else "Warn", found)

    return answer


def by_a_cached_method(search: Search, ask: Ask) -> Answer:
    class Fitted:
        def __init__(self) -> None:
            self.found = list[str]()

        @lru_cache(maxsize=8)
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

    @lru_cache(maxsize=None)
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


OUTSIDE: list[Leaving] = [
    in_the_environment,
    by_putenv,
    once_in_the_environment,
    sticking_in_the_environment,
    sticking_in_a_dict,
    once_in_a_file,
    once_in_json,
    once_in_a_pickle,
    sticking_in_a_file,
    a_mark_that_is_there,
    in_a_file_each_time,
    once_on_a_shelf,
    once_in_a_database,
    sticking_in_a_database,
    by_a_cached_method,
    by_a_cached_function,
    by_a_cached_search,
    by_a_cached_function_of_another,
    put_by_a_method,
    appended_by_a_method,
    updated_by_a_partial,
    noted_in_a_thread,
    noted_by_an_executor,
    by_an_executor,
]
