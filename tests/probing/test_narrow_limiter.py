"""Of two limits that a caller sets, the smaller one holds, and the larger one for all calls together."""

import asyncio
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explainer, InvalidInput, Limiter, Source, equals
from rag_rule_explainer.probing.narrow_limiter import NarrowLimiter
from tests.integrations.known import BAD
from tests.integrations.langchain.chains import bad_with, retriever_of

SOURCES = [Source(name, name) for name in "abcde"]


class Peak:
    """Counts how many calls run at the same time."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def __call__(self, question: str, sources: Sequence[Source]) -> str:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(10):
            await asyncio.sleep(0)
        self.now -= 1
        return "same"


def peak(**parameters: Any) -> int:
    replay = Peak()
    Explainer(replay, predicate=equals("same"), miner="exhaustive", **parameters).explain("?", SOURCES)
    return replay.most


@pytest.mark.parametrize(
    ("size", "concurrency", "most"), [(3, 1, 1), (3, 2, 2), (2, 8, 2), (3, None, 3), (20, None, 20)]
)
def test_the_smaller_of_limiter_and_concurrency(size: int, concurrency: int | None, most: int) -> None:
    given: dict[str, Any] = {} if concurrency is None else {"concurrency": concurrency}
    limiter = Limiter(size)
    assert peak(limiter=limiter, **given) == most
    assert peak(limiter=limiter) == size  # all slots were given back


@pytest.mark.parametrize(
    ("size", "config", "own", "most"),
    [
        (1, {"max_concurrency": 8}, {}, 1),
        (3, {"max_concurrency": 2}, {}, 2),
        (3, {}, {"concurrency": 1}, 1),
    ],
)
def test_the_smaller_of_limiter_and_max_concurrency(
    size: int, config: Any, own: dict[str, Any], most: int
) -> None:
    """``max_concurrency`` replaced the limiter."""
    application = retriever_of("abcd") | bad_with("b")
    chain: Any = RuleExplainer(application, predicate=BAD, limiter=Limiter(size), **own)
    assert peak(limiter=chain._explainers.for_config(config).limiter) == most


async def test_who_gives_up_waiting_gives_back_what_was_taken() -> None:
    outer = Limiter(1)
    narrow = NarrowLimiter(1, outer)
    async with outer.aslot():
        waiting = asyncio.create_task(narrow.enter())
        await asyncio.sleep(0)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        assert not narrow.enter_at_once()
    for _ in range(2):
        async with narrow.aslot():
            assert not outer.enter_at_once()
    assert outer.enter_at_once()


@pytest.mark.waits
def test_threads_wait_for_both() -> None:
    outer = Limiter(1)
    narrow = NarrowLimiter(1, outer)
    order: list[str] = []

    def work() -> None:
        with narrow.slot():
            order.append("inside")

    with outer.slot():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(0.05)
        order.append("outside")
    thread.join(30)
    assert order == ["outside", "inside"]


def test_an_explainer_inside_a_replay_that_shares_the_outer_limiter_is_refused() -> None:
    limiter = Limiter(2)
    inner = Explainer(lambda _, __: "x", predicate=equals("x"), limiter=limiter)

    def replay(question: str, sources: Sequence[Source]) -> str:
        return str(inner.explain(question, sources))

    outer = Explainer(replay, predicate=equals("x"), limiter=limiter, concurrency=1)
    with pytest.raises(InvalidInput, match="shares its limiter"):
        outer.explain("?", SOURCES)
