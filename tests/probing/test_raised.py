"""What a condition, a judge or a listener raises never ends the event loop that others wait for."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import pytest

from rag_rule_explainer import (
    BaselineFailed,
    Case,
    Explainer,
    InvalidInput,
    LabelledCase,
    Source,
    check_judge,
    contains,
    judged,
)
from rag_rule_explainer.predicates import JudgeRequest
from rag_rule_explainer.probing import loop
from rag_rule_explainer.testing import ScriptedReplay

pytestmark = pytest.mark.waits

SOURCES = ["amber", "basalt", "copper"]
THREE = [Source(each, f"{each} is a stone") for each in "abc"]


def raises(error: BaseException) -> NoReturn:
    raise error


def leaves() -> NoReturn:
    sys.exit("no label")


def interrupts() -> NoReturn:
    raises(KeyboardInterrupt())


def replay() -> ScriptedReplay:
    return ScriptedReplay(lambda ids: "yes" if {"D1", "D2"} <= ids else "no")


def sync_condition(end: Callable[[], NoReturn]) -> Any:
    def is_yes(case: Case) -> bool:
        return case.answer.text == "yes" or end()

    return is_yes


def async_condition(end: Callable[[], NoReturn]) -> Any:
    async def is_yes(case: Case) -> bool:
        return case.answer.text == "yes" or end()

    return is_yes


def condition_with_a_task(end: Callable[[], NoReturn]) -> Any:
    async def ended() -> NoReturn:
        end()

    async def is_yes(case: Case) -> bool:
        return case.answer.text == "yes" or await asyncio.create_task(ended())

    return is_yes


def sync_judge(end: Callable[[], NoReturn]) -> Any:
    def judge(asked: JudgeRequest) -> dict[str, bool]:
        return {each.id: each.answer == "yes" or end() for each in asked.candidates}

    return judged("agrees", judge)


def async_judge(end: Callable[[], NoReturn]) -> Any:
    async def judge(asked: JudgeRequest) -> dict[str, bool]:
        return {each.id: each.answer == "yes" or end() for each in asked.candidates}

    return judged("agrees", judge)


KINDS = [sync_condition, async_condition, condition_with_a_task, sync_judge, async_judge]


@pytest.mark.parametrize("kind", KINDS)
def test_a_system_exit_is_a_fault_of_the_function_that_raised_it(kind: Any) -> None:
    explanation = Explainer(replay(), predicate=kind(leaves)).explain("?", SOURCES)
    assert [rule.sources for rule in explanation.retention_rules] == [("D1", "D2")]
    reasons = [each.reason for each in explanation.unresolved]
    assert reasons
    assert all("it raised SystemExit('no label')" in reason for reason in reasons)
    assert not explanation.stop_reason


@pytest.mark.parametrize("kind", KINDS)
def test_a_keyboard_interrupt_ends_the_call_and_keeps_what_is_proved(kind: Any) -> None:
    explanation = Explainer(replay(), predicate=kind(interrupts)).explain("?", SOURCES)
    assert explanation.stop_reason == "interrupted"
    assert not explanation.complete


def test_in_the_users_own_loop_a_system_exit_is_a_fault_too() -> None:
    explainer = Explainer(replay(), predicate=async_condition(leaves))
    explanation = asyncio.run(explainer.aexplain("?", SOURCES))
    assert [rule.sources for rule in explanation.retention_rules] == [("D1", "D2")]


def test_argparse_in_a_condition_fails_on_the_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    def parsed(case: Case) -> bool:
        parser = argparse.ArgumentParser()
        parser.add_argument("label", choices=["postponed"])
        return bool(parser.parse_args([case.answer.text]))

    with pytest.raises(BaselineFailed, match=r"it raised SystemExit\(2\)"):
        Explainer(replay(), predicate=parsed).explain("?", SOURCES)
    assert "invalid choice" in capsys.readouterr().err


def test_a_listener_that_leaves_is_told_no_more() -> None:
    told: list[object] = []

    def listener(report: object) -> None:
        told.append(report)
        leaves()

    explainer = Explainer(replay(), predicate=contains("yes"), progress=listener)
    explanation = explainer.explain("?", SOURCES)
    assert explanation.complete
    assert len(told) == 1
    assert any("progress was no longer told" in note for note in explanation.notes)


def test_a_listener_that_interrupts_ends_the_call() -> None:
    explainer = Explainer(replay(), predicate=contains("yes"), progress=lambda _: interrupts())
    assert explainer.explain("?", SOURCES).stop_reason == "interrupted"


CASES = [LabelledCase("?", answer, answer == "yes") for answer in ("no", "yes")]


def test_a_judge_check_has_no_verdict_where_the_condition_left() -> None:
    def listener(_judged: int, _all: int) -> None:
        leaves()

    check = check_judge(CASES, sync_condition(leaves), progress=listener)
    assert (check.unknown, check.tp) == (1, 1)


def test_a_judge_check_is_ended_by_an_interrupt() -> None:
    check = check_judge(CASES, async_condition(interrupts))
    assert check.stop_reason == "interrupted"


def test_the_loop_outlives_whatever_a_task_raises() -> None:
    async def work() -> None:
        leaves()

    with pytest.raises(SystemExit, match="no label"):
        loop.run_blocking(work)
    explanation = Explainer(replay(), predicate=contains("yes")).explain("?", SOURCES)
    assert explanation.complete


def test_the_loop_outlives_a_task_that_stops_it() -> None:
    async def work() -> str:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
        return "went on"

    assert loop.run_blocking(work) == "went on"
    explanation = Explainer(replay(), predicate=contains("yes")).explain("?", SOURCES)
    assert explanation.complete


def test_a_condition_that_forgets_one_answer_costs_that_answer_alone() -> None:
    def is_late(case: Case) -> Any:
        if "1900" in case.answer:
            return True
        return False if "1889" in case.answer else None  # it forgets the third answer

    def replay(_: str, kept: Sequence[Source]) -> str:
        ids = {each.id for each in kept}
        return "neither" if ids == {"c"} else "in 1900" if "a" in ids else "in 1889"

    explanation = Explainer(replay, predicate=is_late, miner="exact").explain("When?", THREE)
    assert [each.kept for each in explanation.unresolved if each.kept == ("c",)]
    assert {rule.sources for rule in explanation.retention_rules} == {("a",)}

    def wrong(_: Case) -> None:
        return None

    with pytest.raises(InvalidInput, match="returned None"):
        Explainer(replay, predicate=wrong).explain("When?", THREE)  # pyright: ignore[reportArgumentType] -- as users do
