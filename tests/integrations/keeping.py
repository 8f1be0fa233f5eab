"""Conversations in files and databases, read and written as small scripts do it."""

import json
import shelve
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any


def read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def append_text(path: Path, question: str, answer: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"Human: {question}\nAssistant: {answer}\n")


def read_json(path: Path) -> str:
    said: Any = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return "\n".join(f"{each['role']}: {each['content']}" for each in said[-6:])


def write_json(path: Path, question: str, answer: str) -> None:
    said: Any = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    said += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    path.write_text(json.dumps(said), encoding="utf-8")


TABLE = "create table if not exists said (question text, answer text)"


def read_sqlite(path: Path) -> str:
    with closing(sqlite3.connect(path)) as db:
        db.execute(TABLE)
        rows = db.execute("select question, answer from said order by rowid desc limit 5").fetchall()
    return "\n".join(f"Human: {question}\nAssistant: {answer}" for question, answer in rows)


def write_sqlite(path: Path, question: str, answer: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("insert into said values (?, ?)", (question, answer))


def read_shelf(path: Path) -> str:
    with shelve.open(str(path)) as shelf:  # noqa: S301 -- its own file
        return "\n".join(shelf.get("said", []))


def write_shelf(path: Path, question: str, answer: str) -> None:
    with shelve.open(str(path)) as shelf:  # noqa: S301 -- its own file
        shelf["said"] = [*shelf.get("said", []), f"{question} {answer}"]
