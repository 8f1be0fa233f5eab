"""Findings as they become known: how soon, that they only grow stronger, and how a stream ends."""

import asyncio
import gc
import itertools
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import (
    AnswerNotRepeatable,
    Case,
    Explainer,
    Explanation,
    InvalidInput,
    Limits,
    Noise,
    RuleKind,
    Sampled,
    Source,
    SourceLeak,
    Store,
    Update,
    condition,
    equals,
)
from rag_rule_explainer.session.streaming import stream_of
from rag_rule_explainer.storing.opened import close_all
from rag_rule_explainer.testing import ScriptedReplay
from tests.drawing import drawn, examples
from tests.testing.counting import running

pytestmark = pytest.mark.waits

PAIR = frozenset({"D8", "D44"})
Rule = tuple[RuleKind, tuple[str, ...]]


def sources(size: int) -> list[Source]:
    return [Source(f"D{n}", f"text {n}") for n in range(1, size + 1)]


def of_the_pair() -> ScriptedReplay:
    return ScriptedReplay(lambda ids: "yes" if ids >= PAIR else "no")


def explainer(replay: Callable[..., Any], **fields: Any) -> Explainer:
    return Explainer(replay, predicate=equals("yes"), **fields)


def parted(told: Sequence[Update | Explanation]) -> tuple[list[Update], Explanation]:
    """The updates, and the explanation that comes last."""
    *updates, last = told
    assert isinstance(last, Explanation)
    return [each for each in updates if isinstance(each, Update)], last


def standing(updates: Sequence[Update]) -> dict[Rule, str]:
    """What was told and not withdrawn; fails where something is withdrawn that was not told."""
    left: dict[Rule, str] = {}
    for update in updates:
        rule = update.finding.kind, update.finding.sources
        if update.withdrawn:
            del left[rule]
        else:
            left[rule] = update.finding.claim
    return left


def reported(explanation: Explanation) -> dict[Rule, str]:
    return {(rule.kind, rule.sources): rule.claim for rule in explanation.rules}


def test_the_first_rule_of_fifty_sources_comes_at_once() -> None:
    replay = of_the_pair()
    told = explainer(replay, rules="retention").stream("?", sources(50))
    first = next(told)
    # Nothing is asked while it is looked at.
    paid = len(replay.calls)
    time.sleep(0.05)
    assert len(replay.calls) == paid <= 20
    assert isinstance(first, Update)
    assert first.probes <= 20
    assert first.finding.sources == ("D8", "D44")
    assert first.finding.claim == "unverified"
    assert str(first).startswith(
        f"after {first.probes} probes: whenever D8 and D44 are retained, the answer is 'yes' [UNVERIFIED"
    )
    updates, explanation = parted(list(told))
    assert [update.finding.claim for update in updates] == ["tested"]
    assert standing(updates) == reported(explanation)
    assert explanation.counts.probes <= 80


def test_a_stream_asks_what_explain_asks() -> None:
    streamed, explained = of_the_pair(), of_the_pair()
    fields: dict[str, Any] = {"rules": "retention", "concurrency": 1}
    _, explanation = parted(list(explainer(streamed, **fields).stream("?", sources(50))))
    assert explanation.rules == explainer(explained, **fields).explain("?", sources(50)).rules
    assert streamed.calls == explained.calls


def test_an_exact_search_tells_each_minimal_rule_once() -> None:
    replay = of_the_pair()
    stream = explainer(replay, miner="exact").stream("?", [*sources(50)[5:11], *sources(50)[42:44]])
    updates, explanation = parted(list(stream))
    assert [update.finding.claim for update in updates] == ["proved"] * 3
    assert {update.finding.sources for update in updates} == {("D8", "D44"), ("D8",), ("D44",)}
    assert all(update.finding.minimal for update in updates)
    assert standing(updates) == reported(explanation)
    assert explanation.complete


def test_a_grouped_search_closes_in_on_its_rules() -> None:
    stream = explainer(of_the_pair(), rules="retention", miner="grouped").stream("?", sources(50))
    updates, explanation = parted(list(stream))
    sizes = [len(update.finding.sources) for update in updates if not update.withdrawn]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] < 50
    larger = {update.withdrawn for update in updates} - {""}
    assert larger == {"a smaller one stands in its place"}
    assert standing(updates) == reported(explanation)
    assert {rule.sources for rule in explanation.rules} == {("D8", "D44")}


def of_several(ids: frozenset[str]) -> str:
    return "yes" if any(rule <= ids for rule in ({"D2", "D7"}, {"D19"}, {"D30", "D31"})) else "no"


def test_what_a_grouped_search_has_come_down_to_stands_until_it_is_smaller() -> None:
    """The last round begins with all that was kept, which is larger than the rules of the one before."""
    stream = explainer(ScriptedReplay(of_several), miner="grouped").stream("?", sources(40))
    updates, explanation = parted(list(stream))
    withdrawn = [update for update in updates if update.withdrawn]
    assert {update.withdrawn for update in withdrawn} == {"a smaller one stands in its place"}
    fallen = [(update.finding.kind, update.finding.sources) for update in withdrawn]
    assert len(fallen) == len(set(fallen))
    assert not reported(explanation).keys() & set(fallen)


def test_a_grouped_search_tells_how_its_rules_were_tried_in_the_end() -> None:
    stream = explainer(ScriptedReplay(of_several), miner="grouped").stream("?", sources(40))
    updates, explanation = parted(list(stream))
    last = {(each.finding.kind, each.finding.sources): each.finding.sampling for each in updates}
    assert all("by itself with them" in rule.sampling for rule in explanation.rules)
    for rule in explanation.rules:
        assert last[rule.kind, rule.sources] == rule.sampling


def test_nothing_is_put_to_the_vote_before_the_next_update_is_asked_for() -> None:
    replay = of_the_pair()
    fields: dict[str, Any] = {"miner": "exact", "rules": "retention", "noise": Noise(samples=3)}
    told = explainer(replay, **fields, concurrency=1).stream("?", sources(50)[5:11] + sources(50)[42:44])
    for update in told:
        paid = len(replay.calls)
        time.sleep(0.02)
        assert len(replay.calls) == paid, update


@drawn
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"miner": "exact"},
        {"miner": "exact", "minimal": False},
        {"miner": "exhaustive"},
        {"miner": "sampled"},
        {"miner": "grouped"},
        {"miner": Sampled(max_violation=0.4, confidence=0.6)},
        {"miner": "sampled", "limits": Limits(replays=25)},
        {"miner": "exact", "limits": Limits(replays=25)},
        {"noise": Noise(min_confidence=0.8)},
        {"noise": Noise(samples=3)},
        {"miner": "sampled", "noise": Noise(samples=3, recheck=2)},
        {"miner": "sampled", "lockstep": True},
    ],
)
def test_what_is_told_and_stands_is_what_is_reported(fields: dict[str, Any]) -> None:
    for seed in range(examples(12)):
        draw = random.Random(seed)
        share, failing = draw.choice([0.3, 0.8, 0.95]), draw.choice([0, 0, 0.05])
        answers: dict[frozenset[str], str | Exception] = {}

        def script(
            ids: frozenset[str],
            share: float = share,
            failing: float = failing,
            seed: int = seed,
            answers: dict[frozenset[str], str | Exception] = answers,
        ) -> str | Exception:
            if ids not in answers:
                chance = random.Random(f"{seed} {sorted(ids)}")
                fails = chance.random() < failing and 0 < len(ids) < 6
                answers[ids] = "yes" if chance.random() < share or len(ids) == 6 else "no"
                answers[ids] = ValueError("odd") if fails else answers[ids]
            return answers[ids]

        told = list(explainer(ScriptedReplay(script), retries=0, **fields).stream("?", sources(6)))
        updates, explanation = parted(told)
        assert standing(updates) == reported(explanation)
        failed = any(isinstance(answer, Exception) for answer in answers.values())
        for update in updates:
            # Of what did not fall it is said that something has no verdict only where something has none.
            assert failed or not update.withdrawn.startswith("not every subset"), update
        strength = ["unverified", "relative", "tested", "confident", "voted", "proved"]
        claims: dict[Rule, str] = {}
        for update in updates:
            rule = update.finding.kind, update.finding.sources
            before = claims.get(rule)
            if update.withdrawn:
                del claims[rule]
                continue
            assert before is None or strength.index(before) <= strength.index(update.finding.claim)
            claims[rule] = update.finding.claim


def test_what_was_told_and_breaks_is_withdrawn() -> None:
    # What D1 alone makes hold one blocker of many undoes.
    def script(ids: frozenset[str]) -> str:
        return "yes" if "D1" in ids and ("D9" not in ids or "D2" in ids) else "no"

    stream = explainer(ScriptedReplay(script), rules="retention", miner="sampled").stream(
        "?", sources(20)
    )
    updates, explanation = parted(list(stream))
    alone = [update for update in updates if update.finding.sources == ("D1",)]
    assert [bool(update.withdrawn) for update in alone] == [False, True]
    fallen = alone[-1]
    assert fallen.withdrawn == "seen to break"
    assert fallen.finding.broken > 0
    assert "WITHDRAWN, seen to break: whenever D1 is retained" in str(fallen)
    assert [rule.sources for rule in explanation.rules] == [("D1", "D2")]
    assert standing(updates) == reported(explanation)


def test_what_breaks_is_withdrawn_with_the_answer_that_breaks_it() -> None:
    needed = {"D3", "D14", "D25", "D36"}
    fallen = 0
    for seed in range(6):
        replay = ScriptedReplay(
            lambda ids: "yes" if ids >= needed and ("D9" not in ids or "D2" in ids) else "no"
        )
        fields: dict[str, Any] = {"rules": "retention", "concurrency": 1, "seed": seed}
        for news in explainer(replay, **fields).stream("?", sources(40)):
            if isinstance(news, Update) and news.withdrawn:
                fallen += 1
                last = replay.calls[-1]
                assert last >= needed
                assert "D9" in last
                assert "D2" not in last
    assert fallen >= 3


def test_closing_it_ends_the_search() -> None:
    replay = of_the_pair()
    with closing(explainer(replay, rules="retention").stream("?", sources(50))) as told:
        next(told)
    paid = len(replay.calls)
    assert paid <= 20
    time.sleep(0.05)
    assert len(replay.calls) == paid
    assert list(told) == []


def test_leaving_its_loop_ends_the_search_and_awaits_what_is_in_flight() -> None:
    begun, ended = itertools.count(), itertools.count()

    def replay(_question: str, shown: Sequence[Source]) -> str:
        next(begun)
        time.sleep(0.002)
        next(ended)
        return "yes" if {source.id for source in shown} >= PAIR else "no"

    for update in explainer(replay).stream("?", sources(50)):
        assert isinstance(update, Update)
        break
    gc.collect()
    assert next(begun) == next(ended) <= 60


def test_closing_it_judges_no_more_of_what_is_stored(tmp_path: Path) -> None:
    judged = itertools.count()

    def postponed(case: Case) -> bool:
        next(judged)
        return case.answer.text == "yes"

    store = Store(str(tmp_path / "answers.db"), "tests")
    fields: dict[str, Any] = {"predicate": condition(postponed, "it is yes"), "rules": "retention"}
    Explainer(of_the_pair(), store=store, **fields).explain("?", sources(50))
    replay = of_the_pair()
    with closing(Explainer(replay, store=store, **fields).stream("?", sources(50))) as told:
        next(told)
        before = next(judged)
    assert next(judged) == before + 1
    assert replay.calls == []
    close_all()


def test_one_that_is_never_begun_asks_nothing() -> None:
    replay = of_the_pair()
    explainer(replay).stream("?", sources(50)).close()
    with pytest.raises(InvalidInput, match="one string"):
        explainer(replay).stream("?", "sources")
    with pytest.raises(InvalidInput, match="one string"):
        explainer(replay).astream("?", "sources")
    assert replay.calls == []


def test_no_thread_is_left() -> None:
    list(explainer(of_the_pair()).stream("?", sources(20)))
    before = running()
    for _ in range(20):
        with closing(explainer(of_the_pair(), rules="retention").stream("?", sources(50))) as told:
            next(told)
    # Replays run in threads that all share; they need not all have been begun before.
    assert len(running() - before) <= 8


def test_errors_come_out() -> None:
    number = itertools.count()
    never = ScriptedReplay(lambda _: f"answer {next(number)}")
    with pytest.raises(AnswerNotRepeatable):
        list(Explainer(never).stream("?", sources(4)))

    # One that ends the search after something was told.
    replay = of_the_pair()
    leaking = ScriptedReplay(
        lambda ids: SourceLeak("it leaked") if len(replay.calls) > 30 else replay("?", _shown(ids))
    )
    told: list[Update | Explanation] = []
    with pytest.raises(SourceLeak):
        told.extend(explainer(leaking, rules="retention").stream("?", sources(50)))
    assert [update.withdrawn for update in told if isinstance(update, Update)] == [""]
    stream = explainer(of_the_pair(), rules="retention").stream("?", sources(50))
    with pytest.raises(ZeroDivisionError):
        stream.throw(ZeroDivisionError)


def _shown(ids: frozenset[str]) -> list[Source]:
    return [Source(each, "") for each in ids]


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to a thread")
def test_ctrl_c_while_it_waits_brings_the_explanation() -> None:
    main = threading.main_thread().ident
    assert main is not None
    calls = itertools.count()

    def replay(_question: str, shown: Sequence[Source]) -> str:
        call = next(calls)
        if call == 40:
            signal.pthread_kill(main, signal.SIGINT)
        # Nothing public shows it.
        while call >= 40 and not inquiry._replayer.stopper.reason:  # pyright: ignore[reportPrivateUsage]
            time.sleep(0.001)
        return "yes" if {source.id for source in shown} >= PAIR else "no"

    asked = explainer(replay, rules="retention")
    # Nothing public shows it.
    inquiry = asked._session("?", sources(50), None, {})  # pyright: ignore[reportPrivateUsage]
    updates, explanation = parted(list(stream_of(inquiry)))
    assert explanation.stop_reason == "interrupted"
    assert [rule.claim for rule in explanation.rules] == ["unverified"]
    assert standing(updates) == reported(explanation)
    assert next(calls) <= 48


class TestOnTheCallersLoop:
    def test_it_says_the_same(self) -> None:
        async def told() -> list[Update | Explanation]:
            stream = explainer(of_the_pair(), rules="retention").astream("?", sources(50))
            return [each async for each in stream]

        updates, explanation = parted(asyncio.run(told()))
        assert [update.finding.claim for update in updates] == ["unverified", "tested"]
        assert standing(updates) == reported(explanation)

    def test_closing_it_awaits_what_is_in_flight(self) -> None:
        begun, ended = itertools.count(), itertools.count()

        async def replay(_question: str, shown: Sequence[Source]) -> str:
            next(begun)
            await asyncio.sleep(0.001)
            next(ended)
            return "yes" if {source.id for source in shown} >= PAIR else "no"

        async def first() -> None:
            async with aclosing(explainer(replay).astream("?", sources(50))) as told:
                async for update in told:
                    assert isinstance(update, Update)
                    break
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(first())
        assert next(begun) == next(ended) <= 60

    def test_cancelling_whoever_waits_cancels_the_search(self) -> None:
        reached = asyncio.Event()
        cancelled = itertools.count()

        async def replay(_question: str, shown: Sequence[Source]) -> str:
            if len(shown) == 50:
                return "yes"
            reached.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                next(cancelled)
                raise
            return "no"

        async def run() -> None:
            async def listen() -> None:
                async for _ in explainer(replay).astream("?", sources(50)):
                    pass

            listening = asyncio.create_task(listen())
            await reached.wait()
            listening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await listening
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(run())
        assert next(cancelled) >= 1

    def test_a_blocking_one_may_be_called_inside_a_running_loop(self) -> None:
        async def run() -> list[Update | Explanation]:
            return list(explainer(of_the_pair()).stream("?", sources(10)))

        assert isinstance(asyncio.run(run())[-1], Explanation)
