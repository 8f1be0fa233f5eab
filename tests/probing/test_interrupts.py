"""Ctrl-C at any moment: before the baseline nothing comes of it, after it an explanation, and nothing is
asked afterwards."""

import asyncio
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Explanation, Source, equals
from rag_rule_explainer.probing.interrupts import kept
from rag_rule_explainer.probing.limiter import Limiter
from rag_rule_explainer.probing.loop import run_blocking
from tests.interrupting import stops, until

pytestmark = [
    pytest.mark.waits,
    pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to a thread"),
]

SOURCES = [Source(f"D{place}", "text") for place in range(1, 7)]


def press() -> None:
    signal.raise_signal(signal.SIGINT)


@contextmanager
def handled_by(handler: Callable[[int, FrameType | None], Any]) -> Generator[None, None, None]:
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
        assert signal.getsignal(signal.SIGINT) == handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def _nothing_is_left_behind() -> Generator[None, None, None]:
    with handled_by(signal.default_int_handler):
        yield


class TestWhatKeepsThem:
    def test_it_is_told_to_who_waits_and_raised_nowhere(self) -> None:
        with kept() as interrupts:
            press()
            press()
            assert isinstance(interrupts.wait(), KeyboardInterrupt)
            assert isinstance(interrupts.pending(), KeyboardInterrupt)
            assert interrupts.pending() is None
        with pytest.raises(KeyboardInterrupt):
            press()

    def test_a_handler_of_the_users_own_decides(self) -> None:
        calls = list[int]()
        with handled_by(lambda number, _: calls.append(number)), kept() as interrupts:
            press()
            assert interrupts.pending() is None
        assert calls == [signal.SIGINT]

        def exiting(_number: int, _frame: FrameType | None) -> None:
            sys.exit(7)

        left = threading.Event()

        def at(place: int) -> None:
            if place == 3:
                press_from_outside()
            if place >= 3:
                left.wait(60)

        with handled_by(exiting):
            with pytest.raises(SystemExit), kept() as interrupts:
                press()
            with pytest.raises(SystemExit):
                explained(at)
        left.set()

    @pytest.mark.parametrize("ignored", [signal.SIG_IGN, signal.SIG_DFL])
    def test_where_nobody_handles_it_nothing_is_changed(self, ignored: signal.Handlers) -> None:
        before = signal.signal(signal.SIGINT, ignored)
        try:
            with kept() as interrupts:
                assert not interrupts.is_keeping
                assert signal.getsignal(signal.SIGINT) is ignored
        finally:
            signal.signal(signal.SIGINT, before)

    def test_one_inside_another_is_the_other_unless_that_lets_them_through(self) -> None:
        with kept() as outer:
            with kept() as inner:
                assert inner is outer
            with outer.passed_on():
                with kept() as inner:
                    assert inner is not outer
                    press()
                    assert isinstance(inner.pending(), KeyboardInterrupt)
                with pytest.raises(KeyboardInterrupt):
                    press()
            # Somebody inside has taken them, and went on: no reason for the outer one to do so.
            assert isinstance(outer.pending(), KeyboardInterrupt)

    def test_what_was_kept_is_raised_before_the_application_begins(self) -> None:
        with kept() as interrupts:
            press()
            with pytest.raises(KeyboardInterrupt), interrupts.passed_on():
                pytest.fail("it was begun")

    def test_a_handler_that_was_put_in_place_meanwhile_stays(self) -> None:
        def other(_number: int, _frame: FrameType | None) -> None:
            raise AssertionError

        before = signal.getsignal(signal.SIGINT)
        with kept():
            signal.signal(signal.SIGINT, other)
        assert signal.getsignal(signal.SIGINT) is other
        signal.signal(signal.SIGINT, before)

    def test_other_threads_take_no_part(self) -> None:
        handlers = list[Any]()

        def wait() -> None:
            with kept() as interrupts:
                handlers.append(signal.getsignal(signal.SIGINT))
                interrupts.wake()
                assert interrupts.wait() is None

        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()
        assert handlers == [signal.default_int_handler]

    def test_who_waits_for_a_slot_is_interrupted_and_leaves_it_to_others(self) -> None:
        limiter, main = Limiter(1), threading.main_thread().ident
        assert main is not None

        def press_when_somebody_waits() -> None:
            # Nothing public shows it.
            until(lambda: limiter._waiting)  # pyright: ignore[reportPrivateUsage]
            signal.pthread_kill(main, signal.SIGINT)

        pressing = threading.Thread(target=press_when_somebody_waits)
        with limiter.slot():
            pressing.start()
            with pytest.raises(KeyboardInterrupt), limiter.slot():
                pytest.fail("there is none")
            pressing.join()
        with limiter.slot():
            assert not limiter.enter_at_once()


def press_from_outside() -> None:
    """From another thread, as it comes: at whatever the main thread is about to do."""
    main = threading.main_thread().ident
    assert main is not None
    thread = threading.Thread(target=signal.pthread_kill, args=(main, signal.SIGINT))
    thread.start()
    thread.join()


def explained(at: Callable[[int], object], **fields: Any) -> tuple[Explanation, list[int]]:
    """``at``: is called with the number of every replay, in its thread."""
    asked = list[int]()
    guard = threading.Lock()

    def replay(_question: str, shown: Sequence[Source]) -> str:
        with guard:
            asked.append(len(shown))
            place = len(asked)
        at(place)
        return "yes" if any(source.id == "D1" for source in shown) else "no"

    explainer = Explainer(replay, predicate=equals("yes"), miner="exact", **fields)
    return explainer.explain("?", SOURCES), asked


def test_while_the_baseline_is_made_there_is_nothing_to_explain() -> None:
    asked, begun = list[int](), threading.Event()

    def at(place: int) -> None:
        asked.append(place)
        press_from_outside()
        begun.wait(120)  # a replay that hangs is left to itself

    with pytest.raises(KeyboardInterrupt):
        explained(at)
    begun.set()
    assert asked == [1]


def test_with_a_baseline_at_hand_there_is_an_explanation_from_the_start() -> None:
    asked = list[int]()

    async def replay(_question: str, shown: Sequence[Source]) -> str:
        asked.append(len(shown))
        return "yes"

    explainer = Explainer(replay)
    with kept():
        press()
        explanation = explainer.explain("?", SOURCES, "yes")
    assert (explanation.stop_reason, explanation.baseline.text) == ("interrupted", "yes")
    assert asked == []
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


def test_an_application_that_makes_an_error_of_it_is_not_asked_again() -> None:
    asked = list[int]()

    class Gone(Exception):
        status_code = 503

    async def replay(_question: str, shown: Sequence[Source]) -> str:
        asked.append(len(shown))
        press_from_outside()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise Gone from None
        return "yes"

    with pytest.raises(KeyboardInterrupt):
        Explainer(replay, predicate=equals("yes")).explain("?", SOURCES)
    assert asked == [6]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.run() handles no SIGINT before")
def test_inside_asyncio_run_the_first_one_counts() -> None:
    async def main() -> None:
        explanation, _ = explained(at)
        found.append(explanation)
        await asyncio.sleep(60)

    def at(place: int) -> None:
        if place == 20:
            press_from_outside()
        if place >= 20:
            assert stopped.wait(60)

    found = list[Explanation]()
    with stops() as stopped, pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert found[0].stop_reason == "interrupted"


def test_a_second_one_aborts_whatever_hangs() -> None:
    hanging, noticed = threading.Event(), threading.Event()
    asked = list[int]()

    def handler(_number: int, _frame: FrameType | None) -> None:
        noticed.set()
        raise KeyboardInterrupt

    def at(place: int) -> None:
        asked.append(place)
        if place == 20:
            press_from_outside()
            noticed.wait(60)
            press_from_outside()
        if place >= 20:
            hanging.wait(60)

    with handled_by(handler), pytest.raises(KeyboardInterrupt):
        explained(at, concurrency=2)
    count = len(asked)
    hanging.set()
    assert 20 <= count == len(asked) <= 21


@pytest.mark.parametrize("presses", [1, 2])
def test_work_that_nobody_can_end_early_is_cancelled(presses: int) -> None:
    async def never() -> None:
        await asyncio.sleep(60)

    with kept():
        for _ in range(presses):
            press()
        with pytest.raises(KeyboardInterrupt):
            run_blocking(never)


Way = Callable[[Explainer, list[Any]], None]


def by_explaining(explainer: Explainer, told: list[Any]) -> None:
    told.append(explainer.explain("?", SOURCES))


def by_streaming(explainer: Explainer, told: list[Any]) -> None:
    told += list(explainer.stream("?", SOURCES))


class _Trial:
    """An application that tells when it is asked for the ``at``th time; the moment to press Ctrl-C.

    Where it is ``held``, it answers no more than a few after that before Ctrl-C has come, however late.
    """

    def __init__(self, at: int, *, held: bool) -> None:
        self.asked = list[int]()
        self.reached, self._arrived = threading.Event(), threading.Event()
        self._at, self._most = at, at + 4 if held else 99
        if at == 0:
            self.reached.set()

    def noticed(self, number: int, frame: FrameType | None) -> None:
        self._arrived.set()
        signal.default_int_handler(number, frame)

    def replay(self, _question: str, shown: Sequence[Source]) -> str:
        answer = self._answer(shown)
        time.sleep(0.0002)
        if len(self.asked) > self._most:
            self._arrived.wait(60)
        return answer

    async def areplay(self, _question: str, shown: Sequence[Source]) -> str:
        answer = self._answer(shown)
        await asyncio.sleep(0.0002)
        if len(self.asked) > self._most:
            await asyncio.to_thread(self._arrived.wait, 60)
        return answer

    def _answer(self, shown: Sequence[Source]) -> str:
        self.asked.append(len(shown))
        if len(self.asked) >= self._at:
            self.reached.set()
        return "yes" if any(source.id == "D1" for source in shown) else "no"


def _at_random_moments(way: Way, seed: int, trials: int, *, is_async: bool) -> dict[str, int]:
    """What came of Ctrl-C at so many moments, counted: a while after a replay began, any of them."""
    draw, outcomes = random.Random(seed), dict[str, int]()
    watched = list[tuple[list[int], int]]()
    for number in range(trials):
        trial = _Trial(draw.choice([0, 1, 2, *range(2, 50, 4)]), held=number % 2 == 1)
        asked, told = trial.asked, list[Any]()
        replay = trial.areplay if is_async else trial.replay
        explainer = Explainer(replay, predicate=equals("yes"), concurrency=4)
        pressing = threading.Thread(target=_press_after, args=(trial.reached, draw.uniform(0, 0.003)))
        try:
            with handled_by(trial.noticed):
                pressing.start()
                way(explainer, told)
                pressing.join()
        except KeyboardInterrupt:
            if told:
                what = "after the end"
            else:
                assert len(asked) <= 1, (
                    f"trial {number}: an explanation is lost after {len(asked)} replays"
                )
                what = "before the baseline"
        else:
            explanation = told[-1]
            assert isinstance(explanation, Explanation)
            assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation
            assert explanation.complete == (not explanation.stop_reason)
            what = explanation.stop_reason or "complete"
        watched.append((asked, len(asked)))
        outcomes[what] = outcomes.get(what, 0) + 1
    assert [len(asked) for asked, _ in watched] == [count for _, count in watched], "more was asked"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return outcomes


def _press_after(reached: threading.Event, seconds: float) -> None:
    main = threading.main_thread().ident
    assert main is not None
    reached.wait(60)
    time.sleep(seconds)
    signal.pthread_kill(main, signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("way", [by_explaining, by_streaming])
def test_at_any_moment(way: Way, is_async: bool) -> None:
    outcomes = _at_random_moments(way, 2026, 100, is_async=is_async)
    print(way.__name__, "async" if is_async else "sync", outcomes)
    assert outcomes["interrupted"] >= 20
    assert outcomes.keys() <= {"interrupted", "before the baseline", "complete", "after the end"}
