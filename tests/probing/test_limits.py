"""Hard caps: never exceeded by more than what is in flight, and what was proved stands."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest

from rag_rule_explainer import (
    Answer,
    Explainer,
    Explanation,
    InvalidInput,
    Limiter,
    Limits,
    Price,
    Retries,
    Source,
    equals,
)
from rag_rule_explainer.probing.prices import cost_of, price_of
from rag_rule_explainer.probing.replaying import Baseline, UnusableReply
from tests import clock

pytestmark = pytest.mark.waits

SOURCES = [Source(name, name) for name in "abcde"]
QUICK = Retries(most=2, first_wait=0.0, longest_wait=0.0)
SPENT = {"input_tokens": 80, "cached_input_tokens": 30, "output_tokens": 20, "total_tokens": 100}
PRICES = {"m": Price(1.0, 4.0, cached_input=0.5)}
EACH = (50 * 1.0 + 30 * 0.5 + 20 * 4.0) / 1e6
"""What one replay costs."""


class Metered:
    """Every replay spends the same; knows the most that were in flight, and how many there were."""

    def __init__(self, model: str = "m", fails: Callable[[str], bool] = lambda _: False) -> None:
        self.calls = 0
        self.model, self.fails = model, fails

    async def __call__(self, _question: str, sources: Sequence[Source]) -> Answer:
        self.calls += 1
        await asyncio.sleep(0.001)
        shown = "".join(source.id for source in sources)
        if self.fails(shown):
            raise UnusableReply("spoilt", SPENT, {self.model: SPENT}, passing=True)
        text = "yes" if {"a", "b"} <= set(shown) else "no"
        return Answer(text, usage=SPENT, models={self.model: SPENT})


def explained(replay: Any, limits: Limits, **more: Any) -> Explanation:
    settings: dict[str, Any] = {"retries": QUICK, "prices": PRICES, **more}
    return Explainer(replay, predicate=equals("yes"), limits=limits, **settings).explain("?", SOURCES)


def is_true(explanation: Explanation) -> bool:
    retained = all({"a", "b"} <= set(rule.sources) for rule in explanation.retention_rules)
    omitted = all({"a", "b"} & set(rule.sources) for rule in explanation.omission_rules)
    return retained and omitted and all(rule.proved for rule in explanation.rules)


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("lockstep", [False, True])
@pytest.mark.parametrize("concurrency", [1, 4, 16])
@pytest.mark.parametrize("cap", [1, 2, 3, 7, 20, 33])
def test_the_caps_on_replays_tokens_and_cost(cap: int, concurrency: int, lockstep: bool) -> None:
    width = {"concurrency": concurrency, "lockstep": lockstep}
    for limits, told, exceeded in (
        (Limits(replays=cap), f"the limit of {cap} replays is reached", 0),
        (Limits(tokens=100 * cap), f"the limit of {100 * cap} tokens is reached", concurrency - 1),
        (Limits(cost=EACH * (cap - 0.5)), "in cost is reached", concurrency - 1),
    ):
        replay = Metered()
        explanation = explained(replay, limits, **width)
        spent = explanation.spent
        assert replay.calls == explanation.counts.replays
        assert cap <= replay.calls <= min(cap + exceeded, 34)
        assert is_true(explanation)
        assert spent.replays["input_tokens"] == 80 * replay.calls
        assert spent.replays["cached_input_tokens"] == 30 * replay.calls
        assert spent.replays_cost == pytest.approx(EACH * replay.calls)
        if replay.calls < 33:
            assert told in explanation.stop_reason
            assert not explanation.complete


def test_without_caps_there_is_no_stop() -> None:
    replay = Metered()
    assert explained(replay, Limits()).complete
    assert replay.calls == 33


def test_a_cap_that_suffices_stops_nothing() -> None:
    # Every subset, and the baseline once more.
    explanation = explained(Metered(), Limits(replays=33, tokens=3301, cost=EACH * 33.5, seconds=600))
    assert explanation.complete
    assert explanation.stop_reason == ""


@pytest.mark.parametrize("speculate", [0.0, 0.5])
def test_guesses_are_within_the_caps(speculate: float) -> None:
    replay = Metered()
    explanation = explained(replay, Limits(replays=12), speculate=speculate, concurrency=32)
    assert replay.calls == 12
    assert is_true(explanation)


def test_the_cap_on_seconds_lets_what_is_in_flight_come_in(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(_question: str, sources: Sequence[Source]) -> str:
        await asyncio.sleep(0.1)
        return "yes" if {"a", "b"} <= {source.id for source in sources} else "no"

    loop = clock.seen_by_the_bill(clock.VirtualLoop(), monkeypatch)
    started = loop.time()
    with clock.under_explain(loop):
        explanation = explained(slow, Limits(seconds=0.45), concurrency=2)
    assert 0.45 <= loop.time() - started < 0.7
    assert explanation.stop_reason == "the limit of 0.45 seconds is reached"
    assert explanation.retention_rules
    assert is_true(explanation)


def test_what_waits_for_a_slot_of_somebody_elses_is_no_longer_asked_beyond_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        limiter, asked, is_asked = Limiter(2), list[str](), asyncio.Event()

        async def replay(question: str, sources: Sequence[Source]) -> str:
            asked.append(question)
            is_asked.set()
            return "yes" if {"a", "b"} <= {source.id for source in sources} else "no"

        limits = Limits(seconds=0.5)
        waiting = Explainer(replay, predicate=equals("yes"), limits=limits, limiter=limiter)
        explaining = asyncio.create_task(waiting.aexplain("?", SOURCES))
        await is_asked.wait()
        async with limiter.aslot(), limiter.aslot():
            before = len(asked)
            await asyncio.sleep(0.6)
        explanation = await explaining
        assert explanation.stop_reason == "the limit of 0.5 seconds is reached"
        assert explanation.counts.replays == len(asked) == before

    clock.run(main(), clock.seen_by_the_bill(clock.VirtualLoop(), monkeypatch))


def test_replays_that_failed_are_on_the_bill() -> None:
    replay = Metered(fails=lambda shown: shown in {"ab", "cd"})
    explanation = explained(replay, Limits())
    assert explanation.counts.retries == 4
    assert explanation.counts.replays == replay.calls
    assert explanation.spent.replays["total_tokens"] == 100 * replay.calls
    assert explanation.spent.replays_cost == pytest.approx(EACH * replay.calls)


def test_an_empty_answer_is_on_the_bill() -> None:
    async def empty(_question: str, sources: Sequence[Source]) -> Answer:
        shown = {source.id for source in sources}
        return Answer("" if shown == {"c"} else "yes" if "a" in shown else "no", usage=SPENT)

    explanation = explained(empty, Limits(), retries=0)
    assert explanation.spent.replays["total_tokens"] == 100 * explanation.counts.replays


TOLD = {**SPENT, "details": {"audio": 1}, "cost": None}
"""As some clients tell it."""


@pytest.mark.parametrize(("usage", "models"), [(TOLD, None), (None, {"m": TOLD}), (TOLD, {"m": TOLD})])
def test_whatever_else_is_told_the_tokens_are_on_the_bill(usage: Any, models: Any) -> None:
    def replay(_question: str, sources: Sequence[Source]) -> Answer:
        if len(sources) == 4:
            raise UnusableReply("spoilt", usage, models)
        return Answer("yes" if len(sources) > 2 else "no", usage=usage, models=models)

    explanation = explained(replay, Limits(replays=500))
    assert explanation.spent.replays == {k: n * explanation.counts.replays for k, n in SPENT.items()}
    assert explanation.spent.replays_cost == pytest.approx(EACH * explanation.counts.replays)
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation
    capped = explained(replay, Limits(tokens=300), concurrency=1)
    assert capped.counts.replays == 3


@pytest.mark.parametrize("limits", [Limits(tokens=1), Limits(cost=0.001)])
def test_that_caps_bounded_nothing_is_said(limits: Limits) -> None:
    def silent(_question: str, _sources: Sequence[Source]) -> str:
        return "yes"

    bounded_nothing = "so the limits on tokens and cost bounded nothing"
    assert [note for note in explained(silent, limits).notes if note.endswith(bounded_nothing)]
    assert not [note for note in explained(silent, Limits()).notes if note.endswith(bounded_nothing)]
    assert not [note for note in explained(Metered(), limits).notes if note.endswith(bounded_nothing)]


def test_the_judges_tokens_are_apart_and_count_for_the_caps() -> None:
    replay = Metered()
    explainer = Explainer(replay, predicate=equals("yes"), limits=Limits(tokens=4000), prices=PRICES)

    def judge() -> dict[str, dict[str, int]]:
        return {"m": {kind: count * replay.calls for kind, count in SPENT.items()}}

    baseline = Baseline(Answer("yes"), judge_spent=judge)
    explanation = explainer.explain("?", SOURCES, baseline)
    assert "4000 tokens" in explanation.stop_reason
    assert 20 <= replay.calls <= 27
    assert explanation.spent.judge == explanation.spent.replays
    assert explanation.spent.judge_cost == explanation.spent.replays_cost


@pytest.mark.parametrize("model", ["other", "mm", ""])
def test_a_model_without_a_price_is_told_before_anything_more_is_spent(model: str) -> None:
    replay = Metered(model)
    prices = {"m": Price(1, 1), "n": Price(1, 1)}
    with pytest.raises(InvalidInput, match=r"limits.cost is set, but prices has no price"):
        explained(replay, Limits(cost=1.0), prices=prices)
    assert replay.calls == 1


def test_a_model_without_a_price_that_comes_later_ends_it_and_what_was_proved_stands() -> None:
    class Changing(Metered):
        async def __call__(self, question: str, sources: Sequence[Source]) -> Answer:
            self.model = "m" if self.calls < 10 else "other"
            return await super().__call__(question, sources)

    replay = Changing()
    explanation = explained(replay, Limits(cost=1.0), concurrency=4)
    assert replay.calls <= 10 + 4
    assert "no price for every model that was used ('m', 'other')" in explanation.stop_reason
    assert not explanation.complete
    assert explanation.counts.probes >= 8


def test_without_a_cap_on_cost_an_unknown_price_is_only_not_told() -> None:
    explanation = explained(Metered("other"), Limits())
    assert explanation.complete
    assert explanation.spent.replays_cost is None


def test_the_longest_name_that_fits_has_the_price() -> None:
    plain, mini, other = Price(3, 3), Price(1, 1), Price(9, 9)
    prices = {"gpt-4o": plain, "gpt-4o-mini": mini, "*": other}
    assert price_of("gpt-4o", prices) is plain
    assert price_of("gpt-4o-2024-08-06", prices) is plain
    assert price_of("gpt-4o-mini-2024-07-18", prices) is mini
    assert price_of("gpt-4omni", prices) is other
    assert price_of("", prices) is other
    assert price_of("gpt-5", {"gpt-4o": plain}) is None
    assert price_of("", {"gpt-4o": plain}) is plain


@pytest.mark.parametrize(
    "model", ["gpt-5-pro", "gpt-5-pro-2025-10-06", "gpt-5-mini", "gpt-5-405b", "gpt-5-16k", "gpt-5.1"]
)
def test_another_model_is_not_taken_for_a_release(model: str) -> None:
    table = {"gpt-5": Price(1, 1)}
    assert price_of(model, table) is None
    assert cost_of({model: {"input_tokens": 1}}, table) is None


@pytest.mark.parametrize("release", ["2025-08-07", "20250807", "002", "latest", "preview-05-20"])
def test_releases_cost_what_the_model_does(release: str) -> None:
    table = {"gpt-5": Price(1, 1)}
    assert price_of(f"gpt-5-{release}", table) is table["gpt-5"]


def test_what_is_cached_is_cheaper_where_a_price_says_so() -> None:
    tokens = {"input_tokens": 1_000_000, "cached_input_tokens": 400_000, "output_tokens": 100_000}
    assert cost_of({"m": tokens}, {"m": Price(10, 20, cached_input=1)}) == pytest.approx(6 + 0.4 + 2)
    assert cost_of({"m": tokens}, {"m": Price(10, 20)}) == pytest.approx(10 + 2)
    assert cost_of({"m": tokens}, None) is None
    assert cost_of({"n": tokens}, {"m": Price(1, 1)}) is None
    assert cost_of({"n": {}}, {"m": Price(1, 1)}) == 0


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "8", None])
def test_a_limiter_of_no_size_is_refused(size: Any) -> None:
    with pytest.raises(InvalidInput, match="from 1 to 10,000"):
        Limiter(size)


class Together:
    """Blocking replays that wait for each other: so many at once, and never more."""

    def __init__(self, width: int) -> None:
        self.width, self.running, self.peak = width, 0, 0
        self._changed = threading.Condition()

    def __call__(self, _question: str, sources: Sequence[Source]) -> str:
        with self._changed:
            self.running += 1
            self.peak = max(self.peak, self.running)
            self._changed.notify_all()
            # Until all slots have been taken once; nothing else is coming before the baseline is in.
            if len(sources) < 6:
                self._changed.wait_for(lambda: self.peak >= self.width, timeout=120)
        with self._changed:
            self.running -= 1
        return "yes" if "a" in {source.id for source in sources} else "no"


def blocking(explainer: Explainer, names: str) -> Explanation:
    return explainer.explain("?", [Source(name, name) for name in names])


def on_a_loop(explainer: Explainer, names: str) -> Explanation:
    return asyncio.run(explainer.aexplain("?", [Source(name, name) for name in names]))


def inside_a_loop(explainer: Explainer, names: str) -> Explanation:
    async def main() -> Explanation:
        return blocking(explainer, names)

    return asyncio.run(main())


@pytest.mark.parametrize(
    "ways",
    [
        [blocking, blocking],
        [inside_a_loop, inside_a_loop],
        [on_a_loop, blocking],
        [on_a_loop, on_a_loop, inside_a_loop],
    ],
)
def test_explainers_that_share_a_limiter_fill_it_together_and_never_more(ways: list[Any]) -> None:
    replay, limiter = Together(32), Limiter(32)
    explainers = [
        Explainer(replay, predicate=equals("yes"), miner="exhaustive", limiter=limiter, timeout=200)
        for _ in ways
    ]
    found: list[Explanation] = []

    def ask(way: Callable[[Explainer, str], Explanation], explainer: Explainer) -> None:
        found.append(way(explainer, "abcdef"))

    pairs = zip(ways, explainers, strict=True)
    threads = [threading.Thread(target=ask, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(250)
    assert replay.peak == 32
    assert len(found) == len(ways)
    assert all(each.complete and each.rules == other.rules for each, other in pairwise(found))
