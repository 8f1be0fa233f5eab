"""Each answer is paid once, is committed before anybody is told, and comes back as it was."""

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, Engine, event

from rag_rule_explainer import Answer, InvalidInput, Judgement, Store, StoreFailed, Verdict
from rag_rule_explainer.storing.answers import AnswerClaim
from tests.storing.asking import (
    QUESTION,
    among_others,
    answered,
    answers,
    asked,
    change,
    claimed,
    key,
    put_by_others,
    rows,
    within,
)

pytestmark = pytest.mark.waits

STORED = "SELECT count(*) FROM rag_rules_answers WHERE answer IS NOT NULL"
CLAIMED = "SELECT count(*) FROM rag_rules_answers WHERE answer IS NULL"


class Paid:
    """Makes answers, and counts them."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def __call__(self, number: int) -> Answer:
        self.numbers.append(number)
        return Answer(f"answer {number}")


async def test_an_answer_is_made_once_and_then_taken(store: Store) -> None:
    mine = answers(store)
    claim = await claimed(mine, 1)
    assert await claim.put(Answer("yes"), 0.25) == Answer("yes")
    taken = await mine.take(key(1), ("a", "b"))
    assert taken == (Answer("yes"), 0.25)


async def test_another_question_namespace_arrangement_or_sample_is_another_answer(store: Store) -> None:
    await (await claimed(answers(store), 1)).put(Answer("yes"), None)
    for others, number, sample in (
        (answers(store, "Another?"), 1, 0),
        (answers(Store(store.url, "others")), 1, 0),
        (answers(store), 2, 0),
        (answers(store), 1, 1),
    ):
        (await claimed(others, number, sample)).release()
    assert await answered(answers(store), 1) == Answer("yes")


@pytest.fixture
def slow_commits() -> Iterator[None]:
    """Every commit takes a while: who is told too early can be seen."""

    def wait(_connection: Connection) -> None:
        time.sleep(0.05)

    event.listen(Engine, "commit", wait)
    yield
    event.remove(Engine, "commit", wait)


@pytest.mark.usefixtures("slow_commits")
async def test_it_is_committed_when_put_returns(store: Store) -> None:
    mine = answers(store)
    for number in range(5):
        claim = await claimed(mine, number)
        await claim.put(Answer("yes"), None)
        assert rows(store, STORED) == [(number + 1,)]
        assert rows(store, CLAIMED) == [(0,)]


@pytest.mark.usefixtures("slow_commits")
async def test_who_waits_for_an_answer_gets_it_when_it_is_committed(store: Store) -> None:
    mine = answers(store)
    claim = await claimed(mine, 1)

    async def wait() -> Answer:
        answer = await answered(mine, 1)
        assert rows(store, STORED) == [(1,)]
        return answer

    waiting = [asyncio.create_task(wait()) for _ in range(3)]
    await asyncio.sleep(0.02)
    assert not any(task.done() for task in waiting)
    await claim.put(Answer("yes"), None)
    assert await asyncio.gather(*waiting) == [Answer("yes")] * 3


@pytest.mark.usefixtures("slow_commits")  # meanwhile, the others come
async def test_many_share_one_commit(store: Store) -> None:
    mine, paid = answers(store), Paid()
    before = mine.commits
    await asyncio.gather(*(asked(mine, number, paid) for number in range(200)))
    assert rows(store, STORED) == [(200,)]
    assert mine.commits - before < 20


def test_coroutines_loops_and_threads_make_each_answer_once(store: Store) -> None:
    paid, together = Paid(), threading.Barrier(3)

    async def ask_all() -> list[Answer]:
        mine = answers(store)
        return await asyncio.gather(*(asked(mine, number % 20, paid) for number in range(60)))

    def run() -> list[Answer]:
        together.wait()
        return asyncio.run(ask_all())

    with ThreadPoolExecutor(3) as threads:
        told = [job.result(120) for job in [threads.submit(run) for _ in range(3)]]
    assert told == [[Answer(f"answer {number % 20}") for number in range(60)]] * 3
    assert sorted(paid.numbers) == list(range(20))


async def test_a_released_claim_goes_to_who_has_waited_longest(store: Store) -> None:
    mine = answers(store)
    claim = await claimed(mine, 1)
    first = asyncio.create_task(claimed(mine, 1))
    await asyncio.sleep(0)
    second = asyncio.create_task(answered(mine, 1))
    await asyncio.sleep(0.02)
    claim.release()
    claim.release()
    await within(60, first)
    assert not second.done()
    await first.result().put(Answer("second try"), None)
    await within(60, second)
    assert second.result() == Answer("second try")


async def test_a_released_claim_leaves_nothing_behind(url: str) -> None:
    store = Store(url, "tests")
    with among_others(store):
        await release_some(store)


async def release_some(store: Store) -> None:
    mine = answers(store)
    (await claimed(mine, 1)).release()
    await claimed(mine, 2)  # in the same queue
    gc.collect()  # it was dropped unsettled
    (await claimed(mine, 3)).release()
    (await claimed(mine, 4)).release()
    last = await claimed(mine, 5)
    assert rows(store, CLAIMED) == [(1,)]
    last.release()


async def test_who_is_cancelled_leaves_no_claim(store: Store) -> None:
    mine = answers(store)
    others = len(asyncio.all_tasks())
    for turn in range(12):
        claim = await claimed(mine, 1)
        waits, asks = (asyncio.create_task(mine.take(key(number), ())) for number in (1, 2))
        await asyncio.sleep(0.0005 * turn)
        if turn % 2:
            claim.release()  # so that it is just being granted to who waits
        for task in (waits, asks):
            task.cancel()
        for told in await asyncio.gather(waits, asks, return_exceptions=True):
            if isinstance(told, AnswerClaim):
                told.release()
        claim.release()
        for number in (1, 2):
            again = asyncio.create_task(claimed(mine, number))
            await within(60, again)
            again.result().release()
        assert len(asyncio.all_tasks()) <= others + 1


async def test_who_is_cancelled_after_being_granted_leaves_no_claim(store: Store) -> None:
    mine = answers(store)
    task = asyncio.create_task(mine.take(key(1), ()))
    while not _is_told(task):  # noqa: ASYNC110 -- nothing else happens just then
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    again = asyncio.create_task(claimed(mine, 1))
    await within(60, again)


async def test_who_is_cancelled_just_before_being_told_leaves_no_claim(store: Store) -> None:
    mine = answers(store)
    task = asyncio.create_task(mine.take(key(1), ()))
    await asyncio.sleep(0)
    while mine.commits < 1:
        time.sleep(0.01)  # noqa: ASYNC251 -- the loop is to be blocked
    task.cancel()
    again = asyncio.create_task(claimed(mine, 1))
    await within(60, again)
    assert task.cancelled()


def test_a_loop_that_ends_leaves_no_claim(store: Store) -> None:
    mine = answers(store)
    claim = asyncio.run(claimed(mine, 1))
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(mine.take(key(1), ()))
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()
    # Asyncio has no public name for it.
    waiting._log_destroy_pending = False  # type: ignore[attr-defined]
    claim.release()
    asyncio.run(asyncio.wait_for(claimed(mine, 1), 60))


async def test_who_is_cancelled_while_putting_has_put(store: Store) -> None:
    mine = answers(store)
    task = asyncio.create_task((await claimed(mine, 1)).put(Answer("paid"), None))
    await asyncio.sleep(0)
    task.cancel()
    assert await answered(mine, 1) == Answer("paid")


async def test_the_first_answer_stands(store: Store) -> None:
    mine = answers(store)
    claim = await claimed(mine, 1)
    waiting = asyncio.create_task(answered(mine, 1))
    await asyncio.sleep(0.01)
    # Another process thought this one dead, and was faster.
    await (await claimed(mine, 2)).put(Answer("of another row"), None)
    put_by_others(store, 1, Answer("theirs"), 1.5)
    assert await claim.put(Answer("ours"), None) == Answer("theirs")
    assert await waiting == Answer("theirs")
    assert await answered(mine, 1) == Answer("theirs")


async def test_an_answer_whose_claim_was_pruned_is_stored_all_the_same(store: Store) -> None:
    mine = answers(store)
    claim = await claimed(mine, 1)
    for table in ("answers", "questions"):
        change(store, f"DELETE FROM rag_rules_{table}")  # noqa: S608 -- the names are the test's own
    assert await claim.put(Answer("paid"), 0.5) == Answer("paid")
    assert await answered(mine, 1) == Answer("paid")
    for table in ("answers", "questions"):
        change(store, f"DELETE FROM rag_rules_{table}")  # noqa: S608 -- the names are the test's own
    (await claimed(mine, 2)).release()


async def test_a_key_that_means_nothing_elsewhere_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInput, match="holds an object"):
        await answers(store).take((object(),), ())


@pytest.mark.parametrize(
    "text", ["'; DROP TABLE rag_rules_answers; --", '"%s %(a)s ? :x $1 \\', "\0\ud800"]
)
async def test_texts_are_just_texts(url: str, text: str) -> None:
    store = Store(url, text)
    mine = answers(store, text)
    claim = await mine.take((text,), (text,))
    assert isinstance(claim, AnswerClaim)
    answer = Answer(text, text, {text: 1}, text, text, (text,), (text, text))
    await claim.put(answer, None)
    assert await mine.take((text,), ()) == (answer, None)
    live = store.open()
    await live.put_judgement(text, (text,), Judgement(Verdict.HOLDS, text))
    assert await live.judgement(text, (text,)) == Judgement(Verdict.HOLDS, text)


@pytest.mark.usefixtures("slow_commits")
async def test_a_judgement_is_committed_when_it_was_put(store: Store) -> None:
    await store.open().put_judgement("a judge", 1, Judgement(Verdict.HOLDS))
    assert rows(store, "SELECT count(*) FROM rag_rules_judgements") == [(1,)]


async def test_judgements_are_known_by_namespace_predicate_and_memo(store: Store) -> None:
    live = store.open()
    memo = (QUESTION, "baseline", ("answer", None, frozenset({1, 2})))
    assert await live.judgement("a judge", memo) is None
    await live.put_judgement("a judge", memo, Judgement(Verdict.UNKNOWN, "who knows"))
    await live.put_judgement("a judge", memo, Judgement(Verdict.HOLDS, "too late"))
    assert await live.judgement("a judge", memo) == Judgement(Verdict.UNKNOWN, "who knows")
    assert await live.judgement("another", memo) is None
    assert await live.judgement("a judge", memo[:2]) is None
    assert await Store(store.url, "others").open().judgement("a judge", memo) is None
    await asyncio.gather(
        *(live.put_judgement("a judge", n % 10, Judgement(Verdict.BREAKS)) for n in range(50))
    )
    assert await live.judgement("a judge", 9) == Judgement(Verdict.BREAKS)


async def test_judgements_of_what_no_other_process_knows_are_not_stored(store: Store) -> None:
    live = store.open()
    await live.put_judgement("a judge", (object(),), Judgement(Verdict.HOLDS))
    assert await live.judgement("a judge", (object(),)) is None


CORRUPTED = (
    ("answer", "{oops"),
    ("answer", "{}"),
    ("answer", "[]"),
    ("answer", '{"text": 7}'),
    ("answer", '{"text": "x", "code": "x"}'),
    ("answer", '{"text": "x", "usage": {"a": "b"}}'),
    ("answer", '{"text": "x", "seen": "abc"}'),
    ("answer", '{"text": "x", "value": NaN}'),
    ("latency", "NaN"),
)


async def test_a_corrupted_row_is_an_error_and_no_answer(store: Store) -> None:
    mine = answers(store)
    await (await claimed(mine, 2)).put(Answer("yes"), None)
    await (await claimed(mine, 1)).put(Answer("yes"), None)
    mark = "?" if "sqlite" in store.url else "%s"
    for column, wrong in CORRUPTED:
        change(store, "UPDATE rag_rules_answers SET latency = NULL")
        value = wrong.encode() if column == "answer" else wrong
        where = "stored = (SELECT max(stored) FROM rag_rules_answers)"
        # The names are the test's own.
        change(store, f"UPDATE rag_rules_answers SET {column} = {mark} WHERE {where}", value)  # noqa: S608
        told = await asyncio.gather(
            *(answered(mine, number) for number in (1, 2)), return_exceptions=True
        )
        assert isinstance(told[0], StoreFailed), wrong
        assert "has a row with" in str(told[0])
        assert "prune" in str(told[0])
        assert told[1] == Answer("yes")


async def test_a_corrupted_claim_is_an_error(store: Store) -> None:
    mine = answers(store)
    await (await claimed(mine, 1)).put(Answer("yes"), None)
    change(store, "UPDATE rag_rules_answers SET answer = NULL")
    with pytest.raises(StoreFailed, match="a claim that is nobody's"):
        await mine.take(key(1), ())


async def test_a_corrupted_judgement_is_an_error_and_no_judgement(store: Store) -> None:
    live = store.open()
    await live.put_judgement("a judge", 1, Judgement(Verdict.HOLDS))
    mark = "?" if "sqlite" in store.url else "%s"
    for wrong in ('["perhaps", ""]', '["holds"]', "[]", '{"a": 1}', '["holds", 7]', "[[], []]"):
        # The names are the test's own.
        change(store, f"UPDATE rag_rules_judgements SET judgement = {mark}", wrong.encode())  # noqa: S608
        with pytest.raises(StoreFailed, match="has a row with"):
            await live.judgement("a judge", 1)


def _is_told(task: "asyncio.Task[object]") -> bool:
    """True iff what the task waits for is there, and the task has not gone on yet."""
    waits_for = getattr(task, "_fut_waiter", None)
    return waits_for is not None and waits_for.done()
