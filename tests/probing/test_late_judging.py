"""The limit of seconds bounds conditions and judges, too: what is proved by then is returned."""

import asyncio
import threading
from collections.abc import Generator, Sequence
from typing import Any

import pytest

from rag_rule_explainer import (
    Case,
    Explainer,
    LabelledCase,
    Limits,
    Settings,
    Source,
    check_judge,
    contains,
    judged,
)
from rag_rule_explainer.predicates import JudgeRequest
from tests import clock

pytestmark = pytest.mark.waits

SOURCES = ["amber", "basalt", "copper"]
REACHED = "the limit of 5 seconds is reached"
LIMITS = Limits(seconds=5)


async def replay(_question: str, sources: Sequence[Source]) -> str:
    return "yes" if {"D1", "D2"} <= {source.id for source in sources} else "no"


async def never(answer: str) -> bool:
    """Holds for yes, and hangs on everything else."""
    if answer != "yes":
        await asyncio.Event().wait()
    return True


async def hangs(case: Case) -> bool:
    return await never(case.answer.text)


async def judge_hangs(asked: JudgeRequest) -> dict[str, bool]:
    return {each.id: await never(each.answer) for each in asked.candidates}


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Generator[clock.VirtualLoop, None, None]:
    loop = clock.seen_by_the_bill(clock.VirtualLoop(), monkeypatch)
    with clock.under_explain(loop):
        yield loop


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize(
    ("predicate", "most"),
    [
        (hangs, 5),
        (judged("agrees", judge_hangs), 5),
        (judged("agrees", judge_hangs, batch=3), 5),
        (contains("yes") | hangs, 5),
        (judged("agrees", judge_hangs) & hangs, 6),
    ],
)
def test_what_hangs_is_cancelled_and_what_is_proved_stands(
    loop: clock.VirtualLoop, predicate: Any, most: int, concurrency: int
) -> None:
    started = loop.time()
    explainer = Explainer(
        replay, predicate=predicate, limits=LIMITS, timeout=None, concurrency=concurrency
    )
    explanation = explainer.explain("?", SOURCES)
    assert 5 <= loop.time() - started <= most + 0.1
    assert [rule.sources for rule in explanation.retention_rules] == [("D1", "D2")]
    assert not explanation.complete
    reasons = {each.reason for each in explanation.unresolved}
    late = f"it was not judged in time: {REACHED}"
    assert late in reasons
    assert reasons <= {late, REACHED}
    if concurrency == 1:  # with more, there may be no further probe to forbid
        assert explanation.stop_reason == REACHED


def test_what_hangs_on_the_baseline_ends_the_call_without_rules(loop: clock.VirtualLoop) -> None:
    async def hangs_at_once(_case: Case) -> bool:
        return await never("no")

    explanation = Explainer(replay, predicate=hangs_at_once, limits=LIMITS).explain("?", SOURCES)
    assert explanation.stop_reason == REACHED
    assert not explanation.rules
    assert explanation.baseline.text == "yes"


def test_an_answer_that_comes_late_is_still_judged(loop: clock.VirtualLoop) -> None:
    async def slow(question: str, sources: Sequence[Source]) -> str:
        await asyncio.sleep(4)
        return await replay(question, sources)

    async def is_yes(case: Case) -> bool:
        await asyncio.sleep(0.3)
        return case.answer.text == "yes"

    explanation = Explainer(slow, predicate=is_yes, limits=LIMITS, concurrency=2).explain("?", SOURCES)
    assert explanation.stop_reason == REACHED
    assert explanation.counts.replays == 2
    assert {each.reason for each in explanation.unresolved} == {REACHED}


def test_a_judge_check_ends_by_its_limit(loop: clock.VirtualLoop) -> None:
    cases = [LabelledCase("?", answer, label=True) for answer in ("yes", "no", "nay")]
    check = check_judge(cases, hangs, settings=Settings(limits=LIMITS, concurrency=2))
    assert check.stop_reason == REACHED
    assert (check.tp, check.unknown) == (1, 2)


@pytest.mark.parametrize("of_judge", [False, True])
def test_what_blocks_its_thread_is_abandoned(monkeypatch: pytest.MonkeyPatch, of_judge: bool) -> None:
    loop = clock.seen_by_the_bill(clock.VirtualLoop(jumps=False), monkeypatch)
    released = threading.Event()

    def blocks(answer: str) -> bool:
        if answer != "yes":
            loop.jump()
            released.wait(120)
        return True

    def condition(case: Case) -> bool:
        return blocks(case.answer.text)

    def judge(asked: JudgeRequest) -> dict[str, bool]:
        return {each.id: blocks(each.answer) for each in asked.candidates}

    predicate: Any = judged("agrees", judge) if of_judge else condition
    with clock.under_explain(loop):
        explainer = Explainer(replay, predicate=predicate, limits=LIMITS, timeout=None, concurrency=1)
        explanation = explainer.explain("?", SOURCES)
        assert not released.is_set()
        released.set()
    assert explanation.stop_reason == REACHED
    assert [rule.sources for rule in explanation.retention_rules] == [("D1", "D2")]
