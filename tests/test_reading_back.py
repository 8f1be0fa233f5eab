"""Every explanation that is ever written can be read back, as the same, however its search ended."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_rule_explainer import (
    Answer,
    Explainer,
    Explanation,
    Limits,
    Source,
    ToolCall,
    equals,
    load,
)
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


HOSTILE = ["", "\x00", "\ud800", "</script>", "a\r\nb", "\u2028", "'\"\\\\", "ü" * 300, "𝛼"]
NUMBERS = [0, -1, 2**70, 1e300, float("nan"), float("inf"), True, None]


def dressed(answer: Answer, draw: Random) -> Answer:
    """The answer with everything beside its verdicts that applications, models and agents bring."""

    def some(values: Sequence[Any]) -> Any:
        return draw.choice(values)

    value = some([None, {some(HOSTILE): [some(NUMBERS), {"deep": some(HOSTILE)}]}, (1, "2"), object()])
    calls = some([None, (), (ToolCall(some(HOSTILE) or "look", {some(HOSTILE): some(NUMBERS)}, step=1),)])
    return replace(
        answer,
        text=answer.text + some(HOSTILE),
        value=value,
        usage=some([None, {}, {"input_tokens": 3, some(HOSTILE): 2**70}]),
        models=some([None, {some(HOSTILE): {"output_tokens": 1}}]),
        finish_reason=some([None, "stop", "end_turn", "FinishReason.STOP"]),
        note=some(HOSTILE),
        unread=some([(), (some(HOSTILE), "more")]),
        calls=calls,
    )


@pytest.mark.parametrize("form", ["json", "html"])
@given(draw=randoms)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=UNHURRIED)
def test_whatever_answers_bring_with_them(form: Any, draw: Random) -> None:
    condition, fields = drawn(draw)
    plain = condition.replay

    async def replay(question: str, shown: Sequence[Source]) -> Answer:
        answer = await plain(question, shown)
        # Of equal sources, equal answers: all but the verdicts may differ between two of them.
        return dressed(answer, Random("".join(source.id for source in shown)))

    condition.replay = replay  # type: ignore[method-assign] -- a method of one object
    explanation = asyncio.run(explained(condition, fields))
    if explanation is None:
        return
    assert reads_back(explanation)
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"saved.{form}"
        explanation.save(file)
        assert load(file) == explanation


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
