"""Rules where answers vary: what votes make of them, what they cost, and what is said of them."""

import asyncio
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, combinations, cycle, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_rule_explainer import (
    AnswerNotRepeatable,
    Explainer,
    Explanation,
    InvalidInput,
    Limiter,
    Limits,
    Noise,
    Retries,
    Source,
    Store,
    TooManySources,
    Verdict,
    condition,
    contains,
    diff,
    same_answer,
)
from rag_rule_explainer.probing.answer_cache import AnswerCache
from rag_rule_explainer.probing.budget import Budget
from rag_rule_explainer.probing.judging import judgings
from rag_rule_explainer.probing.limits import LimitReached
from rag_rule_explainer.probing.prober import Prober
from rag_rule_explainer.probing.replayer import Replayer
from rag_rule_explainer.probing.sampler import Sampler
from rag_rule_explainer.probing.voting import Voting
from rag_rule_explainer.report import as_text
from rag_rule_explainer.sources import Arrangement
from rag_rule_explainer.verdicts import Answer
from tests.drawing import examples

Holds = Callable[[Collection[str]], bool]
BORDER = Noise(samples=9)


def pair(ids: Collection[str]) -> bool:
    return {"D2", "D5"} <= set(ids)


class Noisy:
    """Says yes where the condition holds, and the opposite now and then."""

    def __init__(self, holds: Holds, noise: float = 0.0, seed: int = 0) -> None:
        self.holds, self.noise = holds, noise
        self.asked: list[frozenset[str]] = []
        self._draw = random.Random(seed)

    async def __call__(self, _question: str, sources: Sequence[Source]) -> str:
        ids = frozenset(source.id for source in sources)
        self.asked.append(ids)
        truth = self.holds(ids)
        return "yes" if truth != (self._draw.random() < self.noise) else "no"


def explained(replay: Any, noise: Noise, size: int = 6, **more: Any) -> Explanation:
    fields: dict[str, Any] = {
        "predicate": contains("yes"),
        "miner": "exact",
        "rules": "retention",
        "concurrency": 1,
        **more,
    }
    sources = [Source(f"D{n}", f"text {n}") for n in range(1, size + 1)]
    return Explainer(replay, noise=noise, **fields).explain("why?", sources, "yes")


def found(explanation: Explanation) -> set[tuple[str, ...]]:
    return {rule.sources for rule in explanation.retention_rules}


class TestBorder:
    def test_the_rule_survives_what_kills_it_otherwise(self) -> None:
        alone, voted = 0, 0
        for seed in range(40):
            alone += found(explained(Noisy(pair, 0.05, seed), Noise())) == {("D2", "D5")}
            voted += found(explained(Noisy(pair, 0.05, seed), BORDER)) == {("D2", "D5")}
        assert alone < 20
        assert voted == 40

    def test_no_rule_is_called_proved(self) -> None:
        explanation = explained(Noisy(pair), BORDER)
        (rule,) = explanation.retention_rules
        assert rule.claim == "voted"
        assert not rule.proved
        assert rule.evidence == "voted: majority of 9 at the border, other subsets asked once"
        assert explanation.complete
        assert "complete: no other rule won the vote" in as_text(explanation)

    def test_what_is_sure_costs_a_vote_at_the_border_alone(self) -> None:
        replay = Noisy(pair)
        explanation = explained(replay, BORDER)
        once = {frozenset(each) for each in replay.asked}
        polled = [ids for ids in once if replay.asked.count(ids) > 1]
        # The two that break it, the rule's own, and all sources for the answer: five agree each.
        assert sorted(replay.asked.count(ids) for ids in polled) == [5, 5, 5]
        assert len(once) == explanation.counts.probes == 16 + 2
        assert len(replay.asked) == explanation.counts.replays == 18 + 3 * 4

    def test_it_costs_no_more_where_answers_are_not_kept(self) -> None:
        kept = explained(Noisy(pair), BORDER, rules="both")
        dropped = explained(Noisy(pair), BORDER, rules="both", reuse_answers=False)
        assert dropped.counts.replays == kept.counts.replays
        assert found(dropped) == found(kept)
        assert not any(probe.answers for probe in dropped.probes)

    def test_votes_are_told_by_arrangement_and_kind(self) -> None:
        explanation = explained(Noisy(pair), BORDER, rules="both")
        voted = {frozenset(probe.kept): probe for probe in explanation.probes if probe.votes}
        own = voted[frozenset({"D2", "D5"})]
        assert len(own.answers) == 5
        for kind, votes in own.votes.items():
            holds = own.verdicts[kind].verdict is Verdict.HOLDS
            assert (votes.holds, votes.breaks) == ((5, 0) if holds else (0, 5))

    def test_a_rule_that_falls_gives_way_to_those_above_it(self) -> None:
        # D2 alone says yes once, the first time it is asked.
        told: list[frozenset[str]] = []

        async def flattering(_question: str, sources: Sequence[Source]) -> str:
            ids = frozenset(source.id for source in sources)
            told.append(ids)
            flattery = "D2" in ids and "D5" not in ids and told.count(ids) == 1
            return "yes" if pair(ids) or flattery else "no"

        explanation = explained(flattering, BORDER, size=4 + 1)
        assert found(explanation) <= {("D2", "D5")} | {
            ("D2", *rest) for size in (1, 2, 3) for rest in combinations(("D1", "D3", "D4"), size)
        }
        assert ("D2",) not in found(explanation)

    def test_recheck_finds_what_was_asked_only_once(self) -> None:
        # One subset above the rule breaks it, and says so only from the second time on.
        lone = frozenset({"D1", "D2", "D5", "D6"})
        told: list[frozenset[str]] = []

        async def lying(_question: str, sources: Sequence[Source]) -> str:
            ids = frozenset(source.id for source in sources)
            told.append(ids)
            return "yes" if pair(ids) and (ids != lone or told.count(ids) == 1) else "no"

        assert found(explained(lying, BORDER)) == {("D2", "D5")}
        told.clear()
        rechecked = explained(lying, Noise(samples=9, recheck=16))
        assert found(rechecked) == {("D2", "D3", "D5"), ("D2", "D4", "D5")}
        assert all("once more by vote" in rule.evidence for rule in rechecked.retention_rules)

    @pytest.mark.parametrize("replays", range(1, 30))
    def test_a_cap_leaves_no_rule_that_looks_voted(self, replays: int) -> None:
        explanation = explained(Noisy(pair), BORDER, limits=Limits(replays=replays))
        assert explanation.counts.replays <= replays
        settled = replays >= 30
        assert explanation.complete == settled
        assert "is true" not in as_text(explanation)
        for rule in explanation.retention_rules:
            own = [probe for probe in explanation.probes if probe.kept == rule.sources]
            assert rule.claim == ("voted" if any(probe.votes for probe in own) else "unverified")
        assert explanation.complete or explanation.why_incomplete

    def test_a_subset_that_stays_undecided_is_unknown_and_carries_no_rule(self) -> None:
        torn = frozenset({"D2", "D5"})
        told: list[frozenset[str]] = []

        async def wavering(_question: str, sources: Sequence[Source]) -> str:
            ids = frozenset(source.id for source in sources)
            told.append(ids)
            return "yes" if pair(ids) and (ids != torn or told.count(ids) % 2) else "no"

        noise = Noise(samples=12, vote="sequential")
        explanation = explained(wavering, noise)
        assert not explanation.complete
        assert "undecided after 10 samples: 5 for it, 5 against" in explanation.unresolved[0].reason
        assert ("D2", "D5") not in found(explanation)


class TestEvery:
    def test_every_subset_is_put_to_the_vote(self) -> None:
        replay = Noisy(pair)
        explanation = explained(replay, Noise(samples=5, vote="every"))
        (rule,) = explanation.retention_rules
        assert rule.evidence == "voted: majority of 5 on every subset"
        assert {replay.asked.count(ids) for ids in replay.asked} == {3}
        assert len(replay.asked) == 18 * 3

    @pytest.mark.spread(fast=3)
    @pytest.mark.parametrize("samples", [2, 4, 6])
    @pytest.mark.parametrize("vote", ["every", "border"])
    @pytest.mark.parametrize("reuse", [True, False])
    def test_a_predicate_and_its_negation_never_both_hold(
        self, samples: int, vote: Any, reuse: bool
    ) -> None:
        for seed in range(10):
            replay = Noisy(pair, 0.5, seed)
            noise = Noise(samples=samples, vote=vote)
            explanation = explained(
                replay, noise, size=4, rules="both", miner="exhaustive", reuse_answers=reuse
            )
            for probe in explanation.probes:
                assert len({each.verdict for each in probe.verdicts.values()}) == 2

    def test_a_judge_that_wavers_decides_both_kinds_alike(self) -> None:
        draw = random.Random(3)
        wavering = condition(lambda _case: draw.random() < 0.5)
        noise = Noise(samples=4, vote="every")
        explanation = explained(
            Noisy(pair), noise, size=4, rules="both", miner="exhaustive", predicate=wavering
        )
        for probe in explanation.probes:
            assert len({each.verdict for each in probe.verdicts.values()}) == 2


class TestBaseline:
    def test_it_is_what_most_samples_say(self) -> None:
        said = iter(["maybe", *["yes"] * 100])

        async def replay(_question: str, sources: Sequence[Source]) -> str:
            return next(said)

        explainer = Explainer(replay, noise=BORDER, miner="exact", concurrency=1)
        explanation = explainer.explain("why?", ["one", "two"])
        assert explanation.baseline.text == "yes"
        assert "'maybe'" in explanation.notes[0]
        assert [rule.sources for rule in explanation.retention_rules] == [()]

    @pytest.mark.parametrize(("first", "most", "warns"), [("no", "yes", False), ("no", "no", True)])
    def test_whether_a_logged_one_still_comes_is_put_to_the_vote(
        self, first: str, most: str, warns: bool
    ) -> None:
        asked: list[int] = []

        async def replay(_question: str, sources: Sequence[Source]) -> str:
            asked.append(len(sources))
            return first if len(asked) == 1 else most

        explanation = explained(replay, BORDER, 2)
        assert asked[0] == 2
        assert [each.startswith("the logged answer is not") for each in explanation.warnings] == [
            True for _ in range(warns)
        ]
        # No sample is drawn twice: the one that was compared is the first of the vote.
        (votes,) = (probe.votes for probe in explanation.probes if len(probe.kept) == 2)
        cast = next(iter(votes.values()))
        assert cast.holds + cast.breaks == asked.count(2)

    def test_without_votes_such_an_answer_is_not_repeatable(self) -> None:
        said = iter(["maybe", *["yes"] * 100])

        async def replay(_question: str, sources: Sequence[Source]) -> str:
            return next(said)

        with pytest.raises(AnswerNotRepeatable):
            Explainer(replay, predicate=same_answer(), miner="exact").explain("why?", ["one", "two"])


class TestStore:
    def test_more_samples_pay_only_for_the_new_ones(self, tmp_path: Path) -> None:
        store = Store(f"sqlite:///{tmp_path}/answers.db", "noise")
        three, nine = Noise(samples=3, vote="every"), Noise(samples=9, vote="every")
        first = explained(Noisy(pair), three, size=4, store=store)
        replay = Noisy(pair)
        second = explained(replay, nine, size=4, store=store)
        assert found(first) == found(second)
        assert second.counts.stored == first.counts.replays
        assert len(replay.asked) == second.counts.replays == second.counts.probes * (5 - 2)


class TestConfidence:
    def test_a_rule_says_on_what_share_it_holds_and_where_it_breaks(self) -> None:
        lone = {"D1", "D2", "D5", "D6"}
        explanation = explained(
            Noisy(lambda ids: pair(ids) and set(ids) != lone), Noise(min_confidence=0.9)
        )
        (rule,) = explanation.retention_rules
        assert rule.sources == ("D2", "D5")
        assert rule.claim == "confident"
        assert (rule.observed, rule.broken, rule.applicable) == (15, 1, 16)
        assert rule.breaking == (("D1", "D2", "D5", "D6"),)
        assert rule.evidence == "confidence 93.7 %: held on 15 of 16 subsets"
        assert explanation.counts.probes == 64
        assert "min_confidence=0.9" in explanation.miner.reason

    def test_one_that_holds_on_all_is_proved(self) -> None:
        (rule,) = explained(Noisy(pair), Noise(min_confidence=0.9)).retention_rules
        assert (rule.claim, rule.sources, rule.breaking) == ("proved", ("D2", "D5"), ())

    def test_with_votes_it_says_so(self) -> None:
        noise = Noise(samples=3, min_confidence=0.9)
        (rule,) = explained(Noisy(pair), noise).retention_rules
        assert rule.evidence == "voted: majority of 3 on every subset"
        lone = {"D1", "D2", "D5", "D6"}
        (rule,) = explained(Noisy(lambda ids: pair(ids) and set(ids) != lone), noise).retention_rules
        assert rule.evidence == (
            "confidence 93.7 %: held on 15 of 16 subsets, majority of 3 on every subset"
        )

    def test_all_rules_say_which_of_them_are_minimal(self) -> None:
        explanation = explained(
            Noisy(lambda ids: "D1" in ids), Noise(min_confidence=0.9), 3, minimal=False
        )
        told = {rule.sources: rule.minimal for rule in explanation.retention_rules}
        assert told.pop(("D1",)) is True
        assert told == dict.fromkeys([("D1", "D2"), ("D1", "D3"), ("D1", "D2", "D3")], False)

    def test_a_rule_is_not_minimal_above_one_with_two_sources_fewer(self) -> None:
        breaking = [{"D1", "D2"}, {"D1", "D3"}]
        explanation = explained(
            Noisy(lambda ids: "D1" in ids and set(ids) not in breaking),
            Noise(min_confidence=0.5),
            3,
            minimal=False,
        )
        told = {rule.sources: rule.minimal for rule in explanation.retention_rules}
        assert told[("D1",)] is True
        assert told[("D1", "D2", "D3")] is False

    def test_too_many_sources_are_refused(self) -> None:
        with pytest.raises(TooManySources, match="at most 12 sources"):
            explained(Noisy(pair), Noise(min_confidence=0.9), size=13)

    @settings(deadline=None, max_examples=examples(60))
    @given(st.integers(0, 2**16 - 1), st.sampled_from([0.5, 0.7, 0.9]))
    def test_its_rules_are_those_of_the_definition(self, function: int, share: float) -> None:
        names = ("D1", "D2", "D3", "D4")
        subsets = [frozenset(c) for size in range(5) for c in combinations(names, size)]
        holding = {ids for place, ids in enumerate(subsets) if function >> place & 1}

        def confidence(ids: frozenset[str]) -> float:
            above = [each for each in subsets if each >= ids]
            return sum(each in holding for each in above) / len(above)

        confident = [ids for ids in subsets if confidence(ids) >= share]
        smallest = {ids for ids in confident if not any(other < ids for other in confident)}
        explanation = explained(
            Noisy(lambda ids: frozenset(ids) in holding), Noise(min_confidence=share), size=4
        )
        assert {frozenset(ids) for ids in found(explanation)} == smallest
        for rule in explanation.retention_rules:
            assert rule.confidence == confidence(frozenset(rule.sources))
            assert rule.proved == (rule.confidence == 1)


def test_noise_is_a_setting() -> None:
    assert Explainer(Noisy(pair), noise=9).settings.noise == Noise(9)
    with pytest.raises(InvalidInput, match=r"Noise\(samples"):
        Explainer(Noisy(pair), noise="9")  # type: ignore[arg-type] -- a mistake, on purpose


def test_an_explanation_with_votes_survives_json() -> None:
    explanation = explained(Noisy(pair, 0.2, 5), BORDER, rules="both")
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


@pytest.mark.parametrize("rules", ["retention", "omission", "both"])
@pytest.mark.parametrize("noise", [BORDER, Noise(samples=5, vote="every"), Noise(min_confidence=0.9)])
def test_an_estimate_knows_of_votes(noise: Noise, rules: Any) -> None:
    """What a run with two sources that decide really takes lies between the best and the worst."""
    names = [Source(f"D{n}", f"text {n}") for n in range(1, 7)]
    explainer = Explainer(
        Noisy(pair), predicate=contains("yes"), noise=noise, rules=rules, miner="exact", concurrency=1
    )
    estimate = explainer.estimate("why?", names)
    real = explainer.explain("why?", names).counts.replays
    assert estimate.best.replays <= real <= estimate.worst.replays
    if rules == "retention" and noise is BORDER:
        assert abs(estimate.typical.replays - real) <= 5


class TestDiff:
    def test_another_minimum_confidence_is_another_question(self) -> None:
        exact = explained(Noisy(pair), Noise())
        with pytest.raises(InvalidInput, match="minimum confidences differ"):
            diff(exact, explained(Noisy(pair), Noise(min_confidence=0.9)))

    def test_a_subset_that_breaks_does_not_deny_what_puts_up_with_it(self) -> None:
        share, lone = Noise(min_confidence=0.9), {"D1", "D2", "D5", "D6"}
        before = explained(Noisy(pair), share)
        after = explained(Noisy(lambda ids: pair(ids) and set(ids) != lone), share)
        (change,) = diff(before, after).changes
        assert change.what == "weakened"
        assert [rule.claim for rule in (*change.before, *change.after)] == ["proved", "confident"]
        assert diff(before, before).clean

    def test_what_only_votes_tell_is_weaker_than_a_proof(self) -> None:
        (change,) = diff(explained(Noisy(pair), Noise()), explained(Noisy(pair), BORDER)).changes
        assert change.what == "weakened"


class TestCorners:
    def test_samples_are_shared_by_conditions_that_have_nothing_in_common(self) -> None:
        replay = Noisy(pair)
        explanation = explained(
            replay,
            Noise(samples=5, vote="every"),
            size=4,
            rules="both",
            omission_predicate=contains("no"),
        )
        assert {replay.asked.count(ids) for ids in replay.asked} == {3}
        assert len(replay.asked) == explanation.counts.replays

    def test_what_is_answered_without_the_application_needs_no_votes(self) -> None:
        for noise in (BORDER, Noise(samples=3, vote="every")):
            explanation = explained(Noisy(lambda _: True), noise, size=3, answer_without_sources="yes")
            (rule,) = explanation.retention_rules
            assert (rule.sources, rule.claim) == ((), "voted")
            assert explanation.complete

    @pytest.mark.waits
    async def test_one_answer_that_comes_after_the_vote_changes_nothing(self) -> None:
        voted, told = asyncio.Event(), 0

        async def late(_question: str, _sources: Sequence[Source]) -> str:
            nonlocal told
            told += 1
            if told > 1:
                return "no"
            await voted.wait()
            return "yes"

        budget = Budget(Limits())
        replayer = Replayer("?", late, Limiter(9), budget, Retries(0))
        prober = Prober(Sampler(replayer, AnswerCache(budget, remember=False)), Answer(""))
        (judging,) = judgings([contains("yes")])
        voting, arrangement = Voting(prober, BORDER), Arrangement((Source("D1", "text"),))
        alone = asyncio.create_task(voting.probe(arrangement, judging))
        await asyncio.sleep(0)
        ballot = (await voting.poll(arrangement, judging)).ballot
        voted.set()
        probe = await alone
        assert probe.ballot == ballot is not None
        assert probe.judgement.verdict is Verdict.BREAKS

    async def test_nothing_more_is_sampled_after_a_stop(self) -> None:
        replay = Noisy(pair)
        budget = Budget(Limits())
        replayer = Replayer("?", replay, Limiter(1), budget, Retries(0))
        prober = Prober(Sampler(replayer, AnswerCache(budget, remember=True)), Answer(""))
        replayer.stopper.stop("interrupted")
        (judging,) = judgings([contains("yes")])
        arrangement = Arrangement((Source("D1", "text"),))
        with pytest.raises(LimitReached, match="interrupted"):
            await Voting(prober, BORDER).poll(arrangement, judging)
        assert replay.asked == []

    async def test_an_interrupt_among_the_votes_ends_what_they_would_reopen(self) -> None:
        told: list[frozenset[str]] = []
        last: list[int] = []

        async def flattering(_question: str, sources: Sequence[Source]) -> str:
            ids = frozenset(source.id for source in sources)
            told.append(ids)
            if told.count(frozenset({"D2"})) == 5 and not last:
                last.append(len(told))
                inquiry.interrupt()
            flattery = "D2" in ids and told.count(ids) == 1
            return "yes" if pair(ids) or flattery else "no"

        explainer = Explainer(
            flattering,
            predicate=contains("yes"),
            noise=BORDER,
            rules="retention",
            miner="exact",
            concurrency=1,
        )
        sources = [Source(f"D{n}", f"text {n}") for n in range(1, 6)]
        # Nothing public shows it.
        inquiry = explainer._session("?", sources, "yes", {})  # pyright: ignore[reportPrivateUsage]
        explanation = await inquiry.explanation()
        assert len(told) == last[0]
        assert explanation.stop_reason == "interrupted"
        assert all(pair(rule.sources) or rule.claim == "unverified" for rule in explanation.rules)


class TestWording:
    """Votes decide what an answer says, not how it is worded."""

    @staticmethod
    def replay(turns: Iterator[str]) -> Callable[[str, Sequence[Source]], str]:
        def answered(question: str, sources: Sequence[Source]) -> str:
            kept = {source.id for source in sources}
            return next(turns) + ("postponed" if {"memo", "mail"} <= kept else "on Friday")

        return answered

    def explained(self, beginnings: Sequence[str], **settings: Any) -> Explanation:
        sources = [Source(name, "...") for name in ("memo", "mail", "wiki")]
        explainer = Explainer(self.replay(cycle(beginnings)), noise=9, concurrency=1, **settings)
        return explainer.explain("When?", sources)

    def test_an_answer_that_is_always_worded_anew_is_refused(self) -> None:
        """Each document was named by an omission rule, because the wording changed."""
        with pytest.raises(AnswerNotRepeatable, match=r"of 9 answers.*Judge what matters") as refused:
            self.explained(["", "Well, ", "So: "])
        equal, drawn = refused.value.equal or (0, 0)
        assert (drawn, equal * 3 <= drawn * 2) == (9, True)

    def test_a_condition_on_what_matters_is_not(self) -> None:
        explanation = self.explained(["", "Well, ", "So: "], predicate=contains("postponed"))
        assert [rule.sources for rule in explanation.retention_rules] == [("memo", "mail")]
        assert explanation.warnings == ()

    def test_an_answer_that_is_rarely_worded_anew_is_explained_with_a_warning(self) -> None:
        explanation = self.explained(["", "", "Well, ", *[""] * 60])
        assert "of 9 answers to all sources, 8 have the most frequent wording" in explanation.warnings[0]
        assert [rule.sources for rule in explanation.retention_rules] == [("memo", "mail")]

    @pytest.mark.parametrize("samples", [2, 3, 4, 5])
    def test_whether_it_is_refused_hangs_on_all_samples_in_whatever_order(self, samples: int) -> None:
        """Of three samples, two that agreed were enough: half of the models with two wordings passed."""
        sources = [Source("memo", "..."), Source("mail", "...")]
        for turns in product(["", "Well, "], repeat=samples):
            equal = max(turns.count(""), turns.count("Well, "))
            explainer = Explainer(self.replay(chain(turns, cycle([""]))), noise=samples, concurrency=1)
            if equal * 3 <= samples * 2:
                with pytest.raises(AnswerNotRepeatable) as refused:
                    explainer.explain("When?", sources)
                assert refused.value.equal == (equal, samples)
            else:
                warnings = explainer.explain("When?", sources).warnings
                told = [f"of {samples} answers" in each for each in warnings]
                assert told == [True] * (equal < samples)

    @pytest.mark.parametrize("samples", [3, 9])
    def test_that_costs_the_samples_that_a_majority_leaves_and_no_more(self, samples: int) -> None:
        asked: dict[str, list[frozenset[str]]] = {"default": [], "named": []}
        for name, predicate in [("default", None), ("named", contains("yes"))]:

            def replay(_: str, sources: Sequence[Source], name: str = name) -> str:
                asked[name].append(kept := frozenset(source.id for source in sources))
                return "yes" if "D1" in kept else "no"

            more: dict[str, Any] = {} if predicate is None else {"predicate": predicate}
            explainer = Explainer(replay, noise=samples, miner="exact", concurrency=1, **more)
            counts = explainer.explain("why?", [Source("D1", "1"), Source("D2", "2")]).counts
            assert counts.replays == len(asked[name])
        full = frozenset({"D1", "D2"})
        of_a_majority = samples // 2 + 1
        assert asked["named"].count(full) == of_a_majority
        assert asked["default"].count(full) == samples
        assert len(asked["default"]) - len(asked["named"]) == samples - of_a_majority
