import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_rule_explainer import Answer, Explainer, Explanation, InvalidInput, Source, contains, equals
from rag_rule_explainer.probing import threads
from rag_rule_explainer.testing import ScriptedReplay

pytestmark = pytest.mark.waits

SOURCES = [Source(f"D{place}", "text") for place in range(1, 6)]
ROOT = Path(__file__).parents[2]


class LoopBound:
    """An async application whose client works on the first loop it was used on only."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None

    async def __call__(self, _question: str, sources: Sequence[Source]) -> str:
        running = asyncio.get_running_loop()
        self.loop = self.loop or running
        if running is not self.loop:
            raise RuntimeError("bound to a different event loop")
        await asyncio.sleep(0)
        return "yes" if "D1" in {source.id for source in sources} else "no"


def test_explain_twice_with_a_client_that_binds_to_its_loop() -> None:
    explainer = Explainer(LoopBound(), predicate=equals("yes"))
    first, second = explainer.explain("?", SOURCES), explainer.explain("?", SOURCES)
    assert first.complete
    assert first.rules == second.rules


def test_explain_inside_a_running_loop() -> None:
    explainer = Explainer(LoopBound(), predicate=equals("yes"))
    outside = explainer.explain("?", SOURCES)

    async def main() -> Explanation:
        return explainer.explain("?", SOURCES)

    assert asyncio.run(main()).rules == outside.rules


@pytest.mark.parametrize("inside_a_loop", [False, True])
def test_32_blocking_replays_really_are_32_in_flight(inside_a_loop: bool) -> None:
    gate = threading.Barrier(32)

    def script(ids: frozenset[str]) -> str:
        # 8 + 28 + 28 of the 256 subsets: two full groups of 32, each let go when it is complete.
        if len(ids) in (1, 2, 6):
            gate.wait(timeout=120)
        return "same"

    replay = ScriptedReplay(script)
    explainer = Explainer(
        replay, predicate=equals("same"), concurrency=32, miner="exhaustive", rules="retention"
    )
    sources = [Source(f"D{place}", "text") for place in range(1, 9)]

    async def main() -> Explanation:
        return explainer.explain("?", sources)

    explanation = asyncio.run(main()) if inside_a_loop else explainer.explain("?", sources)
    assert explanation.complete
    assert replay.peak == 32


def test_explain_inside_an_async_replay_says_what_to_do() -> None:
    async def nested(_question: str, _sources: Sequence[Source]) -> Answer:
        return Answer(Explainer(ScriptedReplay(lambda _: "x")).explain("?", SOURCES).baseline.text)

    with pytest.raises(InvalidInput, match="aexplain"):
        Explainer(nested).explain("?", SOURCES)


def test_explanations_from_several_threads_do_not_mix() -> None:
    found: dict[str, Explanation] = {}

    def explain(name: str) -> None:
        replay = ScriptedReplay(lambda ids: "yes" if name in ids else "no")
        found[name] = Explainer(replay, predicate=contains("yes")).explain("?", SOURCES)

    explaining = [threading.Thread(target=explain, args=(source.id,)) for source in SOURCES]
    for thread in explaining:
        thread.start()
    for thread in explaining:
        thread.join()
    assert {name: found[name].retention_rules[0].sources for name in found} == {
        source.id: (source.id,) for source in SOURCES
    }


def test_the_engine_leaves_no_thread_of_its_own_behind_but_the_loops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "IDLE_SECONDS", 0.1)
    monkeypatch.setattr(threads, "_of_process", {})
    replay = ScriptedReplay(lambda ids: "yes" if "D1" in ids else "no")
    before = set(threading.enumerate())
    Explainer(replay, concurrency=8).explain("?", SOURCES)
    for thread in _new_threads(before):
        thread.join(60)
        assert not thread.is_alive()


def _new_threads(before: set[threading.Thread]) -> set[threading.Thread]:
    return {each for each in set(threading.enumerate()) - before if each.name != "rag-rule-loop"}


SCRIPT = """
    import itertools, signal, sys, threading, time
    from rag_rule_explainer import Explainer, equals
    from tests.interrupting import say, tell_stops

    # A process started in the background of a shell ignores Ctrl-C unless it says otherwise.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupts, numbers, stopped = int(sys.argv[1]), itertools.count(1), threading.Event()

    def tell():
        say("told")
        stopped.set()

    def replay(question, sources):
        if next(numbers) >= 8:
            say("here")
            stopped.wait() if interrupts == 1 else time.sleep(3600)
        return "yes" if any(source.id == "D1" for source in sources) else "no"

    tell_stops(tell)
    explainer = Explainer(replay, predicate=equals("yes"), concurrency=2, miner="exact")
    explanation = explainer.explain("?", [str(n) for n in range(12)])
    print("stopped:", explanation.stop_reason, explanation.complete, len(explanation.retention_rules) > 0)
"""


def process_of(script: str, *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def interrupted(process: "subprocess.Popen[str]", ready: str, interrupts: int) -> tuple[str, str]:
    """What it writes when it is sent so many, each as soon as the one before has stopped it.

    Two that come at once are one.
    """
    assert process.stdout is not None
    for word in [ready, *["told"] * (interrupts - 1)]:
        while (line := process.stdout.readline()) != f"{word}\n":
            assert line, process.stderr and process.stderr.read()
        process.send_signal(signal.SIGINT)
    return process.communicate(timeout=120)


@pytest.mark.spread(fast=2)
@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to a process")
@pytest.mark.parametrize("interrupts", [1, 2])
def test_ctrl_c_keeps_what_is_proved_and_a_second_one_aborts(interrupts: int) -> None:
    out, err = interrupted(process_of(SCRIPT, interrupts), "here", interrupts)
    if interrupts == 1:
        assert "stopped: interrupted False True" in out
    else:
        assert "KeyboardInterrupt" in err


PAUSING = """
    import signal, threading, time
    from rag_rule_explainer import Explainer, Retries, equals
    from tests import clock
    from tests.interrupting import say, tell_stops

    signal.signal(signal.SIGINT, signal.default_int_handler)
    # No time passes before the interrupt, however long the others take; then what has a second is late.
    loop = clock.VirtualLoop(jumps=False)
    others, others_have_begun = set(), threading.Event()

    class Busy(Exception):
        status_code = 503

    def replay(question, sources):
        ids = {source.id for source in sources}
        if ids == {"D1", "D2"}:
            others_have_begun.wait(60)
            say("failed")
            HOW
        others.add(frozenset(ids))
        if len(others) == 7:
            others_have_begun.set()
        return "yes" if "D1" in ids else "no"

    def tell():
        say("told")
        if TIMEOUT == 1.5:
            loop.jump()

    tell_stops(tell)
    under = clock.under_explain(loop)
    under.__enter__()  # and never left: the process ends in the middle of it
    explainer = Explainer(replay, predicate=equals("yes"), retries=Retries(3, 600, 600), timeout=TIMEOUT)
    explanation = explainer.explain("?", ["a", "b", "c"])
    print("stopped:", explanation.stop_reason, [rule.sources for rule in explanation.retention_rules])
"""


@pytest.mark.spread(fast=2)
@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to a process")
@pytest.mark.parametrize(
    ("how", "timeout", "interrupts"),
    # In a pause the first one ends it: a second one would come too late to abort anything.
    [
        ("raise Busy", "None", 1),
        pytest.param("time.sleep(3600)", "1.5", 1, marks=pytest.mark.slow),
        ("time.sleep(3600)", "600", 2),
    ],
)
def test_ctrl_c_in_a_pause_and_while_a_replay_hangs(how: str, timeout: str, interrupts: int) -> None:
    script = PAUSING.replace("HOW", how).replace("TIMEOUT", timeout)
    # Whether the pause has begun when it comes, or only what it is for: an hour of it is not waited for.
    out, err = interrupted(process_of(script), "failed", interrupts)
    if interrupts == 1:
        assert "stopped: interrupted [('D1', 'D3')]" in out
        assert err == ""
    else:
        assert "stopped" not in out
        assert "KeyboardInterrupt" in err
