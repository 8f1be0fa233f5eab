"""What every test of a store does: taking answers and making them, here or in another process."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine
from sqlalchemy.pool import NullPool

from rag_rule_explainer import Answer, Store
from rag_rule_explainer.storing.address import Address
from rag_rule_explainer.storing.answers import AnswerClaim, QuestionAnswers
from rag_rule_explainer.storing.database import Database
from rag_rule_explainer.storing.digests import KeyDigests
from rag_rule_explainer.storing.encoding import packed_answer
from tests.forking import Forked, imported_once

ROOT = Path(__file__).parents[2]
QUESTION = "Which medicine helps?"


def key(number: int) -> tuple[str, ...]:
    """The key of an arrangement."""
    return (f"{number:032x}", "another")


def answers(store: Store, question: str = QUESTION) -> QuestionAnswers:
    return store.open().answers(question)


async def claimed(answers: QuestionAnswers, number: int, sample: int = 0) -> AnswerClaim:
    taken = await answers.take(key(number), ("a", "b"), sample)
    assert isinstance(taken, AnswerClaim)
    return taken


async def answered(answers: QuestionAnswers, number: int, sample: int = 0) -> Answer:
    taken = await answers.take(key(number), ("a", "b"), sample)
    assert not isinstance(taken, AnswerClaim)
    return taken.answer


async def asked(answers: QuestionAnswers, number: int, make: Callable[[int], Answer]) -> Answer:
    """The answer, made where it is not there."""
    taken = await answers.take(key(number), ("a", "b"))
    if not isinstance(taken, AnswerClaim):
        return taken.answer
    await asyncio.sleep(0.001)
    return await taken.put(make(number), 0.5)


async def eventually(happened: Callable[[], bool]) -> None:
    """Waits for it, as long as a busy machine may take. Raises AssertionError if it does not happen."""
    until = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < until, "it never happened"
        await asyncio.sleep(0.01)


async def within(seconds: float, *waiting: "asyncio.Task[object]") -> None:
    done, _ = await asyncio.wait(waiting, timeout=seconds)
    assert len(done) == len(waiting), "it took too long"


def connected(store: Store) -> Connection:
    """A connection that has nothing to do with the store's own."""
    address = Address.of(store.url)
    url = f"sqlite:///{address.target}" if address.dialect == "sqlite" else address.target
    return _engine(url).connect()


@cache  # what an engine asks a server at its first connection, it asks once
def _engine(url: str | URL) -> Engine:
    return create_engine(url, poolclass=NullPool)


def rows(store: Store, sql: str) -> list[tuple[object, ...]]:
    connection = connected(store)
    try:
        return [tuple(row) for row in connection.exec_driver_sql(sql)]
    finally:
        connection.close()


def change(store: Store, sql: str, *values: object) -> None:
    connection = connected(store)
    try:
        connection.exec_driver_sql(sql, values)
        connection.commit()
    finally:
        connection.close()


def put_by_others(store: Store, number: int, answer: Answer, latency: float) -> None:
    """Stores the answer as another process would that thinks all others dead."""
    arrangement = KeyDigests(store.namespace, QUESTION).of(key(number))
    content = packed_answer(answer, arrangement).hex()
    literal = f"decode('{content}', 'hex')" if "postgresql" in store.url else f"X'{content}'"
    columns = "arrangement, sample, question, ids, answer, latency"
    change(
        store,
        f"INSERT INTO rag_rules_answers ({columns})"  # noqa: S608 -- the names are the test's own
        f" SELECT '{arrangement}', 0, question, ids, {literal}, {latency} FROM rag_rules_answers"
        " WHERE answer IS NOT NULL LIMIT 1 ON CONFLICT (arrangement, sample) DO UPDATE"
        " SET owner = NULL, expires = NULL, answer = excluded.answer, latency = excluded.latency",
    )


@contextmanager
def among_others(store: Store) -> Generator[None, None, None]:
    """Somebody else is there, who does nothing: what is being made has its claim in the database."""
    database = Database(Address.of(store.url))
    database.prepare()
    presence = database.presence()
    if presence is None:
        yield
        return
    until = time.monotonic() + 60
    while not presence.try_among():
        assert time.monotonic() < until, "who is alone lets nobody in"
        time.sleep(0.001)
    yield
    presence.leave()


def forked(code: str, store: Store, *arguments: object) -> Forked:
    """Another process that has ``store``, ``answers`` and all of these functions at hand."""
    imported_once("rag_rule_explainer.storing.opened", "pg8000", __name__)
    return Forked(_head(store) + code, *arguments)


def _head(store: Store) -> str:
    return (
        "import asyncio, sys\n"
        "from rag_rule_explainer import Answer, Store\n"
        "from tests.storing.asking import *\n"
        f"store = Store({store.url!r}, {store.namespace!r}, {store.lease!r})\n"
    )


def process(code: str, store: Store, *arguments: object) -> "subprocess.Popen[str]":
    """The same, with an interpreter of its own, which begins and ends as any does."""
    return subprocess.Popen(
        [sys.executable, "-c", _head(store) + code, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
