"""Explanations out of a store, and what is in its file."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from rag_rule_explainer import Explanation, Store, contains, equals
from tests.golden.conditions import by_words
from tests.golden.faulty import failing, varying
from tests.golden.goldens import PAIR, Explanations, Make, Script, Write, explaining
from tests.golden.normal import laid_out
from tests.golden.plain import structured

STORE = Store("answers.db", namespace="release-bot-3")
UNTOLD = ("stored", "latency", "expires")
"""Columns of times and durations."""


def keeping(script: Script, sources: int, predicate: Any = None, **settings: Any) -> Make:
    return explaining(script, sources, predicate, store=STORE, **settings)


def voting(samples: int) -> Make:
    """With a model that varies the same way each time."""
    return lambda: keeping(varying(PAIR, 4), 3, noise=samples, check_repeatable=False)()


def after(*before: Make, then: Make) -> Make:
    """The last of several explanations with one store."""

    def make() -> Explanation:
        for each in before:
            each()
        return then()

    return make


def several_answers(ids: frozenset[str]) -> str:
    """Another one to every subset."""
    return f"{PAIR(ids)}: {'+'.join(sorted(ids))}"


FIRST = keeping(PAIR, 3)
NEVER = keeping(lambda ids: ValueError("what is stored is not asked for"), 3)
JUDGED = keeping(PAIR, 3, by_words("yes"))
EXPLANATIONS: Explanations = {
    "store-first": FIRST,
    "store-again": after(FIRST, then=NEVER),
    "store-another-condition": after(FIRST, then=keeping(PAIR, 3, equals("no"), rules="omission")),
    "store-after-a-limit": after(keeping(PAIR, 4, limits=6), then=keeping(PAIR, 4)),
    "store-after-failures": after(
        keeping(failing(("D1", "D3"), ("D2",)), 3, retries=0), then=keeping(PAIR, 3)
    ),
    "store-judged": JUDGED,
    "store-judged-again": after(JUDGED, then=JUDGED),
    "store-judged-in-batches": after(
        keeping(several_answers, 3), then=keeping(several_answers, 3, by_words("yes", batch=4))
    ),
    "store-voted": voting(3),
    "store-more-votes": after(
        voting(3),
        then=voting(5),
    ),
    "store-fewer-sources": after(FIRST, then=keeping(PAIR, 2)),
}
FILLED: dict[str, Make] = {
    "plain": FIRST,
    "structured": keeping(structured, 2),
    "judged": JUDGED,
    "voted": EXPLANATIONS["store-voted"],
    "hostile": keeping(
        lambda ids: "yes \x00\x1b[2J \u202e \ud800" if "D1" in ids else "no", 2, contains("yes")
    ),
    "failures": keeping(failing(("D1", "D3"), ("D2",)), 3, retries=0),
}
"""What fills a store, by the name of the dump."""


def dumped(file: Path) -> dict[str, Any]:
    """Each table of a SQLite file, as it was made and row by row, sorted."""
    with closing(sqlite3.connect(file)) as database:
        made = database.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name"
        ).fetchall()
        tables = [name for name, sql in made if sql.startswith("CREATE TABLE")]
        told: dict[str, Any] = {"made": [" ".join(sql.split()) for _, sql in made]}
        for table in tables:
            rows = database.execute(f"SELECT * FROM {table}")  # noqa: S608 -- its own name
            names = [column[0] for column in rows.description]
            listed = [dict(zip(names, map(_told, names, row), strict=True)) for row in rows]
            told[table] = sorted(listed, key=lambda row: [str(value) for value in row.values()])
        return told


def restored(told: Mapping[str, Any], file: Path) -> None:
    """Makes a SQLite file of what was dumped of one; times and durations are 1."""
    with closing(sqlite3.connect(file)) as database, database:
        for sql in told["made"]:
            database.execute(sql)
        for table, rows in told.items():
            for row in rows if table != "made" else ():
                places = ", ".join("?" * len(row))
                values = [_untold(value) for value in row.values()]
                database.execute(f"INSERT INTO {table} VALUES ({places})", values)  # noqa: S608 -- as above


def _told(name: str, value: object) -> object:
    if isinstance(value, bytes):
        return {"bytes": value.decode("utf-8", "surrogatepass")}
    return 1.0 if name in UNTOLD and value is not None else value


def _untold(value: Any) -> object:
    return str(value["bytes"]).encode("utf-8", "surrogatepass") if _is_dict(value) else value


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)


def _filled(make: Make) -> Write:
    def write() -> Mapping[str, str]:
        make()
        return {"answers.json": laid_out(dumped(Path("answers.db")))}

    return write


WRITTEN: dict[str, Write] = {f"store-{name}": _filled(make) for name, make in FILLED.items()}
