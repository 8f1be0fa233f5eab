"""A blocking call in a coroutine, for an application that needs the loop of that coroutine."""

import asyncio
import os
import signal
import sys
import warnings

import pytest
from plain_rag_rule_explainer import RuleExplainer, gate

from rag_rule_explainer import Retries
from rag_rule_explainer.errors import BaselineFailed
from tests.integrations.known import TEXTS

pytestmark = pytest.mark.waits


@gate
def find(_: str) -> list[str]:
    return list(TEXTS.values())


@pytest.mark.parametrize("is_inside", [True, False])
def test_a_call_that_blocks_the_loop_its_application_needs_says_so(is_inside: bool) -> None:
    """It stood still until the timeout, and nothing named the async method."""

    async def ask(home: asyncio.AbstractEventLoop | None) -> str:
        found = find("why?")
        if home is None:
            await asyncio.sleep(3600)
        else:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), home))
        return " ".join(found)

    async def inside() -> None:
        home = asyncio.get_running_loop()

        async def answer(_: str) -> str:
            return await ask(home)

        RuleExplainer(answer, timeout=0.2).explain("why?")

    async def late(_: str) -> str:
        return await ask(None)

    def outside() -> None:
        RuleExplainer(late, timeout=0.2).explain("why?")

    with pytest.raises(BaselineFailed, match=r"gave no answer within 0\.2 seconds") as failed:
        asyncio.run(inside()) if is_inside else outside()
    assert ("await the async method in its place" in str(failed.value)) is is_inside


def test_a_call_that_blocks_the_loop_is_told_of_at_once_and_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It waited for the timeout four times, in silence."""
    monkeypatch.setattr("rag_rule_explainer.probing.loop.PATIENCE_SECONDS", 0.0)
    tries: list[str] = []

    async def inside() -> None:
        home = asyncio.get_running_loop()

        async def answer(question: str) -> str:
            tries.append(question)
            find("why?")
            return str(
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), home))
            )

        RuleExplainer(answer, timeout=0.5, retries=Retries(3, first_wait=0.01)).explain("why?")

    with (
        pytest.warns(UserWarning, match="await the async method in its place") as warned,
        pytest.raises(BaselineFailed),
    ):
        asyncio.run(inside())
    assert (len(tries), len(warned)) == (1, 1)


def test_an_application_that_needs_no_loop_of_the_caller_is_not_warned_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rag_rule_explainer.probing.loop.PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("rag_rule_explainer.probing.interrupts.LOOK_UP_SECONDS", 0.001)
    tries: list[str] = []

    async def answer(question: str) -> str:
        tries.append(question)
        found = find("why?")
        await asyncio.sleep(10 if len(tries) == 1 else 0.02)
        return " ".join(found)

    async def inside() -> None:
        # Tasks that were waiting before the call are none of the application's.
        asyncio.get_running_loop().call_soon(print)
        RuleExplainer(answer, timeout=1, retries=Retries(1, first_wait=0.01)).explain("why?")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(inside())
    assert len(tries) > 2


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.run handles SIGINT from 3.11 on")
@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
@pytest.mark.parametrize("before", [True, False])
def test_ctrl_c_stops_an_application_that_never_suspends(before: bool) -> None:
    """It was asked for replays as well, and the explanation was lost."""
    asked: list[str] = []

    async def answer(question: str) -> str:
        asked.append(question)
        if not before:
            signal.raise_signal(signal.SIGINT)
        return " ".join(find(question))

    async def main() -> None:
        if before:
            signal.raise_signal(signal.SIGINT)
        await RuleExplainer(answer).aexplain("why?")

    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(main())
    finally:
        signal.signal(signal.SIGINT, former)
    assert asked == ([] if before else ["why?"])
