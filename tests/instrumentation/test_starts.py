"""Replays on one event loop begin one after the other.

The clock of these loops stands still, or jumps: on a busy machine no start is a long one.
"""

import asyncio

import pytest

from rag_rule_explainer.instrumentation.starts import LONGEST_START, MOST_USELESS_STARTS, Starts
from tests.clock import VirtualLoop, run, waited

pytestmark = pytest.mark.waits

Seen = list[str]


async def replay(
    starts: Starts, name: str, seen: Seen, last: asyncio.Event, *, asks: bool = True
) -> None:
    """Stands for a replay that computes in two steps and sends a request. B is the last one, for which
    all requests wait."""
    async with starts.turn() as sent:
        seen.append(f"{name} begins")
        await asyncio.sleep(0)
        if asks:
            sent(None)
            seen.append(f"{name} asks")
        if name == "B":
            last.set()
        if asks:
            await last.wait()


def test_a_replay_begins_when_the_one_before_it_has_sent_its_first_request() -> None:
    async def both() -> Seen:
        starts, seen, last = Starts(), Seen(), asyncio.Event()
        await asyncio.gather(*(replay(starts, name, seen, last) for name in "AB"))
        return seen

    assert run(both(), VirtualLoop(jumps=False)) == ["A begins", "A asks", "B begins", "B asks"]


def test_a_replay_that_ends_without_a_request_lets_the_next_one_begin() -> None:
    async def both() -> Seen:
        starts, seen = Starts(), Seen()
        await asyncio.gather(*(replay(starts, name, seen, asyncio.Event(), asks=False) for name in "AB"))
        return seen

    assert run(both(), VirtualLoop(jumps=False)) == ["A begins", "B begins"]


def test_a_request_may_be_sent_from_another_thread() -> None:
    async def both() -> Seen:
        starts, seen, last = Starts(), Seen(), asyncio.Event()

        async def first() -> None:
            async with starts.turn() as sent:
                await asyncio.to_thread(sent, None)
                await last.wait()
                seen.append("A ends")

        await asyncio.gather(first(), replay(starts, "B", seen, last, asks=False))
        return seen

    assert run(both(), VirtualLoop(jumps=False)) == ["B begins", "A ends"]


def test_replays_that_compute_in_threads_of_their_own_soon_begin_at_once() -> None:
    async def in_threads_first() -> Seen:
        starts, seen, last = Starts(), Seen(), asyncio.Event()
        for _ in range(MOST_USELESS_STARTS):
            async with starts.turn() as sent:
                await asyncio.to_thread(sent, None)
        async with starts.turn():
            await replay(starts, "B", seen, last, asks=False)
        return seen

    assert run(in_threads_first(), VirtualLoop(jumps=False)) == ["B begins"]


def test_what_waits_before_its_first_request_holds_nobody_up_for_long() -> None:
    starts = Starts()

    async def embeds_first() -> None:
        async with starts.turn():
            await asyncio.sleep(1)

    async def all_at_once() -> None:
        await asyncio.gather(*(embeds_first() for _ in range(8)))

    # The fourth to the eighth begin together: nobody waits for a start any more.
    assert abs(waited(all_at_once) - (MOST_USELESS_STARTS * LONGEST_START + 1)) < LONGEST_START / 2
    assert abs(waited(all_at_once) - 1) < LONGEST_START / 2


def test_a_replay_that_is_cancelled_while_it_waits_its_turn_holds_nobody_up() -> None:
    async def three() -> Seen:
        starts, seen, last = Starts(), Seen(), asyncio.Event()
        async with starts.turn():
            waiting = asyncio.create_task(replay(starts, "B", seen, last))
            await asyncio.sleep(0)
            waiting.cancel()
        await replay(starts, "C", seen, last, asks=False)
        return seen

    assert run(three(), VirtualLoop(jumps=False)) == ["C begins"]


def test_an_application_may_be_replayed_on_several_loops() -> None:
    starts, seen = Starts(), Seen()

    async def both() -> None:
        replays = (replay(starts, name, seen, asyncio.Event(), asks=False) for name in "AB")
        await asyncio.gather(*replays)

    for _ in range(2):
        run(both(), VirtualLoop(jumps=False))
    assert seen == ["A begins", "B begins"] * 2
