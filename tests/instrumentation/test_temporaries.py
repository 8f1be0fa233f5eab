"""Replays go on one at a time where runs leave data on what they share, and side by side where not."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from rag_rule_explainer.instrumentation.shared_state import temporaries
from rag_rule_explainer.instrumentation.shared_state.outside import Outside
from rag_rule_explainer.instrumentation.shared_state.temporaries import OneAtATime
from rag_rule_explainer.instrumentation.shared_state.turns import turns_of


class Pipeline:
    found: list[str] = []  # noqa: RUF012 -- shared by all, on purpose

    def __init__(self) -> None:
        self.asked = 0
        self.client = httpx.Client()
        self.texts: list[str] = []

    def counts(self) -> None:
        self.asked += 1

    def uses_its_client(self) -> None:
        self.client.headers = {"x-run": str(self.asked)}
        self.client.params = {"q": "why?"}

    def keeps_its_texts(self) -> None:
        self.texts = [*"ab"]

    def keeps_them_on_its_class(self) -> None:
        Pipeline.found = [*"ab"]


def noticed(application: object, run: Callable[[], object]) -> bool:
    alone = OneAtATime(application, "", Outside())
    run()  # the baseline
    with alone.noticing():
        run()
    return alone.is_needed


@pytest.mark.parametrize("name", ["counts", "uses_its_client"])
def test_counters_and_what_a_client_keeps_are_no_results(name: str) -> None:
    pipeline = Pipeline()
    run = getattr(pipeline, name)
    assert not noticed(run, run)


@pytest.mark.parametrize("name", ["keeps_its_texts", "keeps_them_on_its_class"])
def test_data_on_an_object_or_its_class_are_results(name: str) -> None:
    pipeline = Pipeline()
    run = getattr(pipeline, name)
    assert noticed(run, run)


def test_what_a_function_encloses_is_a_result() -> None:
    found: list[str] = []

    def run() -> list[str]:
        nonlocal found
        found = [*"ab"]
        return found

    assert noticed(run, run)


def test_a_lock_made_anew_is_none() -> None:
    holder = {"lock": threading.Lock()}

    def run() -> None:
        holder["lock"] = threading.Lock()

    assert not noticed(run, run)


@pytest.mark.waits
def test_nobody_else_runs_while_one_has_the_application_to_itself() -> None:
    run = Pipeline().counts
    one, other = OneAtATime(run, "", Outside()), OneAtATime(run, "", Outside())
    goes_on, may_end, told = threading.Event(), threading.Event(), list[str]()

    def usual() -> None:
        with other.turn():
            goes_on.set()
            assert may_end.wait(120)
            told.append("the other has ended")

    def exclusive() -> None:
        with one.exclusive_turn():
            told.append("one begins")
            # Its own replay is no other one.
            with one.turn():
                told.append("one runs")
            late.start()
            assert not began.wait(0.05)
            told.append("one ends")

    def comes_late() -> None:
        with other.turn():
            began.set()
            told.append("the late one runs")

    began = threading.Event()
    late, first = threading.Thread(target=comes_late), threading.Thread(target=usual)
    second = threading.Thread(target=exclusive)
    first.start()
    assert goes_on.wait(120)
    second.start()
    may_end.set()
    for each in (first, second, late):
        each.join(120)
    assert told == ["the other has ended", "one begins", "one runs", "one ends", "the late one runs"]


def test_one_that_does_not_end_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporaries, "LONGEST_WAIT", 0.0)
    run = Pipeline().counts
    one, other = OneAtATime(run, "", Outside()), OneAtATime(run, "", Outside())
    with other.turn():
        with pytest.raises(TimeoutError, match="goes on and on"), one.exclusive_turn():
            pass
        # Nobody is kept out any longer.
        with other.turn():
            pass


def test_a_user_is_answered_from_no_earlier_state_but_waits_for_no_one_who_waits() -> None:
    run = Pipeline().counts
    turns, one, other = turns_of(run), OneAtATime(run, "", Outside()), OneAtATime(run, "", Outside())
    with other.turn():
        assert not turns.claim(one)
        assert [*turns.beginning(other)] == []  # it waits for the replay that goes on; a user does not
    assert not turns.claim(one)
    turns.leave()
    assert turns.claim(one)
    waiting = turns.beginning(other)
    next(waiting)
    assert [*turns.beginning(one)] == []
    turns.leave()
    turns.release(one)
    assert not turns.claim(one)  # the user is next
    turns.release(one)
    assert [*waiting] == []
    assert not turns.claim(one)
    turns.leave()
    assert turns.claim(one)


def test_a_user_who_no_longer_waits_holds_up_nobody() -> None:
    run = Pipeline().counts
    turns, one, other = turns_of(run), OneAtATime(run, "", Outside()), OneAtATime(run, "", Outside())
    assert turns.claim(one)
    waiting = turns.beginning(other)
    next(waiting)
    waiting.close()
    turns.release(one)
    assert turns.claim(one)
    # A thread whose loop runs the exclusive replay would wait for itself.
    assert [*turns.beginning(other, may_block=False)] == []


def first_in_a_thread(other: OneAtATime, told: list[str]) -> Callable[[], None]:
    def begin() -> None:
        with other.first_turn():
            told.append("first")

    return begin


def first_on_a_loop(other: OneAtATime, told: list[str]) -> Callable[[], None]:
    async def begin() -> None:
        async with other.first_aturn():
            told.append("first")

    return lambda: asyncio.run(begin())


@pytest.mark.waits
@pytest.mark.parametrize("first", [first_in_a_thread, first_on_a_loop])
def test_a_baseline_waits_for_an_exclusive_replay_of_another_explanation(first: Any) -> None:
    run = Pipeline().counts
    one, other = OneAtATime(run, "", Outside()), OneAtATime(run, "", Outside())
    told = list[str]()
    thread = threading.Thread(target=first(other, told))
    with one.exclusive_turn():
        thread.start()
        thread.join(0.05)
        told.append("exclusive")
    thread.join(120)
    assert told == ["exclusive", "first"]
    assert turns_of(run).claim(one)
