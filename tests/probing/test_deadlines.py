"""Replays that take too long, whatever they are made of and whatever they do about it."""

import asyncio
import subprocess
import sys
import textwrap
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from rag_rule_explainer import Explainer, Explanation, Limits, Source, equals
from rag_rule_explainer.probing.deadlines import Deadlines
from tests import clock

pytestmark = pytest.mark.waits

SOURCES = [Source(name, name) for name in "abc"]
ROOT = Path(__file__).parents[2]
LATE = "no answer within 0.1 seconds"
OnHang = Callable[[], Awaitable[Any]]


def explained(
    replay: Any, *, on_a_loop: bool = True, loop: clock.VirtualLoop | None = None, **more: Any
) -> Explanation:
    settings: dict[str, Any] = {"timeout": 0.1, "retries": 0, "check_repeatable": False, **more}
    explainer = Explainer(replay, predicate=equals("yes"), **settings)
    if not on_a_loop:
        with clock.under_explain(loop or clock.VirtualLoop()):
            return explainer.explain("?", SOURCES)

    async def main() -> Explanation:
        explanation = await explainer.aexplain("?", SOURCES)
        task = asyncio.current_task()
        # Nothing of our own cancellations is left behind.
        assert task is not None
        assert getattr(task, "cancelling", lambda: 0)() == 0
        assert not [each for each in asyncio.all_tasks() if "rag_rule" in repr(each)]
        return explanation

    return clock.run(main(), loop)


def hanging_at(subset: str, hang: OnHang) -> Any:
    """Says yes where "a" is shown, at once; on that subset, whatever becomes of the hanging."""

    async def replay(_question: str, sources: Sequence[Source]) -> Any:
        shown = "".join(source.id for source in sources)
        if shown == subset:
            return await hang()
        return "yes" if "a" in shown else "no"

    return replay


def is_left_open(explanation: Explanation, subset: str = "ab", reason: str = LATE) -> bool:
    unknown = {("".join(each.kept), each.reason) for each in explanation.unresolved}
    rules = {rule.sources for rule in explanation.retention_rules}
    return unknown == {(subset, reason)} and rules == {("a", "c")} and not explanation.complete


# Where one hangs, the others say what all say where none does.
@pytest.mark.parametrize("hangs", [pytest.param(False, marks=pytest.mark.slow), True])
def test_that_the_loop_stood_still_is_no_replays_fault(hangs: bool) -> None:
    async def replay(_question: str, sources: Sequence[Source]) -> str:
        shown = "".join(source.id for source in sources)
        # Whoever else has the loop gives it back when all is in, and late.
        loop = asyncio.get_running_loop()
        assert isinstance(loop, clock.VirtualLoop)
        loop.call_soon(loop.pass_by, 0.2)
        await (forever() if hangs and shown == "ab" else asyncio.sleep(0.05))
        return "yes" if "a" in shown else "no"

    explanation = explained(replay, concurrency=1)
    assert is_left_open(explanation) if hangs else explanation.complete


async def forever() -> str:
    await asyncio.sleep(3600)
    return "yes"


async def within_a_timeout() -> str:
    return await asyncio.wait_for(forever(), 1800)


async def within_anyio() -> str:
    with anyio.move_on_after(1800):
        return await forever()
    return "yes"


async def within_a_group() -> str:
    async with anyio.create_task_group() as group:
        group.start_soon(forever)
        await forever()
    return "yes"


async def several() -> str:
    return str(await asyncio.gather(forever(), forever()))


async def shielded() -> str:
    return await asyncio.shield(asyncio.sleep(0.2, "yes"))


async def says_so_itself() -> str:
    try:
        return await forever()
    except asyncio.CancelledError:
        return "yes"


async def says_something_else() -> str:
    try:
        return await forever()
    except asyncio.CancelledError:
        raise ValueError("interrupted") from None


async def goes_on_hanging() -> str:
    for _ in range(3):
        try:
            await forever()
        except asyncio.CancelledError:
            continue
    return "yes"


async def cleans_up_slowly() -> str:
    try:
        return await forever()
    finally:
        await asyncio.sleep(0.05)


HANGS = [
    forever,
    within_a_timeout,
    within_anyio,
    within_a_group,
    several,
    shielded,
    says_so_itself,
    says_something_else,
    goes_on_hanging,
    cleans_up_slowly,
]


@pytest.mark.parametrize("on_a_loop", [True, False])
@pytest.mark.parametrize("hang", HANGS)
def test_a_replay_that_hangs_is_given_up_whatever_it_does(hang: OnHang, on_a_loop: bool) -> None:
    loop = clock.VirtualLoop()
    started = loop.time()
    assert is_left_open(explained(hanging_at("ab", hang), on_a_loop=on_a_loop, loop=loop))
    assert loop.time() - started < 5


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has neither")
def test_the_timeouts_and_groups_of_asyncio_itself() -> None:
    async def within_timeout() -> str:
        async with asyncio.timeout(1800):
            return await forever()

    async def at_the_same_time() -> str:
        try:
            async with asyncio.timeout(0.1):
                return await forever()
        except TimeoutError:
            await forever()
            return "yes"

    async def within_group() -> str:
        group: Any = vars(asyncio)["TaskGroup"]()
        async with group:
            group.create_task(forever())
            await forever()
        return "yes"

    for hang in (within_timeout, at_the_same_time, within_group):
        assert is_left_open(explained(hanging_at("ab", hang)))


@pytest.mark.parametrize("on_a_loop", [True, False])
def test_a_sync_replay_that_hangs_is_left_to_itself(on_a_loop: bool) -> None:
    # Time passes when it hangs, and only then: any other thread may take as long as it likes.
    release, loop = threading.Event(), clock.VirtualLoop(jumps=False)

    def replay(_question: str, sources: Sequence[Source]) -> str:
        shown = "".join(source.id for source in sources)
        if shown == "ab":
            loop.jump()
            release.wait(120)
        return "yes" if "a" in shown else "no"

    try:
        assert is_left_open(explained(replay, on_a_loop=on_a_loop, loop=loop, concurrency=1))
    finally:
        release.set()


def test_a_timeout_is_tried_again() -> None:
    tries = list[str]()

    async def replay(_question: str, sources: Sequence[Source]) -> str:
        shown = "".join(source.id for source in sources)
        tries.append(shown)
        if shown == "ab" and tries.count("ab") <= 2:
            await forever()
        return "yes" if "a" in shown else "no"

    explanation = explained(replay, retries=2)
    assert explanation.complete
    assert explanation.counts.retries == 2


def test_32_that_hang_at_once_are_all_given_up_at_their_time() -> None:
    in_flight = peak = 0

    async def replay(_question: str, sources: Sequence[Source]) -> str:
        nonlocal in_flight, peak
        if len(sources) == 5:
            return "yes"
        in_flight += 1
        peak = max(peak, in_flight)
        try:
            await asyncio.sleep(3600)
        finally:
            in_flight -= 1
        return "yes"

    async def main() -> tuple[Explanation, float]:
        explainer = Explainer(
            replay,
            predicate=equals("yes"),
            rules="retention",
            miner="exhaustive",
            concurrency=32,
            timeout=0.3,
            retries=0,
            check_repeatable=False,
            limits=Limits(failures=None),
        )
        loop = asyncio.get_running_loop()
        started = loop.time()
        return await explainer.aexplain("?", list("abcde")), loop.time() - started

    explanation, seconds = clock.run(main())
    assert (len(explanation.unresolved), peak, in_flight) == (31, 31, 0)
    assert seconds == pytest.approx(0.3)


def test_an_answer_at_the_very_deadline_is_one_or_none_and_nothing_is_lost() -> None:
    async def replay(_question: str, sources: Sequence[Source]) -> str:
        shown = "".join(source.id for source in sources)
        if shown != "abc":
            await asyncio.sleep(takes)
        return "yes" if "a" in shown else "no"

    takes = 0.0
    for seconds in (0.01, 0.0199, 0.02, 0.0201, 0.03):
        takes = seconds
        explanation = explained(replay, timeout=0.02)
        for rule in explanation.retention_rules:
            assert "a" in rule.sources
        assert explanation.complete or {each.reason for each in explanation.unresolved} == {
            "no answer within 0.02 seconds"
        }


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 does not count cancellations")
def test_a_cancellation_from_outside_at_the_very_deadline_is_not_swallowed() -> None:
    async def main() -> bool:
        loop, deadlines = asyncio.get_running_loop(), Deadlines(0.01)

        async def work() -> str:
            task = deadlines.begin()
            assert task is not None
            # Both arrive before it runs again.
            loop.call_at(loop.time() + 0.01, task.cancel)
            assert isinstance(loop, clock.VirtualLoop)
            loop.pass_by(0.03)
            try:
                await forever()
            except asyncio.CancelledError:
                if deadlines.end(task):
                    return "only late"
                raise
            return "never"

        (found,) = await asyncio.gather(asyncio.create_task(work()), return_exceptions=True)
        return isinstance(found, asyncio.CancelledError)

    assert clock.run(main())


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 does not count cancellations")
def test_a_cancellation_that_was_pending_before_is_none_of_ours() -> None:
    async def main() -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(1)
        # Somebody cleans up after a cancellation, and asks us meanwhile.
        explainer = Explainer(
            hanging_at("ab", forever),
            predicate=equals("yes"),
            timeout=0.1,
            retries=0,
            check_repeatable=False,
        )
        assert is_left_open(await explainer.aexplain("?", SOURCES))
        late = Explainer(hanging_at("abc", forever), predicate=equals("yes"), timeout=0.1, retries=0)
        with pytest.raises(Exception, match="no answer within"):
            await late.aexplain("?", SOURCES)
        return "done"

    assert clock.run(main()) == "done"


def test_no_timer_is_left_on_the_callers_loop() -> None:
    async def main() -> list[Any]:
        loop = asyncio.get_running_loop()
        await Explainer(hanging_at("none", forever), predicate=equals("yes")).aexplain("?", SOURCES)
        timers: list[Any] = getattr(loop, "_scheduled", [])
        return [timer for timer in timers if not timer.cancelled()]

    assert asyncio.run(main()) == []


SCRIPT = """
    import threading, time
    from rag_rule_explainer import Explainer, equals
    from tests import clock

    # Their time is over when all three hang, however long it takes to get there.
    loop = clock.VirtualLoop(jumps=False)
    hanging = threading.Semaphore(0)

    def replay(question, sources):
        if len(sources) == 1:
            hanging.release()
            time.sleep(3600)
        return "yes"

    def when_all_hang():
        for _ in range(3):
            hanging.acquire()
        loop.jump()

    explainer = Explainer(replay, predicate=equals("yes"), timeout=0.2, retries=0, check_repeatable=False)
    threading.Thread(target=when_all_hang, daemon=True).start()
    under = clock.under_explain(loop)
    under.__enter__()  # and never left: the process ends in the middle of it
    explanation = explainer.explain("?", ["a", "b", "c"])
    print(len(explanation.unresolved), explanation.complete)
    others = [t for t in threading.enumerate() if t is not threading.main_thread()]
    print(len(others) >= 4, all(t.daemon for t in others))
"""


def test_a_process_ends_though_replays_of_its_hang() -> None:
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=280,
        cwd=ROOT,
        check=True,
    )
    assert run.stdout.split() == ["3", "False", "True", "True"]
    assert run.stderr == ""
