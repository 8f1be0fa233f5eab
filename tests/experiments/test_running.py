"""One job after the other, and several at once, until Ctrl-C or an error."""

import signal
import threading
from collections.abc import Iterator

import anyio
import pytest

from rag_rule_explainer.experiments.outcome import ExperimentOutcome
from rag_rule_explainer.experiments.running import Check, one_by_one, several_at_once

pytestmark = pytest.mark.waits


@pytest.fixture
def swallowing() -> Iterator[None]:
    """Ctrl-C comes as it does during an explanation: it is noticed, and raises nothing by itself."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are handled in the main thread alone")
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("swallowing")
def test_what_an_explanation_made_of_ctrl_c_ends_it_between_jobs_all_the_same() -> None:
    outcome, done, told = ExperimentOutcome(), list[int](), list[tuple[int, int]]()

    def do(job: int, check: Check) -> None:
        if job == 2:
            signal.raise_signal(signal.SIGINT)
            check()
        done.append(job)

    assert not one_by_one(range(4), do, outcome, lambda number, of: told.append((number, of)))
    assert (outcome.interrupted, outcome.done, done, told) == (True, 2, [0, 1], [(1, 4), (2, 4)])
    done.clear()
    assert not one_by_one(
        range(4), lambda job, _: do(job, lambda: None), again := ExperimentOutcome(), None
    )
    assert (again.interrupted, again.done, done) == (True, 2, [0, 1, 2])
    assert one_by_one((0, 1), do, whole := ExperimentOutcome(), None)
    assert (whole.interrupted, whole.done) == (False, 2)


def test_what_is_in_flight_is_awaited_and_nothing_else_is_begun() -> None:
    ended = list[int]()

    async def run() -> None:
        all_begun, failed = anyio.Event(), anyio.Event()

        async def do(job: int) -> None:
            if job == 1:
                await all_begun.wait()
                failed.set()
                raise ValueError("boom")
            if job == 2:
                all_begun.set()
            await failed.wait()
            ended.append(job)

        await several_at_once(range(9), do, 3, lambda: False)

    with pytest.raises(ValueError, match="boom"):
        anyio.run(run)
    assert sorted(ended) == [0, 2]
