"""Explanations that are cancelled anywhere: nothing of them goes on, and nothing is lost to others."""

import asyncio
import contextvars
import random
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from rag_rule_explainer import Case, Explainer, Limiter, Retries, Source, condition, equals
from tests import clock

pytestmark = pytest.mark.waits

SOURCES = [Source(name, name) for name in "abcde"]
WIDTH = 4
inside: contextvars.ContextVar[str] = contextvars.ContextVar("inside", default="")


class Busy(Exception):
    status_code = 503


class Slow:
    """Takes its time, fails now and then; knows how many are in it."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.running = self.peak = 0

    async def __call__(self, _question: str, sources: Sequence[Source]) -> str:
        self.running += 1
        self.peak = max(self.peak, self.running)
        token = inside.set("a replay")
        try:
            await asyncio.sleep(self.draw.random() * 0.01)
            if self.draw.random() < 0.3:
                raise Busy
            return "yes" if {"a", "b"} <= {source.id for source in sources} else "no"
        finally:
            inside.reset(token)
            self.running -= 1


async def judged(case: Case) -> bool:
    await asyncio.sleep(0.005)
    return case.answer.text == "yes"


def explainer(replay: Any, limiter: Limiter, **more: Any) -> Explainer:
    settings: dict[str, Any] = {"retries": Retries(4, 0.005, 0.02), "timeout": 5.0, **more}
    return Explainer(
        replay, predicate=condition(judged, "yes"), limiter=limiter, check_repeatable=False, **settings
    )


async def full_width(limiter: Limiter) -> bool:
    """Whether everything else is gone: as many as fit in are let in, and no more."""
    together = Slow(0)
    again = Explainer(
        together,
        predicate=equals("yes"),
        limiter=limiter,
        miner="exhaustive",
        retries=Retries(20, 0.001, 0.002),
    )
    explanation = await again.aexplain("?", SOURCES[:4])
    return together.peak == WIDTH and explanation.complete


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("lockstep", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_a_cancelled_explanation_leaves_nothing_behind(seed: int, lockstep: bool) -> None:
    moment = random.Random(seed).random() * 0.15

    async def main() -> None:
        limiter, replay = Limiter(WIDTH), Slow(seed)
        first = explainer(replay, limiter, lockstep=lockstep, speculate=0.1 * (seed % 2))
        # A second one competes, so that the first also waits for slots.
        other = asyncio.create_task(explainer(Slow(seed + 1), limiter).aexplain("?", SOURCES))
        task = asyncio.create_task(first.aexplain("?", SOURCES))
        await asyncio.sleep(moment)
        was_done = task.done()
        task.cancel()
        if not was_done:
            with pytest.raises(asyncio.CancelledError):
                await task
        assert replay.running == 0
        assert inside.get() == ""
        assert (await other).retention_rules
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert await full_width(limiter)

    clock.run(main())


@pytest.mark.parametrize("at", [0.0, 0.01, 0.03, 0.08])
def test_the_scopes_of_anyio_around_it_are_left_at_once(at: float) -> None:
    async def main() -> None:
        limiter, replay = Limiter(WIDTH), Slow(1)
        with anyio.move_on_after(at) as scope:
            await explainer(replay, limiter, retries=Retries(9, 600, 600)).aexplain("?", SOURCES)
        assert scope.cancelled_caught
        assert replay.running == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}
        # Nothing public shows it.
        assert len(limiter._free) == WIDTH  # pyright: ignore[reportPrivateUsage]
        task = asyncio.current_task()
        assert getattr(task, "cancelling", lambda: 0)() == 0

    # A pause of 600 seconds is left at the time of the scope.
    loop = clock.VirtualLoop()
    started = loop.time()
    clock.run(main(), loop)
    assert loop.time() - started == pytest.approx(at)


def test_one_is_cancelled_in_a_pause_and_the_slots_are_free_meanwhile() -> None:
    async def busy(_question: str, sources: Sequence[Source]) -> str:
        if len(sources) < len(SOURCES):
            raise Busy
        return "yes"

    async def main() -> None:
        limiter = Limiter(WIDTH)
        task = asyncio.create_task(
            explainer(busy, limiter, retries=Retries(1, 600, 600)).aexplain("?", SOURCES)
        )
        await asyncio.sleep(0.1)
        # Nothing public shows it.
        assert len(limiter._free) == WIDTH  # pyright: ignore[reportPrivateUsage]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    clock.run(main())


def test_threads_of_a_cancelled_explanation_end_by_themselves() -> None:
    release, started, ended = threading.Event(), list[int](), list[int]()

    def replay(_question: str, sources: Sequence[Source]) -> str:
        if len(sources) < len(SOURCES):
            started.append(1)
            release.wait(120)
            ended.append(1)
        return "yes"

    async def main() -> None:
        limiter = Limiter(WIDTH)
        task = asyncio.create_task(explainer(replay, limiter).aexplain("?", SOURCES))
        while len(started) < WIDTH:  # noqa: ASYNC110 -- threads set no event of a loop
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}
        # Nothing public shows it.
        assert len(limiter._free) == WIDTH  # pyright: ignore[reportPrivateUsage]
        assert not ended  # nobody waited for the threads

    asyncio.run(main())
    release.set()
    until = time.monotonic() + 60
    while len(ended) < WIDTH:
        assert time.monotonic() < until
        time.sleep(0.005)
    assert len(started) == WIDTH


def test_threads_serve_the_next_explanation_and_then_end(monkeypatch: pytest.MonkeyPatch) -> None:
    from rag_rule_explainer.probing import threads as our_threads

    monkeypatch.setattr(our_threads, "IDLE_SECONDS", 600)
    monkeypatch.setattr(our_threads, "_of_process", {})
    seen = set[int]()

    def replay(_question: str, sources: Sequence[Source]) -> str:
        seen.add(threading.get_ident())
        return "yes" if "a" in {source.id for source in sources} else "no"

    before = set(threading.enumerate())
    blocking = Explainer(replay, predicate=equals("yes"), concurrency=WIDTH)
    for _ in range(20):
        blocking.explain("?", SOURCES)
    ours = {each for each in set(threading.enumerate()) - before if each.name == "rag-rule-replay"}
    assert len(seen) <= len(ours) <= WIDTH + 1
    # Each takes one more job, and then waits no longer than is said now.
    monkeypatch.setattr(our_threads, "IDLE_SECONDS", 0.01)
    together = threading.Barrier(len(ours))

    async def once_each() -> None:
        await asyncio.gather(*(our_threads.shared().run(together.wait, 60) for _ in ours))

    asyncio.run(once_each())
    for thread in ours:
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize("error", [KeyboardInterrupt, StopIteration, SystemExit, GeneratorExit])
@pytest.mark.parametrize("is_async", [False, True])
def test_whatever_a_replay_raises_under_explain_the_call_returns(
    error: type[BaseException], is_async: bool
) -> None:
    if is_async and error is GeneratorExit:
        pytest.skip("a coroutine that is closed")

    def shown(sources: Sequence[Source]) -> str:
        ids = {source.id for source in sources}
        if ids == {"a", "b"}:
            raise error
        return "yes" if "a" in ids else "no"

    async def areplay(_question: str, sources: Sequence[Source]) -> str:
        return shown(sources)

    def replay(_question: str, sources: Sequence[Source]) -> str:
        return shown(sources)

    asked = Explainer(areplay if is_async else replay, predicate=equals("yes"), check_repeatable=False)
    explanation = asked.explain("?", SOURCES[:3])
    assert [each.kept for each in explanation.unresolved] == [("a", "b")]
    assert asked.explain("?", SOURCES[2:]).complete


@pytest.mark.slow
def test_an_idle_thread_ends_though_others_took_what_it_was_woken_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rag_rule_explainer.probing import threads as our_threads

    monkeypatch.setattr(our_threads, "IDLE_SECONDS", 0.0003)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)

    async def many() -> None:
        for _ in range(60):
            await asyncio.gather(*(ours.run(time.sleep, 0.0001) for _ in range(8)))

    before = set(threading.enumerate())
    try:
        for _ in range(10):
            ours = our_threads.Threads()
            asyncio.run(many())
            for thread in set(threading.enumerate()) - before:
                thread.join(60)
                assert not thread.is_alive()
    finally:
        sys.setswitchinterval(interval)
