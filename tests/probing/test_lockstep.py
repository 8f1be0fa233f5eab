"""What is probed depends on verdicts alone, or on latencies as well; the rules never do."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import Explainer, Explanation, Source, equals
from tests import clock

pytestmark = pytest.mark.waits

Truth = frozenset[frozenset[str]]


class Application:
    """Says yes on ``truth``; takes a random number of turns of the loop, or of seconds."""

    def __init__(self, truth: Truth, seed: int, seconds: float = 0.0) -> None:
        self.truth, self.seconds = truth, seconds
        self.draw = random.Random(seed)
        self.asked: list[frozenset[str]] = []

    async def __call__(self, _question: str, sources: Sequence[Source]) -> str:
        shown = frozenset(source.id for source in sources)
        self.asked.append(shown)
        for _ in range(self.draw.randint(0, 6)):
            await asyncio.sleep(self.draw.random() * self.seconds)
        return "yes" if shown in self.truth else "no"


def explained(application: Application, size: int, **more: Any) -> Explanation:
    explainer = Explainer(application, predicate=equals("yes"), check_repeatable=False, **more)
    sources = [Source(name, name) for name in "abcdef"[:size]]
    return clock.run(explainer.aexplain("?", sources))


@st.composite
def truths(draw: st.DrawFn) -> tuple[int, Truth]:
    size = draw(st.integers(1, 5))
    likely, luck = draw(st.sampled_from([0.5, 0.85, 1.0])), random.Random(draw(st.integers(0, 1 << 32)))
    sets = [frozenset("abcde"[i] for i in range(size) if mask >> i & 1) for mask in range(1 << size)]
    return size, frozenset(each for each in sets if luck.random() < likely)


@given(
    truths(),
    st.integers(1, 9),
    st.sampled_from([0.0, 0.1]),
    st.integers(0, 1 << 32),
    st.integers(0, 1 << 32),
)
def test_in_lockstep_the_probes_and_their_order_never_depend_on_latencies(
    table: tuple[int, Truth], width: int, share: float, one: int, other: int
) -> None:
    size, truth = table
    settings: dict[str, Any] = {"concurrency": width, "lockstep": True, "speculate": share}
    first, second = Application(truth, one), Application(truth, other)
    found, again = explained(first, size, **settings), explained(second, size, **settings)
    assert first.asked == second.asked
    assert found.rules == again.rules
    assert found.counts == again.counts
    assert [probe.kept for probe in found.probes] == [probe.kept for probe in again.probes]
    assert found.rules == explained(Application(truth, one), size).rules


@given(truths(), st.integers(1, 20), st.sampled_from([0.05, 0.3, 0.9]), st.integers(0, 1 << 32))
def test_guesses_change_no_rule_and_are_counted(
    table: tuple[int, Truth], width: int, share: float, seed: int
) -> None:
    size, truth = table
    plain = explained(Application(truth, 0), size, concurrency=1)
    guessing = Application(truth, seed)
    explanation = explained(guessing, size, concurrency=width, speculate=share)
    assert explanation.complete
    assert explanation.rules == plain.rules
    assert explanation.counterfactuals == plain.counterfactuals
    assert explanation.importance == plain.importance
    assert {each.sources for each in explanation.witnesses} == {each.sources for each in plain.witnesses}
    assert len(guessing.asked) == len(set(guessing.asked))
    # A guess that one kind wastes may be what the other needs.
    needed = {frozenset(probe.kept) for probe in plain.probes}
    assert needed <= set(guessing.asked)
    assert len(set(guessing.asked) - needed) == explanation.counts.wasted
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


def test_one_kind_wastes_what_it_does_not_need() -> None:
    sets = [frozenset("abcdef"[i] for i in range(6) if mask >> i & 1) for mask in range(64)]
    truth = frozenset(each for each in sets if {"a", "b"} <= each)
    wasted = 0
    for seed in range(20):
        guessing = Application(truth, seed, 0.002)
        found = explained(guessing, 6, rules="retention", concurrency=32, speculate=0.2)
        assert found.counts.probes == 16 + 2 + found.counts.wasted == len(guessing.asked)
        wasted += found.counts.wasted
    assert wasted


@pytest.mark.parametrize("width", [1, 2, 7])
def test_as_many_go_out_at_once_as_may_and_the_next_when_all_are_back(width: int) -> None:
    running = peak = begun = 0

    async def replay(_question: str, sources: Sequence[Source]) -> str:
        nonlocal running, peak, begun
        begun = begun + 1 if running else 1
        assert begun <= width
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0.003 * begun)
        running -= 1
        return "yes" if sources else "no"

    explainer = Explainer(replay, predicate=equals("yes"), concurrency=width, lockstep=True)
    assert clock.run(explainer.aexplain("?", list("abcd"))).complete
    assert peak == width
