"""What a store adds to a probe, as ratios measured in one run.

Probes go through a store. The very rows that are there then go bare into the table of another one: with
the same driver and settings, in the same order, many rows a statement, and as many commits as the store
needed.
"""

import asyncio
import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from rag_rule_explainer import Answer, Store
from rag_rule_explainer.storing.address import Address
from rag_rule_explainer.storing.answers import AnswerClaim
from rag_rule_explainer.storing.database import Database
from rag_rule_explainer.storing.opened import close_all
from tests.benchmarks.ratios import show
from tests.postgres import Server, private_server

pytestmark = pytest.mark.benchmark
PROBES = 10_000
ROUNDS = 5
IDS = tuple(f"document-{n}.pdf" for n in range(4))
ANSWER = Answer(
    "The guideline recommends no medicine for this, and pacing instead. " * 2, usage={"in": 812}
)
_numbers = itertools.count()
COLUMNS = "arrangement, sample, question, ids, answer, latency, stored"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with private_server(in_memory=False) as server:
        yield server


def key(run: int, number: int) -> tuple[str, ...]:
    return tuple(f"{run:08x}{number:022x}{place:02x}" for place in range(len(IDS)))


def probed(store: Store, run: int, concurrency: int) -> tuple[float, int]:
    """Seconds, and how many commits they took."""
    answers = store.open().answers("Which medicine helps?")
    keys = [key(run, number) for number in range(PROBES)]

    async def worker(numbers: Sequence[int]) -> None:
        for number in numbers:
            claim = await answers.take(keys[number], IDS)
            assert isinstance(claim, AnswerClaim)
            await claim.put(ANSWER, 1.25)

    async def workers() -> float:
        started = time.perf_counter()
        await asyncio.gather(*(worker(range(n, PROBES, concurrency)) for n in range(concurrency)))
        return time.perf_counter() - started

    before = answers.commits
    return asyncio.run(workers()), answers.commits - before


def bare(store: Store, rows: Sequence[tuple[Any, ...]], commits: int) -> float:
    """Seconds that inserting the rows takes, in as many commits."""
    store.open()
    bounds = [len(rows) * turn // commits for turn in range(commits + 1)]
    connection = Database(Address.of(store.url)).connect()
    insert = inserted if connection.dialect.name == "sqlite" else inserted_at_once
    started = time.perf_counter()
    for first, last in itertools.pairwise(bounds):
        with connection.begin():
            insert(connection, rows[first:last])
    seconds = time.perf_counter() - started
    connection.close()
    return seconds


def stored(store: Store) -> list[tuple[Any, ...]]:
    """The rows of all answers, in the order in which they came."""
    connection = Database(Address.of(store.url)).connect()
    order = "rowid" if connection.dialect.name == "sqlite" else "ctid"
    # The names are the test's own.
    query = f"SELECT {COLUMNS} FROM rag_rules_answers ORDER BY {order}"  # noqa: S608
    rows = [tuple(row) for row in connection.exec_driver_sql(query)]
    connection.close()
    assert len(rows) == PROBES
    return rows


def inserted(connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    # The names are the test's own.
    insert = f"INSERT INTO rag_rules_answers ({COLUMNS}) VALUES (?,?,?,?,?,?,?)"  # noqa: S608
    connection.exec_driver_sql(insert, [*rows])


def inserted_at_once(connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    values = ",".join(["(%s,%s,%s,%s,%s,%s,%s)"] * len(rows))
    connection.exec_driver_sql(
        # The names are the test's own.
        f"INSERT INTO rag_rules_answers ({COLUMNS}) VALUES {values}",  # noqa: S608
        tuple(itertools.chain.from_iterable(rows)),
    )


@pytest.mark.parametrize("concurrency", [8, 64])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_a_store_adds(
    kind: str, concurrency: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    ours: list[float] = []
    theirs: list[float] = []
    commits: list[int] = []
    for run in range(ROUNDS):
        if kind == "sqlite":
            one, other = (str(tmp_path / f"{name}{run}.db") for name in ("ours", "theirs"))
        else:
            server: Server = request.getfixturevalue("server")
            one, other = (server.fresh(f"db{next(_numbers)}") for _ in range(2))
        seconds, needed = probed(Store(one, "bench"), run, concurrency)
        close_all()
        commits.append(needed)
        ours.append(seconds)
        theirs.append(bare(Store(other, "bench"), stored(Store(one, "bench")), needed))
        close_all()
    told = sorted(commits)[ROUNDS // 2]
    show(f"{kind}: {PROBES} probes, {concurrency} at once, {told} commits", "bare", ours, theirs, bar=1.5)
    print(f"  a probe costs {1e6 * min(ours) / PROBES:.0f} µs")
