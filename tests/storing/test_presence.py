"""Who is alone at a file makes answers without claims until somebody comes; each is paid once."""

import asyncio
import errno
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event

from rag_rule_explainer import Answer, Store, StoreFailed
from rag_rule_explainer.storing import file_lock as presence
from rag_rule_explainer.storing import memory_claims as grants
from rag_rule_explainer.storing import sole_writer as stay
from rag_rule_explainer.storing.file_lock import Presence
from rag_rule_explainer.storing.opened import close_all
from tests.forking import Forked
from tests.storing.asking import (
    among_others,
    answered,
    answers,
    change,
    claimed,
    eventually,
    forked,
    put_by_others,
    rows,
)

pytestmark = pytest.mark.waits

NUMBERS = 40
TURNS = [0, *(pytest.param(turn, marks=pytest.mark.slow) for turn in range(1, 6))]
"""Each at other moments."""
on_a_server_as_well = pytest.mark.parametrize(
    "url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True
)
"""A server has nobody who is alone at it: there, it is what other tests say already."""
STORED = "SELECT count(*) FROM rag_rules_answers WHERE answer IS NOT NULL"
CLAIMED = "SELECT count(*) FROM rag_rules_answers WHERE answer IS NULL"

MAKING = """
import random
chance = random.Random(int(sys.argv[1]))
mine = answers(store)
async def make(number):
    taken = await mine.take(key(number), ("a",))
    if isinstance(taken, AnswerClaim):
        print("paid", number, flush=True)
        await asyncio.sleep(chance.random() * 0.1)
        await taken.put(Answer(f"{number} by {sys.argv[1]}"))
        print("stored", number, flush=True)
async def main():
    numbers = list(range(40))
    chance.shuffle(numbers)
    async def worker(turn):
        for number in numbers[turn::6]:
            await make(number)
    await asyncio.gather(*map(worker, range(6)))
print("ready", flush=True)
asyncio.run(main())
"""


@pytest.fixture
def alone(tmp_path: Path) -> Store:
    """A store that nobody else uses."""
    return Store(str(tmp_path / "store.db"), "tests")


@pytest.fixture
def slow_commits() -> Iterator[None]:
    """Every commit of a claim takes a while: who comes in too early can be seen."""

    def wait(_connection: Connection) -> None:
        time.sleep(0.05)

    event.listen(Engine, "commit", wait)
    yield
    event.remove(Engine, "commit", wait)


async def opened_by(store: Store, *numbers: int) -> list[Any]:
    """Claims that this process holds, of which the first one alone is in the database."""
    mine = answers(store)
    claims = [await claimed(mine, number) for number in numbers]
    assert rows(store, CLAIMED) == [(1,)]
    return claims


@pytest.mark.usefixtures("slow_commits")
async def test_who_comes_in_finds_a_claim_to_everything_that_is_being_made(alone: Store) -> None:
    first, *others = await opened_by(alone, 1, 2, 3, 4)
    await others[0].put(Answer("made before"))
    waiting = asyncio.create_task(answers(alone).take(("waits",), ()))
    await waiting
    with among_others(alone):
        assert rows(alone, CLAIMED) == [(4,)]
        assert await others[1].put(Answer("made after")) == Answer("made after")
        others[2].release()
        first.release()
        await (await claimed(answers(alone), 5)).put(Answer("among others"))
        assert rows(alone, CLAIMED) == [(1,)]
    assert [(await answered(answers(alone), number)).text for number in (2, 3, 5)] == [
        *("made before", "made after"),
        "among others",
    ]


async def test_claims_are_renewed_for_those_who_came_later(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store.db"), "tests", lease=0.3)
    _, second = await opened_by(store, 1, 2)
    with among_others(store):
        asked = "SELECT min(expires) FROM rag_rules_answers"
        before = float(str(rows(store, asked)[0][0]))
        await eventually(lambda: float(str(rows(store, asked)[0][0])) > before + 0.25)
    second.release()


async def test_who_waits_in_this_process_still_gets_the_answer(alone: Store) -> None:
    _, second = await opened_by(alone, 1, 2)
    before = asyncio.create_task(answered(answers(alone), 2))
    with among_others(alone):
        after = asyncio.create_task(answered(answers(alone), 2))
        await asyncio.sleep(0.05)
        assert not before.done()
        assert not after.done()
        await second.put(Answer("made"))
        assert await before == await after == Answer("made")


async def test_somebody_who_asks_and_dies_is_no_harm(alone: Store, tmp_path: Path) -> None:
    _, second = await opened_by(alone, 1, 2)
    stranger = Presence(str(tmp_path / "store.db"))
    assert not stranger.try_among()
    stranger.leave()
    await asyncio.sleep(2 * stay.LOOK)
    await second.put(Answer("made"))
    with among_others(alone):
        assert await answered(answers(alone), 2) == Answer("made")


async def test_two_namespaces_are_alone_together(alone: Store) -> None:
    other = Store(alone.url, "others")
    claims = [await claimed(answers(each), number) for number in (1, 2) for each in (alone, other)]
    for number, claim in enumerate(claims):
        await claim.put(Answer(str(number)))
    assert (await answered(answers(alone), 2)).text == "2"
    assert (await answered(answers(other), 2)).text == "3"


async def test_what_is_stored_is_known_when_a_store_is_opened_again(alone: Store) -> None:
    for number in range(20):
        await (await claimed(answers(alone), number)).put(Answer(str(number)))
    close_all()
    await claimed(answers(alone), 99)
    assert [(await answered(answers(alone), number)).text for number in range(20)] == [
        str(number) for number in range(20)
    ]


async def test_more_than_can_be_known_is_looked_up(alone: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from rag_rule_explainer.storing import transaction

    for module in (grants, transaction):
        monkeypatch.setattr(module, "MOST_READ", 3)
    monkeypatch.setattr(grants, "MOST_KNOWN", 5)
    for turn in range(3):
        for number in range(10):
            question = f"Question {number % 3}"
            taken = await answers(alone, question).take((str(number),), ())
            if turn == 0:
                # The answer is ours to make.
                await taken.put(Answer(str(number)))  # type: ignore[union-attr]
            else:
                # The answer is ours to make.
                assert taken.answer == Answer(str(number))  # type: ignore[union-attr]


async def test_what_is_pruned_meanwhile_can_be_made_again(alone: Store) -> None:
    _, second, third = await opened_by(alone, 1, 2, 3)
    await second.put(Answer("made"))
    for table in ("answers", "questions"):
        change(alone, f"DELETE FROM rag_rules_{table}")  # noqa: S608 -- the names are the test's own
    await third.put(Answer("made"))
    assert await answered(answers(alone), 3) == Answer("made")
    await (await claimed(answers(alone), 2)).put(Answer("made again"))


async def test_an_answer_of_somebody_who_was_not_seen_stands(alone: Store) -> None:
    _, second = await opened_by(alone, 1, 2)
    await (await claimed(answers(alone), 3)).put(Answer("another"))
    put_by_others(alone, 2, Answer("theirs"), 0.1)
    assert await second.put(Answer("ours")) == Answer("theirs")


async def test_who_makes_nothing_leaves(
    alone: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stay, "_IDLE", 0.1)
    await (await claimed(answers(alone), 1)).put(Answer("made"))
    stranger = Presence(str(tmp_path / "store.db"))
    await eventually(stranger.try_alone)
    waiting = asyncio.create_task(answered(answers(alone), 1))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    stranger.leave()
    assert await waiting == Answer("made")
    (await claimed(answers(alone), 2)).release()


async def test_a_stranger_who_does_not_answer_is_waited_for_no_longer(
    alone: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone.open()
    stranger = Presence(str(tmp_path / "store.db"))
    assert stranger.try_alone()
    monkeypatch.setattr(stay, "PATIENCE", 0.2)
    await (await claimed(answers(alone), 1)).put(Answer("made"))
    stranger.leave()


async def test_a_lock_file_that_was_deleted_is_made_anew(alone: Store, tmp_path: Path) -> None:
    _, second = await opened_by(alone, 1, 2)
    (tmp_path / "store.db.users").unlink()
    await eventually(lambda: rows(alone, CLAIMED) == [(2,)])  # whoever came meanwhile saw nobody
    with among_others(alone):
        await second.put(Answer("made"))


async def test_who_closes_lets_in_who_waits(alone: Store, tmp_path: Path) -> None:
    _, second = await opened_by(alone, 1, 2)
    stranger = Presence(str(tmp_path / "store.db"))
    assert not stranger.try_among()
    close_all()
    assert stranger.try_among()
    assert rows(alone, CLAIMED) == [(0,)]
    with pytest.raises(StoreFailed, match="was closed"):
        await second.put(Answer("too late"))
    stranger.leave()


def refused(_file: int, _kind: int) -> None:
    raise OSError(errno.ENOLCK, "no locks available")


@pytest.mark.parametrize("locks", [None, SimpleNamespace(LOCK_EX=2, LOCK_SH=1, LOCK_NB=4, flock=refused)])
async def test_without_locks_every_claim_is_in_the_database(
    alone: Store, monkeypatch: pytest.MonkeyPatch, locks: object
) -> None:
    monkeypatch.setattr(presence, "_locks", locks)
    held = [await claimed(answers(alone), number) for number in range(3)]
    assert rows(alone, CLAIMED) == [(3,)]
    for each in held:
        await each.put(Answer("made"))


async def test_claims_that_cannot_be_committed_let_nobody_in(alone: Store, tmp_path: Path) -> None:
    _, second = await opened_by(alone, 1, 2)
    stranger = Presence(str(tmp_path / "store.db"))
    change(alone, "ALTER TABLE rag_rules_answers RENAME TO elsewhere")
    for _ in range(5):
        assert not stranger.try_among()
        await asyncio.sleep(stay.LOOK / 2)
    change(alone, "ALTER TABLE elsewhere RENAME TO rag_rules_answers")
    await eventually(lambda: rows(alone, CLAIMED) == [(2,)])
    await eventually(stranger.try_among)
    await second.put(Answer("made"))
    stranger.leave()


def paid_by(told: str) -> tuple[set[str], set[str]]:
    """What it has begun to make, and what it has seen stored."""
    said = [line.split() for line in told.splitlines() if line != "ready"]
    begun = {number for word, number in said if word == "paid"}
    return begun, {number for word, number in said if word == "stored"}


def told_by(maker: Forked) -> str:
    """All that it has not told yet, once it has ended."""
    told = maker.stdout.read()
    maker.communicate(timeout=120)
    return told


@on_a_server_as_well
@pytest.mark.parametrize("turn", TURNS)
def test_processes_that_come_at_any_time_pay_each_answer_once(url: str, turn: int) -> None:
    store, chance = Store(url, "tests"), random.Random(turn)
    makers: list[Forked] = []
    for number in range(3):
        makers.append(forked(MAKING, store, number))
        time.sleep(chance.random() * 0.5)
    told = [paid_by(each.communicate(timeout=120)[0]) for each in makers]
    assert [each.returncode for each in makers] == [0] * 3
    paid = [number for begun, _ in told for number in begun]
    assert sorted(map(int, paid)) == list(range(NUMBERS))
    assert rows(store, STORED) == [(NUMBERS,)]


@on_a_server_as_well
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("killed", [0, 1])
def test_whoever_is_killed_holds_nobody_up(url: str, turn: int, killed: int) -> None:
    store, chance = Store(url, "tests"), random.Random(turn)
    makers = [forked(MAKING, store, number) for number in range(2)]
    for each in makers:
        assert each.stdout.readline() == "ready\n"
    time.sleep(chance.random() * 0.4)  # within which the second one comes in
    with suppress(ProcessLookupError):  # it may have done all it had to do
        os.kill(makers[killed].pid, signal.SIGKILL)
    dead, survivor = makers[killed], makers[1 - killed]
    dead.wait(120)
    (begun, stored), (paid, _) = (paid_by(told_by(each)) for each in (dead, survivor))
    assert survivor.returncode == 0
    assert not stored & paid  # never paid again
    assert len(begun | paid) == NUMBERS
    assert rows(store, STORED) == [(NUMBERS,)]
    assert rows(store, CLAIMED) == [(0,)]


def test_a_child_does_not_hold_what_was_its_parents(alone: Store) -> None:
    code = """
import os, time
async def main():
    mine = answers(store)
    claims = [await claimed(mine, number) for number in range(3)]
    child = os.fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    print(child, flush=True)
    sys.stdin.read()
asyncio.run(main())
"""
    # Its lease lasts longer than the test may.
    alone = Store(alone.url, alone.namespace, lease=3600)
    parent = forked(code, alone)
    child = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait(120)
    asyncio.run(asyncio.wait_for(claimed(answers(alone), 1), 120)).release()
    os.kill(child, signal.SIGKILL)
    parent.communicate(timeout=120)


def test_a_child_comes_in_beside_its_parent(alone: Store) -> None:
    code = """
import os
async def main():
    mine = answers(store)
    claims = [await claimed(mine, number) for number in range(3)]
    child = os.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", sys.argv[1]])
    await asyncio.sleep(0.5)
    for claim in claims:
        await claim.put(Answer("by the parent"))
    os.waitpid(child, 0)
asyncio.run(main())
"""
    head = (
        f"import asyncio; from rag_rule_explainer import Store; from tests.storing.asking import *\n"
        f"store = Store({alone.url!r}, 'tests')\n"
        "print(asyncio.run(answered(answers(store), 2)).text)"
    )
    assert forked(code, alone, head).communicate(timeout=120)[0] == "by the parent\n"
