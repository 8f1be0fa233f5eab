"""Applications that leave something outside of their objects, or where no look at these tells.

Each is a function of a search and of a model, so that every framework runs the same ones.
"""

import asyncio
import codecs
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
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from rag_rule_explainer import Explanation
from tests.integrations.known import TEXTS, Rules, omission, retention, shown_in
from tests.integrations.spoilt import subsets

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
        with os.popen(f"echo ${KEY}") as shell:
            mode = shell.read().strip()
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
    shelf = shelve.open(str(Path(mkdtemp()) / "shelf"))

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
        asyncio.ensure_future(note(mode_of(found)))
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


@dataclass(frozen=True)
class Shape:
    """An application, and what is told of it; nothing where its rules are proved."""

    build: Leaving
    told: str = ""

    @property
    def name(self) -> str:
        return self.build.__name__


SHAPES = (
    Shape(in_the_environment),
    Shape(by_putenv),
    Shape(once_in_the_environment),
    Shape(sticking_in_the_environment),
    Shape(sticking_in_a_dict, "state['mode'], where the next run finds it"),
    Shape(read_before_it_is_set, "state['mode'], where the next run finds it"),
    Shape(set_as_an_event, "calm.set, where the next run finds it"),
    Shape(on_an_open_shelf, "shelf['mode'], where the next run finds it"),
    Shape(in_a_file_each_time),
    Shape(once_in_a_file, "was written by the baseline and read by the replay on"),
    Shape(once_in_json, "settings.json' was written by the baseline and read by the replay on"),
    Shape(once_in_a_pickle, "mode.pickle' was written by the baseline and read by the replay on"),
    Shape(sticking_in_a_file, "was written by the replay on"),
    Shape(a_mark_that_is_there, "is left by a run, and the code asks which files are there"),
    Shape(once_on_a_shelf, "shelf"),
    Shape(once_in_a_database, "was not the same when the baseline and the replay on"),
    Shape(sticking_in_a_database, "reads the table 'modes' of a database"),
    Shape(by_a_cached_method, "mode() keeps what it gave before, and goes by 'found'"),
    Shape(by_a_cached_function, "mode() keeps what it gave before, and goes by 'known'"),
    Shape(by_a_cached_function_of_another, "mode() keeps what it gave before, and goes by 'state'"),
    Shape(by_a_cached_search, "mode() keeps what it gave before, and searches"),
    Shape(put_by_a_method),
    Shape(appended_by_a_method, "modes.append, where the next run finds it"),
    Shape(updated_by_a_partial, "state.update, where the next run finds it"),
    Shape(noted_in_a_thread, "state['mode'] in a thread or task that nobody waits for"),
    Shape(noted_by_an_executor, "state.__setitem__ in a thread or task that nobody waits for"),
    Shape(in_a_task, "state['mode'] in a thread or task that nobody waits for"),
    Shape(by_an_executor),
    Shape(by_a_hidden_model_at_times, "was answered in words that no model replied"),
)


def rules_of(build: Leaving) -> tuple[Rules, Rules]:
    """What is true of an application on three documents: each choice of them is run in a fresh state."""
    names, bad = frozenset("abd"), dict[frozenset[str], bool]()
    for kept in subsets("abd"):
        os.environ.pop(KEY, None)
        answer = build(lambda _, kept=kept: [TEXTS[each] for each in kept], said)
        bad[frozenset(kept)] = "bad" in answer("why?")
    os.environ.pop(KEY, None)
    retained = [each for each in bad if all(bad[other] for other in bad if each <= other)]
    omitted = [each for each in bad if not any(bad[names - other] for other in bad if each <= other)]
    return minimal(retained), minimal(omitted)


def minimal(rules: list[frozenset[str]]) -> Rules:
    return {each for each in rules if not any(other < each for other in rules)}


def check(shape: Shape, explanation: Explanation) -> None:
    """Asserts that the rules are true, or that nobody is led to believe that they are."""
    claims = {rule.claim for rule in explanation.rules}
    if shape.told:
        assert claims <= {"unverified"}
        assert not explanation.complete
        assert explanation.warnings[0].startswith("fidelity not checked")
        assert shape.told in explanation.warnings[0]
        return
    assert claims == {"proved"}, explanation.warnings
    assert (retention(explanation), omission(explanation)) == rules_of(shape.build)
