"""One bound over threads and loops."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from rag_rule_explainer.probing.limiter import Limiter


class Peak:
    """The most that were inside at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = self.most = self.visits = 0

    def enter(self) -> None:
        with self._lock:
            self._inside += 1
            self.visits += 1
            self.most = max(self.most, self._inside)

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1


def test_threads_and_several_loops_share_one_bound() -> None:
    limiter, peak = Limiter(3), Peak()

    def in_a_thread(_: int) -> None:
        with limiter.slot():
            peak.enter()
            time.sleep(0.002)
            peak.leave()

    async def on_a_loop() -> None:
        async def visit() -> None:
            async with limiter.aslot():
                peak.enter()
                await asyncio.sleep(0.002)
                peak.leave()

        await asyncio.gather(*(visit() for _ in range(20)))

    with ThreadPoolExecutor(12) as threads:
        jobs = [threads.submit(in_a_thread, number) for number in range(20)]
        jobs += [threads.submit(asyncio.run, on_a_loop()) for _ in range(3)]
        for job in jobs:
            job.result(30)
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
        assert await asyncio.wait_for(patient, 5) == "in"
        with pytest.raises(asyncio.CancelledError):
            await gives_up
        assert await asyncio.wait_for(visit(), 5) == "in"

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
