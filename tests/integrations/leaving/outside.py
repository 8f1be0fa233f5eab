"""Applications that leave something in the environment, in files and in databases.

Each is a function of a search and of a model, so that every framework runs the same ones.
"""

import json
import os
import pickle
import shelve
import sqlite3
from contextlib import closing
from pathlib import Path
from subprocess import run
from tempfile import mkdtemp
from typing import Any

from tests.integrations.leaving.parts import (
    HELD_OPEN,
    KEY,
    Answer,
    Ask,
    Meeting,
    Search,
    mode_of,
    written,
)


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
        shown = run(["printenv", KEY], capture_output=True, text=True, check=True)
        return written(ask, shown.stdout.strip(), found)

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
            with path.open() as file:
                mode = json.load(file)["mode"]
        except FileNotFoundError:
            mode = mode_of(found)
            with path.open("w") as file:
                json.dump({"mode": mode}, file)
        return written(ask, mode, found)

    return answer


def once_in_a_pickle(search: Search, ask: Ask) -> Answer:
    path = Path(mkdtemp()) / "mode.pickle"

    def load() -> Any:
        with path.open("rb") as file:
            return pickle.load(file)  # noqa: S301 -- its own file

    def answer(question: str) -> str:
        found = search(question)
        if not path.is_file():
            with path.open("wb") as file:
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
        with shelve.open(path) as shelf:  # noqa: S301 -- its own file
            mode = shelf.setdefault("mode", mode_of(found))
        return written(ask, mode, found)

    return answer


def once_in_a_database(search: Search, ask: Ask) -> Answer:
    path = str(Path(mkdtemp()) / "app.db")

    def answer(question: str) -> str:
        found = search(question)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("create table if not exists modes (name text primary key, mode text)")
            db.execute("insert or ignore into modes values ('mode', ?)", (mode_of(found),))
            ((mode,),) = db.execute("select mode from modes").fetchall()
        return written(ask, mode, found)

    return answer


def sticking_in_a_database(search: Search, ask: Ask) -> Answer:
    db = HELD_OPEN.enter_context(closing(sqlite3.connect(":memory:", check_same_thread=False)))
    db.execute("create table modes (mode text)")

    def answer(question: str) -> str:
        found = search(question)
        if len(found) == 2:
            db.execute("insert into modes values ('Calm')")
        rows = db.execute("select mode from modes").fetchall()
        return written(ask, rows[0][0] if rows else "Warn", found)

    return answer
