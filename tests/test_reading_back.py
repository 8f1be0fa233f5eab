"""Every explanation that is ever written can be read back, as the same, however its search ended."""

import asyncio
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_rule_explainer import Explainer, Explanation, Limits, Source, equals
from rag_rule_explainer.testing import ScriptedReplay
from tests.drawing import examples
from tests.fuzzing import Check, drawn, explained

randoms = st.randoms(use_true_random=False)
UNHURRIED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
SOURCES = [Source(f"D{place}", "text") for place in range(1, 6)]


def check(draw: Random) -> None:
    condition, fields = drawn(draw)
    explanation = asyncio.run(explained(condition, fields))
    if explanation is not None:
        Check(condition, fields, explanation).reads_back()


@given(randoms)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=UNHURRIED)
def test_whatever_stops_limits_and_failures_there_were(draw: Random) -> None:
    check(draw)


@pytest.mark.slow
@given(randoms)
@settings(max_examples=examples(1000), deadline=None, suppress_health_check=UNHURRIED)
def test_whatever_there_were_many_times(draw: Random) -> None:
    check(draw)


def reads_back(explanation: Explanation) -> bool:
    read = Explanation.model_validate_json(explanation.model_dump_json())
    # Answers are equal by their texts, and here everything about them counts.
    return read == explanation and read.model_dump() == explanation.model_dump()


def test_a_limit_that_only_a_guess_has_met_has_stopped_nothing() -> None:
    replay = ScriptedReplay(lambda ids: "yes" if len(ids) > 1 else "no")
    explanation = Explainer(
        replay,
        predicate=equals("yes"),
        rules="retention",
        miner="exact",
        speculate=0.1,
        check_repeatable=False,
        limits=Limits(replays=31),
    ).explain("?", SOURCES)
    assert (explanation.complete, explanation.stop_reason) == (True, "")
    assert reads_back(explanation)
    assert len(explanation.retention_rules) == 10
    assert explanation.counts.probes == explanation.counts.replays <= 31


@pytest.mark.parametrize("stop_at", range(2, 35))
def test_a_stop_while_the_last_probes_are_in_flight_has_stopped_nothing(stop_at: int) -> None:
    asked = list[int]()

    async def replay(_question: str, shown: Sequence[Source]) -> str:
        asked.append(len(shown))
        if len(asked) == stop_at:
            inquiry.interrupt()
        await asyncio.sleep(0)
        return "yes" if len(shown) > 1 else "no"

    explainer = Explainer(
        replay, predicate=equals("yes"), rules="retention", miner="exact", concurrency=3
    )
    # Nothing public shows it.
    inquiry = explainer._session("?", SOURCES, None, {})  # pyright: ignore[reportPrivateUsage]
    explanation = asyncio.run(inquiry.explanation())
    assert explanation.complete == (len(asked) == 32)
    assert explanation.stop_reason == ("" if explanation.complete else "interrupted")
    assert reads_back(explanation)
