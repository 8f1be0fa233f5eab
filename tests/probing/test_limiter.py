"""One bound over threads and loops."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from rag_rule_explainer import Explainer, InvalidInput, Source, equals
from rag_rule_explainer.probing.limiter import Limiter, around

pytestmark = pytest.mark.waits


class Peak:
    """The most that were inside at once; who is inside stays until there were ``full``."""

    def __init__(self, full: int) -> None:
        self._lock = threading.Lock()
        self._inside = self.most = self.visits = 0
        self._full, self.was_full = full, threading.Event()

    def enter(self) -> None:
        with self._lock:
            self._inside += 1
            self.visits += 1
            self.most = max(self.most, self._inside)
            if self.most >= self._full:
                self.was_full.set()

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1


def test_threads_and_several_loops_share_one_bound() -> None:
    limiter, peak = Limiter(3), Peak(3)

    def in_a_thread(_: int) -> None:
        with limiter.slot():
            peak.enter()
            peak.was_full.wait(60)
            peak.leave()

    async def on_a_loop() -> None:
        async def visit() -> None:
            async with limiter.aslot():
                peak.enter()
                await asyncio.to_thread(peak.was_full.wait, 60)
                peak.leave()

        await asyncio.gather(*(visit() for _ in range(20)))

    with ThreadPoolExecutor(12) as threads:
        jobs = [threads.submit(in_a_thread, number) for number in range(20)]
        jobs += [threads.submit(asyncio.run, on_a_loop()) for _ in range(3)]
        for job in jobs:
            job.result(120)
    assert peak.visits == 80
    assert peak.most == 3


def test_first_come_first_served() -> None:
    async def order() -> list[int]:
        limiter, entered = Limiter(1), list[int]()

        async def visit(number: int) -> None:
            async with limiter.aslot():
                entered.append(number)
                await asyncio.sleep(0)

        await asyncio.gather(*map(visit, range(6)))
        return entered

    assert asyncio.run(order()) == list(range(6))


@pytest.mark.parametrize("after_release", [False, True])
def test_who_gives_up_waiting_takes_nobodys_slot_along(after_release: bool) -> None:
    async def main() -> None:
        limiter = Limiter(1)

        async def visit() -> str:
            async with limiter.aslot():
                return "in"

        async with limiter.aslot():
            gives_up, patient = asyncio.create_task(visit()), asyncio.create_task(visit())
            await asyncio.sleep(0)
            if not after_release:
                gives_up.cancel()
        if after_release:
            # The slot is on its way to it already.
            gives_up.cancel()
        assert await asyncio.wait_for(patient, 60) == "in"
        with pytest.raises(asyncio.CancelledError):
            await gives_up
        assert await asyncio.wait_for(visit(), 60) == "in"

    asyncio.run(main())


def test_a_loop_that_was_closed_while_waiting_is_passed_over() -> None:
    limiter = Limiter(1)
    loop = asyncio.new_event_loop()

    async def wait() -> None:
        async with limiter.aslot():
            raise AssertionError("never reached")

    with limiter.slot():
        waiting = loop.create_task(wait())
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
    with limiter.slot():
        pass
    # Never woken, and meant to be: asyncio need not say so.
    waiting._log_destroy_pending = False  # type: ignore[attr-defined]


class Nested:
    """A replay that explains something itself, with the explainer that it is given later."""

    def __init__(self, *, is_async: bool) -> None:
        self.explainer: Explainer | None = None
        self.is_async = is_async
        self.calls = 0

    def replay(self) -> Callable[..., Any]:
        def ask(_question: str, shown: Sequence[Source]) -> str:
            self.calls += 1
            assert self.explainer is not None
            return str(self.explainer.explain("?", ["a", "b"]).complete) + str(len(shown) > 1)

        async def aask(_question: str, shown: Sequence[Source]) -> str:
            self.calls += 1
            assert self.explainer is not None
            return str((await self.explainer.aexplain("?", ["a", "b"])).complete) + str(len(shown) > 1)

        return aask if self.is_async else ask


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("baseline", [None, "TrueTrue"])
@pytest.mark.parametrize("shares", ["the explainer", "the limiter"])
def test_an_explainer_inside_its_own_replay_is_refused_at_once(
    is_async: bool, baseline: str | None, shares: str
) -> None:
    nested = Nested(is_async=is_async)
    outer = Explainer(nested.replay(), concurrency=2)
    inner = Explainer(lambda _question, _shown: "yes", limiter=outer.limiter)
    nested.explainer = outer if shares == "the explainer" else inner
    with pytest.raises(InvalidInput, match="inside one of its own replays"):
        outer.explain("?", ["a", "b", "c"], baseline)
    assert nested.calls <= 2
    # Outside of replays, and after them, it is free.
    assert inner.explain("?", ["a", "b"]).complete


@pytest.mark.parametrize("is_async", [False, True])
def test_another_explainer_inside_a_replay_is_none_of_its_business(is_async: bool) -> None:
    nested = Nested(is_async=is_async)
    nested.explainer = Explainer(lambda _question, _shown: "yes", concurrency=1)
    found = Explainer(nested.replay(), predicate=equals("TrueTrue"), concurrency=4).explain(
        "?", ["a", "b", "c"]
    )
    assert found.complete
    assert [rule.sources for rule in found.retention_rules] == [("D1", "D2"), ("D1", "D3"), ("D2", "D3")]


def test_a_thread_that_a_replay_has_begun_may_explain_once_that_has_ended() -> None:
    ended, found = threading.Event(), list[bool]()

    def replay(_question: str, _shown: Sequence[Source]) -> str:
        context = contextvars.copy_context()
        if not threads:
            threads.append(threading.Thread(target=context.run, args=(later,)))
            threads[0].start()
        return "yes"

    def later() -> None:
        ended.wait(60)
        found.append(explainer.explain("?", ["a", "b"]).complete)

    threads = list[threading.Thread]()
    explainer = Explainer(replay)
    explainer.explain("?", ["a", "b"])
    ended.set()
    threads[0].join()
    assert found == [True]


def test_slots_that_were_held_leave_nothing_behind() -> None:
    limiter = Limiter(1)
    for _ in range(5):
        with limiter.slot():
            assert len(around()) == 1
            with pytest.raises(InvalidInput):
                limiter.check_free()
        limiter.check_free()
    assert around() == ()
