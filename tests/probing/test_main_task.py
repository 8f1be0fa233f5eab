"""Ctrl-C while the main task of ``asyncio.run`` awaits an explanation: before there is an answer nothing
comes of it, after it an explanation every time."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Generator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Explanation, Source, contains
from rag_rule_explainer.citations.several_conditions import aexplain_each

pytestmark = [
    pytest.mark.waits,
    pytest.mark.skipif(os.name == "nt", reason="sends SIGINT"),
    pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.run handles SIGINT from 3.11 on"),
]
SOURCES = [Source(name, name) for name in "abcd"]


@pytest.fixture(autouse=True)
def as_a_program_begins() -> Generator[None, None, None]:
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


class Application:
    """Answers "bad" on the sources b and d. Ctrl-C comes while it answers these calls."""

    def __init__(self, *presses: int) -> None:
        self.asked, self.presses = list[str](), presses

    async def __call__(self, _question: str, sources: Sequence[Source]) -> str:
        self.asked.append("".join(source.id for source in sources))
        for _ in range(self.presses.count(len(self.asked))):
            signal.raise_signal(signal.SIGINT)
        for _ in range(8):  # a kernel cancels its cell some steps of the loop later
            await asyncio.sleep(0)
        return "bad" if {"b", "d"} <= {source.id for source in sources} else "good"


def explainer_of(application: Application) -> Explainer:
    return Explainer(application, predicate=contains("bad"), concurrency=1, miner="exact")


async def by_explaining(explainer: Explainer) -> Explanation:
    return await explainer.aexplain("?", SOURCES)


async def by_verifying(explainer: Explainer) -> Explanation:
    return (await explainer.averify(["b", "d"], "retention", "?", SOURCES)).explanation


async def by_streaming(explainer: Explainer) -> Explanation:
    found = [each async for each in explainer.astream("?", SOURCES)]
    assert isinstance(found[-1], Explanation)
    return found[-1]


async def by_each(explainer: Explainer) -> Explanation:
    conditions = [contains("bad"), contains("good")]
    found = await aexplain_each(explainer, "?", SOURCES, lambda _: conditions)
    assert len(found) == 2
    return found[0]


Way = Callable[[Explainer], Awaitable[Explanation]]
WAYS = [by_explaining, by_verifying, by_streaming, by_each]


async def awaited(way: Way, application: Application) -> Explanation:
    return await way(explainer_of(application))


@pytest.mark.parametrize("way", WAYS)
def test_before_there_is_an_answer(way: Way) -> None:
    application = Application(1)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(awaited(way, application))
    assert application.asked == ["abcd"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("press", [2, 3, 4, 5])
def test_after_it(way: Way, press: int) -> None:
    application = Application(press)
    explanation = asyncio.run(awaited(way, application))
    assert explanation.stop_reason == "interrupted"
    assert len(application.asked) == press
    assert explanation.baseline.text == "bad"
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


async def in_a_cell(way: Way, application: Application) -> Explanation:
    """Awaits it as a notebook's kernel awaits a cell: Ctrl-C cancels the cell's task."""
    kernel = pytest.importorskip("ipykernel.ipkernel").IPythonKernel
    loop = SimpleNamespace(add_callback=asyncio.get_running_loop().call_soon_threadsafe)
    cell = asyncio.ensure_future(awaited(way, application))
    # Nothing public installs the kernel's handler of Ctrl-C.
    with kernel._cancel_on_sigint(SimpleNamespace(io_loop=loop), cell):
        return await cell


@pytest.mark.parametrize("way", WAYS)
def test_in_a_notebook(way: Way) -> None:
    application = Application(1)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(in_a_cell(way, application))
    assert application.asked == ["abcd"]
    application = Application(4)
    explanation = asyncio.run(in_a_cell(way, application))
    assert (explanation.stop_reason, explanation.baseline.text) == ("interrupted", "bad")
    assert len(application.asked) == 4


def test_a_second_one_ends_the_cell() -> None:
    application = Application(3, 3)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(in_a_cell(by_explaining, application))
    assert len(application.asked) == 3


def test_another_task_than_the_cells_is_cancelled_as_ever() -> None:
    application = Application(3)

    async def elsewhere(explainer: Explainer) -> Explanation:
        return await asyncio.create_task(by_explaining(explainer))

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(in_a_cell(elsewhere, application))


def test_a_second_one_ends_the_program() -> None:
    application = Application(3, 3)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(awaited(by_explaining, application))
    assert len(application.asked) == 3


def test_after_the_explanation_the_program_has_its_own_handler_again() -> None:
    async def main() -> Any:
        before = signal.getsignal(signal.SIGINT)
        await by_explaining(explainer_of(Application(2)))
        assert signal.getsignal(signal.SIGINT) is before
        await by_explaining(explainer_of(Application()))
        assert signal.getsignal(signal.SIGINT) is before
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(3600)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_tasks_of_a_program_are_cancelled_as_ever() -> None:
    """A server that explains something in one of its tasks is ended by Ctrl-C."""
    application, ended = Application(3), list[str]()

    async def serve() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("served")

    async def main() -> None:
        await asyncio.gather(serve(), by_explaining(explainer_of(application)))

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert ended == ["served"]


def test_a_cancellation_is_no_ctrl_c() -> None:
    async def main() -> None:
        async with asyncio.timeout(None) as limit:

            async def replay(_question: str, sources: Sequence[Source]) -> str:
                if len(sources) < len(SOURCES):
                    limit.reschedule(0)
                    await asyncio.sleep(3600)
                return "bad"

            await Explainer(replay, predicate=contains("bad")).aexplain("?", SOURCES)

    with pytest.raises(TimeoutError):
        asyncio.run(main())


def test_a_handler_of_the_users_is_left_alone() -> None:
    pressed = list[int]()
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    application = Application(3)
    assert asyncio.run(awaited(by_explaining, application)).complete
    assert pressed == [signal.SIGINT]
