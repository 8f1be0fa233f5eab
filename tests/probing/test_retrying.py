"""What is tried again, when, how often, and what stops it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rag_rule_explainer import (
    Answer,
    BaselineFailed,
    Explainer,
    Explanation,
    Limits,
    Retries,
    Source,
    equals,
)
from tests import clock

pytestmark = pytest.mark.waits

SOURCES = [Source(name, name) for name in "abcd"]
QUICK = Retries(most=3, first_wait=0.001, longest_wait=0.002)
SLOW = Retries(most=3, first_wait=600, longest_wait=600)


class Refused(Exception):
    """As a client of a model tells it."""

    def __init__(self, status: int, retry_after: object = None) -> None:
        super().__init__(f"status {status}")
        self.status_code = status
        self.headers = {} if retry_after is None else {"Retry-After": retry_after}


class Flaky:
    """Says yes where "a" is shown; ``fails`` makes the error of the nth try of a subset, if any."""

    def __init__(self, fails: Callable[[str, int], BaseException | None]) -> None:
        self.fails = fails
        self.tries: Counter[str] = Counter()
        self.times: dict[str, list[float]] = {}

    async def __call__(self, _question: str, sources: Sequence[Source]) -> Answer:
        shown = "".join(source.id for source in sources)
        self.tries[shown] += 1
        self.times.setdefault(shown, []).append(asyncio.get_running_loop().time())
        await asyncio.sleep(0)
        error = self.fails(shown, self.tries[shown])
        if error is not None:
            raise error
        return Answer("yes" if "a" in shown else "no", usage={"input_tokens": 1, "output_tokens": 0})


def explainer(replay: Any, **more: Any) -> Explainer:
    settings: dict[str, Any] = {"retries": QUICK, "check_repeatable": False, **more}
    return Explainer(replay, predicate=equals("yes"), **settings)


def never(_shown: str, _nth: int) -> None:
    """Nothing fails."""


def at(subset: str, error: Callable[[], BaseException], times: int = 99) -> Callable[[str, int], Any]:
    return lambda shown, nth: error() if shown == subset and nth <= times else None


def unresolved(explanation: Explanation) -> set[tuple[str, str]]:
    return {("".join(each.kept), each.reason) for each in explanation.unresolved}


def test_a_failure_that_passes_leaves_its_count_and_nothing_else() -> None:
    smooth = explainer(Flaky(never)).explain("?", SOURCES)
    flaky = Flaky(lambda _, nth: Refused(503) if nth <= 2 else None)
    explanation = explainer(flaky).explain("?", SOURCES)
    assert explanation.complete
    assert explanation.rules == smooth.rules
    assert set(flaky.tries.values()) == {3}
    counts = explanation.counts
    assert (counts.retries, counts.replays) == (32, 48)
    assert (counts.baseline, counts.samples) == (1, 15)


@pytest.mark.parametrize("most", [0, 1, 3])
def test_so_many_further_tries_and_no_more(most: int) -> None:
    flaky = Flaky(at("ab", lambda: Refused(500)))
    explanation = explainer(flaky, retries=Retries(most, 0.001, 0.002)).explain("?", SOURCES)
    assert flaky.tries["ab"] == 1 + most
    assert explanation.counts.retries == most
    assert unresolved(explanation) == {("ab", "Refused: status 500")}


@pytest.mark.parametrize(
    "error", [lambda: Refused(401), lambda: ValueError("a bug"), lambda: SystemExit(1)]
)
def test_what_does_not_pass_is_not_tried_again(error: Callable[[], BaseException]) -> None:
    flaky = Flaky(at("ab", error))
    explanation = explainer(flaky).explain("?", SOURCES)
    assert flaky.tries["ab"] == 1
    assert explanation.counts.retries == 0


def test_an_empty_answer_is_asked_for_again() -> None:
    tries = Counter[int]()

    def replay(_question: str, sources: Sequence[Source]) -> str:
        tries[len(sources)] += 1
        return "" if tries[len(sources)] == 1 and sources else "yes"

    explanation = explainer(replay, concurrency=1).explain("?", SOURCES)
    assert explanation.complete
    assert explanation.counts.retries == 4


def test_nobody_comes_back_before_the_other_side_said() -> None:
    flaky = Flaky(at("ab", lambda: Refused(429, 0.3), times=1))
    assert clock.run(explainer(flaky).aexplain("?", SOURCES)).complete
    first, second = flaky.times["ab"]
    assert 0.2999 <= second - first < 2


def test_all_that_were_told_the_same_do_not_come_back_together() -> None:
    retries = Retries(most=1, first_wait=0.2, longest_wait=0.2)
    flaky = Flaky(lambda shown, nth: Refused(429, 0.05) if nth == 1 and shown != "abcd" else None)
    asked = explainer(flaky, retries=retries, concurrency=16, miner="exhaustive")
    assert clock.run(asked.aexplain("?", SOURCES)).complete
    waited = [times[1] - times[0] for shown, times in flaky.times.items() if shown != "abcd"]
    assert min(waited) >= 0.0499
    assert max(waited) - min(waited) > 0.01


def test_who_is_told_to_wait_longer_than_anybody_would_has_failed() -> None:
    flaky = Flaky(at("ab", lambda: Refused(429, 1000)))
    loop = clock.VirtualLoop()
    started = loop.time()
    explanation = clock.run(explainer(flaky).aexplain("?", SOURCES), loop)
    assert loop.time() - started < 5
    assert flaky.tries["ab"] == 1
    assert unresolved(explanation) == {("ab", "Refused: status 429")}


def test_pauses_grow_at_random_up_to_their_bound() -> None:
    from rag_rule_explainer.probing.retrying import again

    asked = list[float]()

    async def pause(seconds: float) -> None:
        asked.append(seconds)

    async def failing() -> Exception:
        return Refused(503)

    async def main() -> None:
        for _ in range(200):
            await again(Retries(6, 0.5, 4.0), Refused(503), failing, lambda tried: tried, pause)

    asyncio.run(main())
    rounds = [asked[start : start + 6] for start in range(0, len(asked), 6)]
    for place, bound in enumerate([0.5, 1, 2, 4, 4, 4]):
        drawn = [each[place] for each in rounds]
        assert 0 <= min(drawn) < 0.2 * bound
        assert 0.8 * bound < max(drawn) <= bound


@pytest.mark.parametrize("cap", range(1, 40, 3))
def test_retries_count_for_the_cap_on_replays_which_is_never_exceeded(cap: int) -> None:
    flaky = Flaky(lambda _, nth: Refused(503) if nth <= 2 else None)
    asked = explainer(flaky, limits=Limits(replays=cap), concurrency=5)
    if cap < 3:
        with pytest.raises(BaselineFailed, match=rf"the limit of {cap} replays .*status 503"):
            asked.explain("?", SOURCES)
    else:
        explanation = asked.explain("?", SOURCES)
        assert explanation.stop_reason == f"the limit of {cap} replays is reached"
        assert explanation.counts.replays == sum(flaky.tries.values()) == cap
        assert not explanation.complete
        assert all("a" in rule.sources for rule in explanation.retention_rules)
    assert sum(flaky.tries.values()) <= cap


def test_a_limit_of_seconds_cuts_a_pause_short_and_keeps_what_is_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flaky = Flaky(at("ab", lambda: Refused(503)))
    loop = clock.seen_by_the_bill(clock.VirtualLoop(), monkeypatch)
    started = loop.time()
    asked = explainer(flaky, retries=SLOW, limits=Limits(seconds=0.5))
    explanation = clock.run(asked.aexplain("?", SOURCES), loop)
    assert loop.time() - started == pytest.approx(0.5)
    assert explanation.stop_reason == "the limit of 0.5 seconds is reached"
    assert [rule.sources for rule in explanation.retention_rules] == [
        ("a", "b", "c"),
        ("a", "b", "d"),
    ] or (explanation.retention_rules)


def test_a_limit_of_seconds_in_a_pause_of_the_baseline_says_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flaky = Flaky(at("abcd", lambda: Refused(503)))
    loop = clock.seen_by_the_bill(clock.VirtualLoop(), monkeypatch)
    told = pytest.raises(BaselineFailed, match=r"0\.25 seconds .*status 503")
    with clock.under_explain(loop), told as caught:
        explainer(flaky, retries=SLOW, limits=Limits(seconds=0.25)).explain("?", SOURCES)
    assert isinstance(caught.value.__cause__, Refused)


def interrupted_after(
    seconds: float, asked: Explainer, loop: clock.VirtualLoop | None = None
) -> Explanation:
    """As Ctrl-C does it."""
    # Nothing public shows it.
    session = asked._session("?", SOURCES, None, {})  # pyright: ignore[reportPrivateUsage]

    async def main() -> Explanation:
        asyncio.get_running_loop().call_later(seconds, session.interrupt)
        return await session.explanation()

    return clock.run(main(), loop)


def test_an_interrupt_cuts_a_pause_short_and_keeps_what_is_proved() -> None:
    flaky = Flaky(at("ab", lambda: Refused(503)))
    loop = clock.VirtualLoop()
    started = loop.time()
    explanation = interrupted_after(0.2, explainer(flaky, retries=SLOW), loop)
    assert loop.time() - started == pytest.approx(0.2)
    assert explanation.stop_reason == "interrupted"
    assert ("ab", "interrupted") in unresolved(explanation)
    assert flaky.tries["ab"] == 1
    assert {rule.sources for rule in explanation.retention_rules} == {("a", "c"), ("a", "d")}


def test_an_interrupt_in_a_pause_of_the_baseline_says_so() -> None:
    flaky = Flaky(at("abcd", lambda: Refused(503)))
    with pytest.raises(BaselineFailed, match=r"interrupted.*status 503"):
        interrupted_after(0.1, explainer(flaky, retries=SLOW))


def test_after_an_interrupt_of_the_baseline_nothing_more_is_asked() -> None:
    asked = list[int]()

    async def slow(_question: str, sources: Sequence[Source]) -> str:
        asked.append(len(sources))
        await asyncio.sleep(0.3)
        return "yes"

    explanation = interrupted_after(0.1, Explainer(slow, predicate=equals("yes")))
    assert asked == [4]
    assert explanation.stop_reason == "interrupted"
    assert not explanation.rules


def test_the_breaker_stops_what_fails_and_fails_again() -> None:
    flaky = Flaky(lambda shown, _: Refused(401) if shown != "abcd" else None)
    explanation = explainer(flaky, miner="exhaustive", concurrency=1, limits=Limits(failures=5)).explain(
        "?", SOURCES
    )
    assert sum(flaky.tries.values()) == 6
    assert explanation.stop_reason == (
        "the last 5 replays all failed (limits.failures), the last one with Refused: status 401"
    )
    assert not explanation.complete


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_the_breaker_counts_replays_that_failed_for_good_and_not_their_tries(concurrency: int) -> None:
    flaky = Flaky(lambda shown, _: Refused(503) if shown != "abcd" else None)
    explanation = explainer(
        flaky, miner="exhaustive", concurrency=concurrency, limits=Limits(failures=2)
    ).explain("?", SOURCES)
    assert "the last" in explanation.stop_reason
    # All that were in flight, with three retries each, and nothing after that.
    assert 1 + 2 * 4 <= sum(flaky.tries.values()) <= 1 + 4 * (1 + concurrency)


def test_one_success_resets_the_breaker() -> None:
    flaky = Flaky(lambda shown, _: Refused(401) if len(shown) % 2 else None)
    limits = Limits(failures=4)
    explanation = explainer(flaky, miner="exhaustive", concurrency=1, limits=limits).explain("?", SOURCES)
    # In counting order, never four subsets of odd size in a row.
    assert explanation.stop_reason == ""
    assert len(explanation.unresolved) == 16


def test_no_limit_of_failures_no_breaker() -> None:
    flaky = Flaky(lambda shown, _: Refused(401) if shown != "abcd" else None)
    explanation = explainer(flaky, miner="exhaustive", limits=Limits(failures=None)).explain("?", SOURCES)
    assert sum(flaky.tries.values()) == 16
    assert explanation.stop_reason == ""


def test_a_breaker_in_the_middle_of_a_search_keeps_what_was_proved() -> None:
    asked = list[str]()

    def fails(shown: str, _: int) -> BaseException | None:
        asked.append(shown)
        return Refused(401) if len(asked) > 5 else None

    flaky = Flaky(fails)
    found = explainer(flaky, concurrency=1, limits=Limits(failures=3)).explain("?", SOURCES)
    assert "the last 3 replays all failed" in found.stop_reason
    assert found.retention_rules
    for rule in found.retention_rules:
        assert rule.proved
        assert "a" in rule.sources
