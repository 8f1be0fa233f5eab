"""What explaining would take: three courses, held against what searches really take."""

import json
from collections.abc import Callable
from dataclasses import asdict
from random import Random
from typing import Any

import pytest

from rag_rule_explainer import (
    Assumptions,
    Estimate,
    Explainer,
    InvalidInput,
    JudgeRequest,
    Limits,
    Noise,
    Price,
    Source,
    Store,
    consistent_with,
    contains,
    judged,
    same_answer,
)
from rag_rule_explainer.predicates import Predicate
from rag_rule_explainer.session.estimate.assumptions import approximate_tokens
from rag_rule_explainer.settings import Rules
from rag_rule_explainer.testing import OfflineJudge, ScriptedReplay

WORDS = Assumptions(answer_tokens=10, seconds_per_replay=1.0, count_tokens=lambda text: len(text.split()))


def sources(size: int) -> list[Source]:
    return [Source(f"D{n}", "four words of text") for n in range(1, size + 1)]


def shown_words(replay: ScriptedReplay) -> int:
    """What was sent in all: the question's word, and four for each source."""
    return sum(1 + 4 * len(ids) for ids in replay.calls)


def real(replay: ScriptedReplay, rules: Rules, size: int) -> int:
    explanation = Explainer(replay, rules=rules, miner="exact").explain("?", sources(size))
    return explanation.counts.replays


@pytest.mark.parametrize("rules", ["retention", "both"])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_the_best_course_is_taken_where_every_source_is_necessary(rules: Rules, size: int) -> None:
    everything = {f"D{n}" for n in range(1, size + 1)}

    def all_or_none(ids: frozenset[str]) -> str:
        # Without any source it says the same, so that no omission rule is begun.
        return "yes" if ids in (frozenset(everything), frozenset()) else f"no {sorted(ids)}"

    replay = ScriptedReplay(all_or_none)
    estimate = Explainer(rules=rules, miner="exact").estimate("?", sources(size), assuming=WORDS)
    if size > 1:
        assert estimate.best.replays == real(replay, rules, size)
        assert estimate.best.input_tokens == shown_words(replay)
    assert estimate.best.replays <= estimate.typical.replays <= estimate.worst.replays


@pytest.mark.parametrize("rules", ["retention", "omission", "both"])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_typical_course_is_taken_where_two_decide(rules: Rules, size: int) -> None:
    replay = ScriptedReplay(lambda ids: "yes" if {"D1", "D2"} <= ids else f"no {sorted(ids)}")
    estimate = Explainer(rules=rules, miner="exact").estimate("?", sources(size), assuming=WORDS)
    assert abs(estimate.typical.replays - real(replay, rules, size)) <= 1
    assert abs(estimate.typical.input_tokens - shown_words(replay)) <= 1 + 4 * size


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_the_worst_course_is_taken_where_nothing_matters(size: int) -> None:
    replay = ScriptedReplay(lambda _: "yes")
    estimate = Explainer(rules="retention", miner="exact").estimate("?", sources(size), assuming=WORDS)
    assert estimate.worst.replays == real(replay, "retention", size)
    assert estimate.worst.input_tokens == shown_words(replay)
    assert estimate.worst.output_tokens == 10 * estimate.worst.replays


@pytest.mark.parametrize("needed", [[], [{1}], [{1, 2}], [{1, 2, 3}, {4}], [{n} for n in range(1, 11)]])
@pytest.mark.parametrize("rules", ["retention", "both"])
def test_what_ten_sources_take_lies_between_best_and_worst(rules: Rules, needed: list[set[int]]) -> None:
    wanted = [{f"D{n}" for n in each} for each in needed] or [set[str]()]
    replay = ScriptedReplay(lambda ids: "yes" if any(each <= ids for each in wanted) else "no")
    explainer = Explainer(replay, contains("yes"), rules=rules)
    estimate = explainer.estimate("?", sources(10))
    taken = explainer.explain("?", sources(10)).counts.replays
    assert estimate.best.replays <= taken <= estimate.worst.replays


def answer_of(wanted: list[set[str]], blocked: set[str], size: int) -> Callable[[frozenset[str]], str]:
    """Yes with any of the wanted, unless the blocked ones are there and others are not."""

    def answer(ids: frozenset[str]) -> str:
        undone = blocked <= ids and len(ids) < size
        return "yes" if any(each <= ids for each in wanted) and not undone else "no"

    return answer


@pytest.mark.parametrize("rules", ["retention", "omission", "both"])
def test_what_a_quick_search_takes_lies_between_best_and_worst(rules: Rules) -> None:
    for seed in range(12):
        draw = Random(seed)
        size = draw.choice([6, 7, 8, 12, 30])
        names = [f"D{n}" for n in range(1, size + 1)]
        wanted = [set(draw.sample(names, draw.randint(0, 3))) for _ in range(draw.randint(1, 3))]
        blocked = set(draw.sample(names, 2)) if draw.random() < 0.4 else {""}
        explainer = Explainer(
            ScriptedReplay(answer_of(wanted, blocked, size)),
            contains("yes"),
            rules=rules,
            miner="quick",
            seed=seed,
        )
        estimate = explainer.estimate("?", sources(size))
        taken = explainer.explain("?", sources(size)).counts.replays
        assert estimate.best.replays <= taken <= estimate.worst.replays <= 120
        assert estimate.best.replays <= estimate.typical.replays


def test_seconds_follow_from_what_may_be_in_flight() -> None:
    def seconds(concurrency: int) -> float:
        explainer = Explainer(miner="exhaustive", concurrency=concurrency, check_repeatable=False)
        return explainer.estimate("?", sources(6), assuming=WORDS).worst.seconds

    assert seconds(1) == 64
    assert seconds(8) == 1 + 8
    assert seconds(1000) <= 8


def test_a_cap_bounds_every_course() -> None:
    explainer = Explainer(miner="exact", limits=Limits(replays=20))
    estimate = explainer.estimate("?", sources(8), assuming=WORDS)
    assert estimate.worst.replays == 20
    assert "stops after 20 replays" in str(estimate)


@pytest.mark.parametrize("cap", [1, 2, 3])
def test_a_cap_on_almost_nothing_bounds_it_as_well(cap: int) -> None:
    estimate = Explainer(limits=Limits(replays=cap)).estimate("?", sources(2), assuming=WORDS)
    replay = ScriptedReplay(lambda _: "yes")
    Explainer(replay, limits=Limits(replays=cap)).explain("?", sources(2))
    assert estimate.worst.replays == estimate.best.replays == len(replay.calls) == cap
    assert estimate.worst.input_tokens >= shown_words(replay)


def test_that_answers_are_not_reused_is_said() -> None:
    estimate = Explainer(reuse_answers=False).estimate("?", sources(2))
    assert "up to twice as many" in str(estimate)
    assert "twice" not in str(Explainer().estimate("?", sources(2)))


def test_money_is_told_where_there_is_a_price() -> None:
    def cost(**prices: Price) -> float | None:
        explainer = Explainer(prices=prices or None)
        assuming = Assumptions(model="gpt-x-2026", answer_tokens=1_000_000, count_tokens=lambda _: 0)
        return explainer.estimate("?", sources(1), assuming=assuming).worst.cost

    assert cost() is None
    assert cost(**{"gpt-x": Price(1.0, 2.0)}) == 2.0 * 3
    assert cost(**{"gpt-x": Price(1.0, 2.0), "gpt-x-2026": Price(1.0, 5.0)}) == 5.0 * 3
    assert cost(other=Price(1.0, 2.0), another=Price(1.0, 2.0)) is None
    assert "no prices" in str(Explainer().estimate("?", sources(2)))


def test_the_prompt_is_counted_where_it_is_known() -> None:
    bare = Explainer().estimate("?", sources(2), assuming=WORDS)
    known = Explainer().estimate("?", sources(2), prompt="word " * 100, assuming=WORDS)
    assert (bare.prompt_tokens, known.prompt_tokens) == (9, 100)


def test_nothing_is_asked() -> None:
    replay = ScriptedReplay(lambda _: "yes")
    estimate = Explainer(replay).estimate("?", sources(3), pinned=["D2"])
    assert isinstance(estimate, Estimate)
    assert estimate.sources == 2
    assert replay.calls == []


def test_tokens_are_guessed_within_reason() -> None:
    assert approximate_tokens("") == 0
    assert approximate_tokens("abcd" * 10) == 10
    assert approximate_tokens("東京都") == 3


@pytest.mark.parametrize(
    "bad",
    [
        {"answer_tokens": -1},
        {"answer_tokens": 1.5},
        {"answer_tokens": "5"},
        {"seconds_per_replay": float("nan")},
        {"seconds_per_replay": None},
    ],
)
def test_what_cannot_be_assumed(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        Assumptions(**bad)


def test_what_cannot_be_estimated() -> None:
    wrong: Any = {"answer_tokens": 5}
    with pytest.raises(InvalidInput, match="assuming is"):
        Explainer().estimate("?", ["a"], assuming=wrong)
    with pytest.raises(InvalidInput, match="the question is int"):
        Explainer().estimate(wrong["answer_tokens"], ["a"])


def silent(_request: JudgeRequest) -> dict[str, bool]:
    return {}


class TestJudge:
    """What it is asked lies between what is foretold, and nobody is asked for that."""

    @staticmethod
    def estimate(predicate: Predicate, size: int = 3, **settings: Any) -> Estimate:
        settings = {"rules": "retention", "miner": "exact", **settings}
        return Explainer(predicate=predicate, **settings).estimate("?", sources(size), assuming=WORDS)

    @pytest.mark.parametrize("samples", [1, 3])
    @pytest.mark.parametrize("noise", [Noise(), Noise(samples=5), Noise(samples=4, vote="every")])
    @pytest.mark.parametrize("rules", ["retention", "both"])
    def test_what_it_really_is_asked_lies_between(self, samples: int, noise: Noise, rules: Rules) -> None:
        def alike(_ids: frozenset[str]) -> str:
            return "yes"

        def different(ids: frozenset[str]) -> str:
            told.append(1)
            return f"{'yes' if len(ids) > 1 else 'no'}, number {len(told)}"

        for answers in (alike, different):
            told: list[int] = []
            judge = OfflineJudge(["yes"])
            explainer = Explainer(
                ScriptedReplay(answers),
                predicate=judged("says yes", judge, judge_samples=samples),
                noise=noise,
                rules=rules,
                miner="exhaustive",
            )
            estimate = explainer.estimate("?", sources(3), assuming=WORDS).judge
            assert estimate is not None
            assert judge.requests == []
            explanation = explainer.explain("?", sources(3))
            assert estimate.fewest <= len(judge.answers) <= estimate.most
            assert len(judge.requests) <= estimate.most
            if answers is alike:
                assert len(judge.answers) == estimate.fewest
            if noise.samples == samples == 1 and answers is different:
                # The repeat check is in no subset's stead.
                assert len(judge.answers) == estimate.most == explanation.counts.replays
            spent = explanation.spent.judge
            assert spent["input_tokens"] <= estimate.input_tokens + 10 * estimate.most
            assert spent["output_tokens"] <= estimate.output_tokens

    def test_who_may_not_be_needed_may_be_asked_nothing(self) -> None:
        judge = OfflineJudge(["yes"])
        said = judged("says yes", judge)
        needed = {
            same_answer(judge=judge): (0, 9),
            consistent_with("yes", judge=judge): (0, 9),
            contains("a") & said: (0, 9),
            said & contains("a"): (1, 9),
            ~said: (1, 9),
            said & judged("is kind", judge): (1, 18),
            said | ~said: (1, 9),
        }
        for predicate, bounds in needed.items():
            estimate = self.estimate(predicate).judge
            assert estimate is not None
            assert (estimate.fewest, estimate.most) == bounds, predicate
        assert judge.requests == []

    def test_a_judge_for_one_kind_is_not_asked_about_the_other(self) -> None:
        explainer = Explainer(
            predicate=contains("yes"), omission_predicate=judged("says yes", OfflineJudge())
        )
        assert explainer.estimate("?", sources(2)).judge is not None
        retention = Explainer(
            predicate=contains("yes"),
            omission_predicate=judged("says yes", OfflineJudge()),
            rules="retention",
        )
        assert retention.estimate("?", sources(2)).judge is None

    def test_a_cap_and_a_store_bound_it(self) -> None:
        said = judged("says yes", OfflineJudge(["yes"]))
        capped = self.estimate(said, limits=Limits(replays=4)).judge
        stored = self.estimate(said, store=Store("unused.db", "n")).judge
        nameless = self.estimate(judged("x", silent), store=Store("unused.db", "n")).judge
        assert capped is not None
        assert stored is not None
        assert nameless is not None
        assert (capped.most, stored.fewest, nameless.fewest) == (4, 0, 1)

    def test_what_it_costs_is_said_or_that_nobody_knows(self) -> None:
        judge = OfflineJudge(["yes"])
        said = judged("says yes", judge)
        without = str(self.estimate(said))
        assert (
            "(the judge: at most one judgement for each distinct answer, so between 1 and 9, " in without
        )
        assert "cost not known, as there is no price for the offline judge of yes" in without
        assert "no judge" not in without
        other = self.estimate(said, prices={"m": Price(1.0, 1.0), "n": Price(1.0, 1.0)})
        assert "cost not known, as there is no price for the offline judge of yes" in str(other)
        priced = self.estimate(said, prices={judge.judge_name: Price(10.0, 0.0), "m": Price(0.0, 0.0)})
        assert priced.judge is not None
        assert priced.judge.cost == priced.judge.input_tokens * 10 / 1e6
        assert f"cost at most {priced.judge.cost:.4f}, not in the table" in str(priced)
        nameless = str(self.estimate(judged("says yes", silent, judge_samples=3)))
        assert "at most 3 opinions for each distinct answer, so between 2 and 27, " in nameless
        assert "there is no price for a judge without a name" in nameless

    def test_a_reference_goes_with_every_request(self) -> None:
        judge = OfflineJudge(["yes"])
        bare = self.estimate(judged("says yes", judge)).judge
        long = self.estimate(judged("says yes", judge, "word " * 100)).judge
        assert bare is not None
        assert long is not None
        assert long.input_tokens - bare.input_tokens == 100 * 9


@pytest.mark.parametrize("size", [1015, 1100, 5000])
def test_more_sources_than_a_float_can_count_the_subsets_of(size: int) -> None:
    prices = {"*": Price(1, 1)}
    judge = judged("is right", OfflineJudge(["x"]))
    uncapped = Explainer(predicate=judge, miner="sampled", prices=prices).estimate("?", sources(size))
    assert uncapped.worst.replays == (1 << size) + 1
    assert f"about 2^{size}" in str(uncapped)
    assert max(map(len, str(uncapped).splitlines())) < 300
    json.dumps(asdict(uncapped), allow_nan=False)
    capped = Explainer(predicate=judge, prices=prices).estimate("?", sources(size))
    assert capped.worst.replays == 500
    assert capped.typical.replays <= 500
