"""A database that fails: everybody who waits hears of it, and it is tried again for the next ones."""

import asyncio
import threading
from typing import Any

import pytest

from rag_rule_explainer import Answer, Judgement, Store, StoreFailed, Verdict
from rag_rule_explainer.storing.failures import failed
from tests.storing.asking import answered, answers, change, claimed, connected, key, within

pytestmark = pytest.mark.waits


async def test_everybody_who_waits_is_told_and_the_next_ones_are_served(store: Store) -> None:
    mine, live = answers(store), store.open()
    claim = await claimed(mine, 1)
    waiting = [asyncio.create_task(mine.take(key(1), ())) for _ in range(3)]
    await asyncio.sleep(0.01)
    change(store, "ALTER TABLE rag_rules_answers RENAME TO elsewhere")
    told = await asyncio.gather(
        claim.put(Answer("paid")),
        *waiting,
        answers(store, "Another?").take(key(2), ()),
        return_exceptions=True,
    )
    assert [type(each) for each in told] == [StoreFailed] * 5
    assert len({id(each) for each in told}) == 5
    assert all("elsewhere" not in str(each) and "rag_rules_answers" in str(each) for each in told)
    # What needs no answers works on.
    await live.put_judgement("a judge", 1, Judgement(Verdict.HOLDS))
    change(store, "ALTER TABLE elsewhere RENAME TO rag_rules_answers")
    again = asyncio.create_task(claimed(mine, 1))
    await within(120, again)
    await again.result().put(Answer("paid again"))
    assert await answered(mine, 1) == Answer("paid again")


async def test_others_who_write_are_waited_for(store: Store) -> None:
    mine = answers(store)
    claim = await claimed(mine, 1)
    connection = connected(store)
    begin = "BEGIN IMMEDIATE" if "sqlite" in store.url else "LOCK TABLE rag_rules_answers"
    connection.exec_driver_sql(begin)
    released = list[str]()

    def release() -> None:
        released.append("released")
        connection.close()

    threading.Timer(0.3, release).start()
    assert await claim.put(Answer("paid")) == Answer("paid")
    assert released


async def test_what_is_locked_for_too_long_is_an_error(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rag_rule_explainer.storing import database

    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    monkeypatch.setattr(database, "_BUSY", 50)
    monkeypatch.setattr(database, "_SESSION", ("SET lock_timeout = '50ms'",))
    mine = answers(store)
    connection = connected(store)
    begin = "BEGIN IMMEDIATE" if "sqlite" in store.url else "LOCK TABLE rag_rules_answers"
    connection.exec_driver_sql(begin)
    with pytest.raises(StoreFailed, match=r"lock.*; see what else uses it"):
        await mine.take(key(1), ())
    connection.close()
    (await claimed(mine, 1)).release()


async def test_a_bug_in_the_writer_is_told_and_does_not_end_it(store: Store) -> None:
    mine = answers(store)
    sample: Any = object()
    with pytest.raises(StoreFailed, match="cannot be used"):
        await mine.take(key(1), (), sample)
    (await claimed(mine, 1)).release()


def test_a_folder_in_place_of_a_file_is_told_what_to_do() -> None:
    assert "name a file in it" in str(failed("x", IsADirectoryError(21, "Is a directory")))
