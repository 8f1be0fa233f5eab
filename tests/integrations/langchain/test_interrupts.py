"""Ctrl-C while a chain is explained: before its answer nothing comes of it, after it an explanation."""

import asyncio
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation
from rag_rule_explainer.instrumentation.outputs import Explained
from tests.integrations.known import BAD, shown_in
from tests.integrations.langchain.zoo.shapes import joined, retriever_of
from tests.interrupting import stops

pytestmark = [
    pytest.mark.waits,
    pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to a thread"),
]


def interrupt() -> None:
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)


@contextmanager
def arrivals() -> Generator[threading.Event, None, None]:
    """Inside, the event is set once Ctrl-C has come to the main thread."""
    arrived = threading.Event()

    def handle(number: int, frame: Any) -> None:
        arrived.set()
        signal.default_int_handler(number, frame)

    former = signal.signal(signal.SIGINT, handle)
    try:
        yield arrived
    finally:
        signal.signal(signal.SIGINT, former)


def explainer_of(asked: list[str], at: Callable[[int], object], **fields: Any) -> RuleExplainer[Any, Any]:
    guard = threading.Lock()

    def model(prompt: str) -> str:
        shown = shown_in(prompt)
        with guard:
            asked.append(shown)
            number = len(asked)
        at(number)
        return "bad" if {"b", "d"} <= set(shown) else "good"

    return RuleExplainer(retriever_of() | joined | model, predicate=BAD, concurrency=2, **fields)


def by_explaining(explainer: RuleExplainer[Any, Any]) -> Explanation:
    return explainer.explain("?")


def by_streaming(explainer: RuleExplainer[Any, Any]) -> Explanation:
    *_, last = explainer.stream("?")
    assert isinstance(last, Explained)
    return last.explanation


def by_verifying(explainer: RuleExplainer[Any, Any]) -> Explanation:
    return explainer.verify(["b", "d"], "retention", "?").explanation


Way = Callable[[RuleExplainer[Any, Any]], Explanation]


@pytest.mark.parametrize("way", [by_explaining, by_streaming, by_verifying])
def test_in_the_baseline_and_after_it(way: Way) -> None:
    asked = list[str]()
    with pytest.raises(KeyboardInterrupt):
        way(explainer_of(asked, lambda _: interrupt()))
    assert asked == ["abcd"]

    asked.clear()
    with stops() as stopped:

        def at(number: int) -> None:
            if number == 2:
                interrupt()
            if number >= 2:
                assert stopped.wait(60)

        explanation = way(explainer_of(asked, at))
    made = len(asked)
    assert 2 <= made < 17
    assert explanation.baseline.text == "bad"
    assert len(asked) == made
    assert explanation.stop_reason


def test_an_application_that_goes_on_after_an_interrupt_is_asked_nothing_more() -> None:
    asked = list[str]()

    def at(_number: int) -> None:
        try:
            interrupt()
            time.sleep(10)
        except KeyboardInterrupt:
            return

    explanation = by_explaining(explainer_of(asked, at))
    assert asked == ["abcd"]
    assert (explanation.stop_reason, explanation.baseline.text) == ("interrupted", "bad")


@pytest.mark.slow
def test_at_any_moment() -> None:
    # In every other trial nothing goes on before it has come, however late that is.
    draw, outcomes, watched = random.Random(2026), dict[str, int](), list[tuple[list[str], int]]()
    for trial in range(100):
        asked, reached = list[str](), threading.Event()
        first = draw.choice([1, 1, 1, 2, 3, 5, 8, 12])
        way = draw.choice([by_explaining, by_streaming])

        def at(
            number: int,
            first: int = first,
            reached: threading.Event = reached,
            is_held: bool = bool(trial % 2),
        ) -> None:
            if number >= first:
                reached.set()
            if number >= first and is_held:
                arrived.wait(60)
            time.sleep(0.005 if number == 1 else 0.0003)

        def press(reached: threading.Event = reached, seconds: float = draw.uniform(0, 0.004)) -> None:
            reached.wait(60)
            time.sleep(seconds)
            interrupt()

        explainer = explainer_of(asked, at)
        pressing, found = threading.Thread(target=press), list[Explanation]()
        try:
            with arrivals() as arrived:
                pressing.start()
                found.append(way(explainer))
                pressing.join()
        except KeyboardInterrupt:
            assert found or len(asked) <= 1, f"trial {trial}: it is lost after {len(asked)} calls"
            what = "after the end" if found else "before the baseline"
        else:
            assert Explanation.model_validate_json(found[0].model_dump_json()) == found[0]
            what = found[0].stop_reason or "complete"
        pressing.join()
        watched.append((asked, len(asked)))
        outcomes[what] = outcomes.get(what, 0) + 1
    print(outcomes)
    assert [len(asked) for asked, _ in watched] == [count for _, count in watched], "more was asked"
    assert min(outcomes["interrupted"], outcomes["before the baseline"]) >= 10


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.run handles SIGINT from 3.11 on")
@pytest.mark.parametrize("press", [1, 2, 3, 4])
def test_while_the_main_task_awaits_it(press: int) -> None:
    """Each request waits until Ctrl-C has come to the event loop."""
    asked, former = list[str](), signal.signal(signal.SIGINT, signal.default_int_handler)

    async def main() -> Explanation:
        loop = asyncio.get_running_loop()

        def at(number: int) -> None:
            if number == press:
                interrupt()
                for _ in range(3):
                    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(60)

        return await explainer_of(asked, at).aexplain("?")

    try:
        if press == 1:
            with pytest.raises(KeyboardInterrupt):
                asyncio.run(main())
            assert asked == ["abcd"]
            return
        explanation = asyncio.run(main())
    finally:
        signal.signal(signal.SIGINT, former)
    assert (explanation.stop_reason, explanation.baseline.text) == ("interrupted", "bad")
    assert len(asked) < 17
