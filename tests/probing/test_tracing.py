"""A replay as traces know it: it ends once, and always."""

import asyncio

from rag_rule_explainer.probing.tracing.marks import Outcome, TracedExplanation
from rag_rule_explainer.verdicts import Judgement, Verdict


def test_a_replay_is_told_its_verdict_once_and_whoever_comes_later_at_once() -> None:
    explanation, told, late = TracedExplanation(), list[Outcome](), list[Outcome]()
    replay = explanation.replay(["a", "b"], "replay")
    assert replay.marks == {
        "rag_rule_explanation": explanation.id,
        "rag_rule_kept": "a,b",
        "rag_rule_kind": "replay",
        "rag_rule_number": 1,
    }
    replay.at_end(told.append)

    async def end() -> None:
        await replay.end(Judgement(Verdict.HOLDS, "it says so"), "the answer is short")
        await replay.end(Judgement(Verdict.BREAKS), "the answer is long")

    asyncio.run(end())
    # A thread that was given up may begin something when nobody waits for it any more.
    replay.at_end(late.append)
    assert told == late
    assert [outcome.marks for outcome in told] == [
        {
            "rag_rule_verdict": "holds",
            "rag_rule_condition": "the answer is short",
            "rag_rule_reason": "it says so",
        }
    ]


def test_what_was_never_judged_ends_with_the_explanation() -> None:
    explanation, told = TracedExplanation(), list[Outcome]()
    replays = [explanation.replay([name], "replay") for name in "ab"]
    for replay in replays:
        replay.at_end(told.append)

    async def end() -> None:
        await replays[0].end(Judgement(Verdict.HOLDS))
        await explanation.close()

    asyncio.run(end())
    assert explanation.open == ()
    assert [outcome.marks["rag_rule_verdict"] for outcome in told] == ["holds", "unknown"]
    assert told[1].marks["rag_rule_reason"] == "not judged"


def test_a_tracer_that_fails_costs_no_other_its_ending() -> None:
    explanation, told = TracedExplanation(), list[Outcome]()
    replay = explanation.replay(["a"], "replay")

    def fail(_: Outcome) -> None:
        raise RuntimeError("the tracer is broken")

    async def afail(_: Outcome) -> None:
        raise RuntimeError("this one as well")

    for ending in (fail, afail, told.append):
        replay.at_end(ending)
    asyncio.run(replay.end(Judgement(Verdict.BREAKS)))
    assert len(told) == 1
