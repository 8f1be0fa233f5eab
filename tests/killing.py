"""Explains ten questions through one store, and is killed five times in the middle of each.

Run as a program: nothing else may have started a thread before it forks.
"""

import itertools
import json
import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rag_rule_explainer import Explainer, Source, Store
from rag_rule_explainer.session import session
from rag_rule_explainer.storing import opened

SOURCES = [Source(f"D{n}", f"text {n}") for n in range(1, 7)]
CONCURRENCY = 4
LOADED = (session, opened)
"""Before anything is forked: a child shall spend its time on replays."""
QUESTIONS, KILLS = 10, 5
SUBSETS = 1 << len(SOURCES)
MOST = SUBSETS // (KILLS + 1)
"""Answers before a kill: however late it comes, some are left to be made."""


def explain(folder: Path, question: str, most: int) -> list[list[str]]:
    """``most``: after so many answers the application hangs."""
    numbers = itertools.count()
    log = os.open(folder / "paid", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def replay(asked: str, shown: Sequence[Source]) -> str:
        time.sleep(3600 if next(numbers) >= most else 0.004)
        ids = [source.id for source in shown]
        os.write(log, f"{json.dumps([asked, *ids])}\n".encode())
        return "yes" if {"D1", "D3"} <= set(ids) else "no"

    store = Store(str(folder / "answers.db"), "killed")
    explainer = Explainer(
        replay, store=store, miner="exact", concurrency=CONCURRENCY, check_repeatable=False
    )
    return [list(rule.sources) for rule in explainer.explain(question, SOURCES).rules]


def child(folder: Path, question: str, most: int = SUBSETS) -> int:
    pid = os.fork()
    if pid:
        return pid
    (folder / "rules").write_text(json.dumps(explain(folder, question, most)))
    os._exit(0)


def paid(folder: Path) -> list[str]:
    log = folder / "paid"
    return log.read_text().splitlines() if log.exists() else []


def committed(folder: Path) -> int:
    database = folder / "answers.db"
    if not database.exists():
        return 0
    with closing(sqlite3.connect(database)) as connection:
        try:
            query = "SELECT count(*) FROM rag_rules_answers WHERE answer IS NOT NULL"
            return connection.execute(query).fetchone()[0]
        except sqlite3.OperationalError:  # killed before there was a table
            return 0


def main(folder: Path) -> None:
    draw = random.Random(7)
    found: list[list[list[str]]] = []
    lost, most_lost, in_the_middle = 0, 0, 0
    for number in range(QUESTIONS):
        for _ in range(KILLS):
            before = len(paid(folder))
            pid = child(folder, f"question {number}", MOST)
            while len(paid(folder)) == before:
                time.sleep(0.001)
            time.sleep(draw.uniform(0.0, 0.012))
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            in_the_middle += os.WIFSIGNALED(status) and before < len(paid(folder)) <= before + MOST
            # Paid for, and not committed: it was in flight.
            now_lost = len(paid(folder)) - committed(folder)
            most_lost, lost = max(most_lost, now_lost - lost), now_lost
        (folder / "rules").unlink(missing_ok=True)
        os.waitpid(child(folder, f"question {number}"), 0)
        found.append(json.loads((folder / "rules").read_text()))
    twice = len(paid(folder)) - len(set(paid(folder))) - lost
    told = {
        "kills": QUESTIONS * KILLS,
        "in the middle": in_the_middle,
        "rules": found,
        "paid": len(paid(folder)),
        "lost": lost,
        "paid twice": max(0, twice),
        "most lost at once": most_lost,
        "concurrency": CONCURRENCY,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
