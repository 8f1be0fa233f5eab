"""What an explanation tells of its progress, and that it always tells its end."""

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

import pytest

from rag_rule_explainer import (
    AnswerNotRepeatable,
    BaselineFailed,
    Explainer,
    Limits,
    ProgressReport,
    Source,
    contains,
)
from rag_rule_explainer.testing import ScriptedReplay
from tests.interrupting import stops


def sources(count: int) -> list[Source]:
    return [Source(f"D{place}", f"text {place}") for place in range(1, count + 1)]


def pair(ids: frozenset[str]) -> str:
    return "take calcium" if {"D2", "D4"} <= ids else "no idea"


def ends_once(reports: Sequence[ProgressReport]) -> bool:
    return [report.done for report in reports] == [False] * (len(reports) - 1) + [True]


def test_it_is_told_after_every_probe_and_at_the_end() -> None:
    reports: list[ProgressReport] = []
    explainer = Explainer(
        ScriptedReplay(pair), predicate=contains("calcium"), rules="retention", progress=reports.append
    )
    probes = explainer.explain("?", sources(4)).counts.probes
    assert [report.probes for report in reports] == [*range(1, probes + 1), probes]
    assert {report.upper_bound for report in reports} == {16}
    assert ends_once(reports)
    assert reports[-1].needed == probes


def test_what_was_just_probed_is_not_needed_once_more() -> None:
    reports: list[ProgressReport] = []
    explainer = Explainer(ScriptedReplay(lambda _: "x"), miner="exhaustive", progress=reports.append)
    explainer.explain("?", sources(3))
    assert {report.needed for report in reports} == {8}
    one: list[ProgressReport] = []
    alone = Explainer(ScriptedReplay(lambda _: "x"), rules="retention", progress=one.append)
    alone.explain("?", sources(3))
    assert (one[0].probes, one[0].needed) == (1, 1)


def test_the_reports_of_two_calls_can_be_told_apart() -> None:
    reports: list[ProgressReport] = []
    explainer = Explainer(ScriptedReplay(pair), progress=reports.append)
    explainer.explain("?", sources(2))
    explainer.explain("?", sources(2))
    assert len({report.call for report in reports}) == 2
    assert [report.done for report in reports].count(True) == 2


def test_the_seconds_left_are_those_of_what_is_known_to_be_needed() -> None:
    assert ProgressReport(10, 30, 1024, 12, seconds=5.0).seconds_left == 10.0
    assert ProgressReport(0, 30, 1024, 2, seconds=5.0).seconds_left is None
    assert ProgressReport(10, 30, 1024, 12, seconds=5.0).replays_per_second == 2.4


class TestEnd:
    def test_after_a_limit(self) -> None:
        reports: list[ProgressReport] = []
        explainer = Explainer(ScriptedReplay(pair), limits=Limits(replays=6), progress=reports.append)
        assert not explainer.explain("?", sources(4)).complete
        assert ends_once(reports)
        assert reports[-1].needed > reports[-1].probes

    def test_where_there_is_no_baseline(self) -> None:
        reports: list[ProgressReport] = []
        failing = ScriptedReplay(lambda _: ValueError("no"))
        with pytest.raises(BaselineFailed):
            Explainer(failing, progress=reports.append).explain("?", sources(2))
        assert ends_once(reports)

    def test_where_the_answer_is_not_repeatable(self) -> None:
        reports: list[ProgressReport] = []
        answers = iter("ab")
        with pytest.raises(AnswerNotRepeatable):
            Explainer(ScriptedReplay(lambda _: next(answers)), progress=reports.append).explain(
                "?", sources(2)
            )
        assert ends_once(reports)

    @pytest.mark.waits
    def test_after_a_cancellation(self) -> None:
        reports: list[ProgressReport] = []

        async def main() -> None:
            probed = asyncio.Event()

            async def replay(_question: str, kept: Sequence[Source]) -> str:
                if len(kept) < 3:
                    probed.set()
                    await asyncio.sleep(3600)
                return "x"

            explainer = Explainer(replay, progress=reports.append)
            task = asyncio.create_task(explainer.aexplain("?", sources(3)))
            await probed.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert ends_once(reports)

    @pytest.mark.waits
    @pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to a thread")
    def test_after_an_interrupt(self) -> None:
        reports: list[ProgressReport] = []
        numbers = itertools.count(1)

        def replay(_question: str, _kept: Sequence[Source]) -> str:
            if next(numbers) > 10:
                stopped.wait(60)
            return "x"

        def progress(report: ProgressReport) -> None:
            reports.append(report)
            # Once: the last report may tell the same count again, and a second Ctrl-C aborts.
            if report.probes == 2 and not report.done and sum(r.probes == 2 for r in reports) == 1:
                waiting = threading.main_thread().ident
                assert waiting is not None
                signal.pthread_kill(waiting, signal.SIGINT)

        explainer = Explainer(replay, miner="exhaustive", concurrency=1, progress=progress)
        with stops() as stopped:
            assert explainer.explain("?", sources(5)).stop_reason == "interrupted"
        assert ends_once(reports)


class TestBroken:
    def test_it_costs_nothing(self) -> None:
        def progress(_report: object) -> None:
            raise ZeroDivisionError

        explanation = Explainer(ScriptedReplay(pair), progress=progress).explain("?", sources(4))
        assert explanation.complete
        assert explanation.notes == ("progress was no longer told: ZeroDivisionError",)

    def test_nor_at_the_end(self) -> None:
        def progress(report: ProgressReport) -> None:
            if report.done:
                raise ZeroDivisionError

        explanation = Explainer(ScriptedReplay(pair), progress=progress).explain("?", sources(4))
        assert explanation.complete
        assert explanation.notes == ("progress was no longer told: ZeroDivisionError",)

    def test_others_are_told_all_the_same(self) -> None:
        def broken(_report: object) -> None:
            raise ZeroDivisionError

        reports: list[ProgressReport] = []
        explainer = Explainer(ScriptedReplay(pair), progress=broken)
        explanation = explainer.explain("?", sources(4), progress=reports.append)
        assert explanation.notes == ("progress was no longer told: ZeroDivisionError",)
        assert reports[-1].probes == explanation.counts.probes
        assert ends_once(reports)


@pytest.mark.waits
def test_listening_loads_nothing_that_draws() -> None:
    code = (
        "import sys; from rag_rule_explainer import Explainer, ProgressReport; "
        "Explainer(lambda q, s: 'x', progress=print).explain('?', ['a']); print('rich' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "False"
