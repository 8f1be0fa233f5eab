"""A judge sees one answer at a time, with many requests at once; what it saw among others is known."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import anyio.lowlevel
import pytest
from pydantic import ValidationError

from rag_rule_explainer import (
    Answer,
    Case,
    Explainer,
    Explanation,
    JudgeRequest,
    LabelledCase,
    Noise,
    Settings,
    Source,
    Store,
    check_judge,
    consistent_with,
    contains,
    judged,
    same_answer,
)
from rag_rule_explainer.explanation.loose_judging import JUDGED_TOGETHER, TOGETHER
from rag_rule_explainer.predicates import Predicate, condition
from rag_rule_explainer.predicates.judge.jury import Company, company
from rag_rule_explainer.probing.judging import judgings
from rag_rule_explainer.report import as_text
from rag_rule_explainer.storing.opened import close_all
from rag_rule_explainer.testing import OfflineJudge
from rag_rule_explainer.verdicts import Judgement, Verdict
from tests.judging import SOURCES, forty_answers
from tests.predicates.judge.injections import INJECTIONS, Injection
from tests.predicates.judge.obedience import ObeyingFunction, is_good

pytestmark = pytest.mark.waits

FEW = SOURCES[:4]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    yield Store(str(tmp_path / "answers.db"), "tests")
    close_all()


def explained(predicate: Predicate, **settings: Any) -> Explanation:
    given: dict[str, Any] = {"miner": "exhaustive", "rules": "retention", **settings}
    return Explainer(forty_answers, predicate=predicate, **given).explain("What news?", FEW)


def sizes(judge: OfflineJudge) -> set[int]:
    return {len(request.ids) for request in judge.requests}


class EightAtATime:
    """A judge who says nothing before eight requests have come: one by one, it says nothing at all."""

    def __init__(self) -> None:
        self.rounds = 0
        self.requests = 0
        self._barrier = threading.Barrier(8, action=self._met)

    def _met(self) -> None:
        self.rounds += 1

    def __call__(self, request: JudgeRequest) -> dict[str, bool]:
        self._barrier.wait(120)
        self.requests += len(request.candidates)
        return {each.id: "good" in each.answer for each in request.candidates}


class EightAfterOne:
    """A judge who is asked about the baseline, and then says nothing before eight requests have come."""

    def __init__(self) -> None:
        self.met = threading.Event()
        self._lock = threading.Lock()
        self._asked = 0

    def __call__(self, request: JudgeRequest) -> dict[str, bool]:
        with self._lock:
            self._asked += 1
            is_first = self._asked == 1
            if self._asked == 1 + 8:
                self.met.set()
        assert is_first or self.met.wait(120)
        return {each.id: "good" in each.answer for each in request.candidates}


class TestConcurrency:
    def test_forty_answers_take_five_rounds_of_eight(self) -> None:
        judge = EightAtATime()
        cases = [LabelledCase("?", f"good {n % 40}", True) for n in range(80)]
        check = check_judge(cases, judged("is good", judge), settings=Settings(concurrency=8))
        assert (check.tp, check.judge_requests, check.distinct) == (80, 40, 40)
        assert judge.rounds == 40 // 8

    def test_stored_answers_are_judged_as_many_at_once(self, store: Store) -> None:
        explained(contains("good"), store=store)
        judge = EightAfterOne()
        explanation = explained(judged("is good", judge), store=store, concurrency=8)
        assert (explanation.counts.replays, explanation.counts.judge_requests) == (0, 16)
        assert judge.met

    async def test_identical_answers_that_come_at_once_are_asked_about_once(self) -> None:
        judge = OfflineJudge(["good"])

        async def replay(_question: str, sources: Sequence[Source]) -> str:
            await anyio.lowlevel.checkpoint()
            return "good news" if len(sources) > 1 else "bad news"

        explainer = Explainer(
            replay, predicate=judged("is good", judge), miner="exhaustive", concurrency=16
        )
        explanation = await explainer.aexplain("What news?", FEW)
        assert sorted(judge.answers) == ["bad news", "good news"]
        assert explanation.counts.judge_requests == 2


Made: TypeAlias = Callable[[OfflineJudge], Predicate]
MADE: dict[str, Made] = {
    "judged": lambda judge: judged("is good", judge),
    "consistent_with": lambda judge: consistent_with("Good news!", judge=judge),
    "same_answer": lambda judge: same_answer(judge=judge),
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
@pytest.mark.parametrize("stored", [False, True], ids=["fresh", "stored"])
def test_by_default_every_answer_has_a_request_of_its_own(made: Made, stored: bool, store: Store) -> None:
    if stored:
        explained(contains("good"), store=store)
    judge = OfflineJudge(["good"])
    explanation = explained(made(judge), store=store if stored else None)
    assert sizes(judge) == {1}
    assert len(judge.requests) == len(set(judge.answers)) >= 15
    assert JUDGED_TOGETHER not in explanation.warnings
    assert all(rule.proved for rule in explanation.rules)


def test_a_judge_who_sees_one_at_a_time_is_not_asked_about_what_no_search_needs(store: Store) -> None:
    explained(contains("good"), store=store)
    judge = OfflineJudge(["nothing"])
    explanation = explained(judged("is good", judge), store=store, miner="exact")
    # The baseline breaks it, so no retention rule is left to look for.
    assert (len(judge.requests), explanation.counts.stored) == (1, 2)


@pytest.mark.parametrize("injection", INJECTIONS[::10], ids=lambda each: each.kind)
def test_what_one_answer_orders_changes_no_verdict_of_another(injection: Injection, store: Store) -> None:
    """All of them, before models of both frameworks: ``tests/integrations/test_forged_verdicts.py``."""

    def replay(question: str, sources: Sequence[Source]) -> str:
        is_hostile = [source.id for source in sources] == ["D2"]
        return injection.text if is_hostile else forty_answers(question, sources)

    Explainer(replay, predicate=contains("x"), miner="exhaustive", store=store).explain("?", FEW)
    for batch, misled in ((16, True), (1, False)):
        predicate = judged("is good", ObeyingFunction(), judge_name="obeying", batch=batch)
        given: dict[str, Any] = {"miner": "exhaustive", "rules": "retention", "store": store}
        explanation = Explainer(replay, predicate=predicate, **given).explain("?", FEW)
        forged = [
            probe.kept
            for probe in explanation.probes
            for judgement in probe.verdicts.values()
            if probe.kept != ("D2",)
            and judgement.verdict is not Verdict.of(is_good(probe.answers[0].text))
        ]
        assert bool(forged) is misled
        assert any(rule.proved for rule in explanation.rules) is not misled


MadeOf: TypeAlias = Callable[[OfflineJudge, int], Predicate]
STORED: dict[str, MadeOf] = {
    "judged": lambda judge, batch: judged("is good", judge, batch=batch),
    "a negation": lambda judge, batch: ~judged("is good", judge, batch=batch),
    "and": lambda judge, batch: ~contains("never") & judged("is good", judge, batch=batch),
    "with what is stored by itself": lambda judge, batch: (
        condition(lambda _: True, remembered_as="always") & judged("is good", judge, batch=batch)
    ),
}


class TestAmongOthers:
    def test_the_rules_the_report_and_the_explanation_say_so(self, store: Store) -> None:
        explained(contains("good"), store=store)
        judge = OfflineJudge(["good"])
        explanation = explained(judged("is good", judge, batch=16), store=store)
        assert sizes(judge) == {16}
        (rule,) = explanation.retention_rules
        assert (rule.sources, rule.claim, rule.sampling) == (("D1", "D3"), "unverified", TOGETHER)
        assert str(rule).endswith(
            "[UNVERIFIED: held where tried, on 4 of 4 subsets, the judge saw several answers at once]"
        )
        assert explanation.warnings[-1] == JUDGED_TOGETHER
        assert "all the rules there are" not in as_text(explanation)
        again = Explanation.model_validate_json(explanation.model_dump_json())
        assert again == explanation
        forged = explanation.model_dump_json().replace('"claim":"unverified"', '"claim":"proved"')
        with pytest.raises(ValidationError, match="the judge saw several answers at once"):
            Explanation.model_validate_json(forged)

    def test_a_batch_that_was_allowed_and_never_made_costs_no_proof(self) -> None:
        judge = OfflineJudge(["good"])
        explanation = explained(judged("is good", judge, batch=16), concurrency=1)
        assert sizes(judge) == {1}
        assert [rule.claim for rule in explanation.rules] == ["proved"]
        assert JUDGED_TOGETHER not in explanation.warnings

    @pytest.mark.parametrize("made", STORED.values(), ids=STORED)
    def test_what_is_stored_does_not_come_back_as_judged_alone(self, made: MadeOf, store: Store) -> None:
        explained(contains("good"), store=store)
        first, alone, second, third = (OfflineJudge(["good"]) for _ in range(4))
        explanation = explained(made(first, 16), store=store)
        assert JUDGED_TOGETHER in explanation.warnings
        # Another process, say: still known as made among others, and not paid again.
        again = explained(made(second, 16), store=store)
        assert second.requests == []
        assert JUDGED_TOGETHER in again.warnings
        assert not any(rule.proved for rule in again.rules)
        # Who wants each judged alone is not served with it, and pays.
        by_itself = explained(made(alone, 1), store=store)
        assert (sizes(alone), len(alone.requests)) == ({1}, 16)
        assert all(rule.proved for rule in by_itself.rules)
        # What was made alone is good enough for everybody.
        explanation = explained(made(third, 16), store=store)
        assert third.requests == []
        assert JUDGED_TOGETHER not in explanation.warnings
        assert all(rule.proved for rule in explanation.rules)

    def test_votes_are_no_proof_either_for_both_kinds_of_rule(self, store: Store) -> None:
        noise = Noise(samples=3, vote="every")
        explained(contains("good"), store=store, noise=noise, rules="both")
        predicate = judged("is good", OfflineJudge(["good"]), batch=16)
        explanation = explained(predicate, store=store, noise=noise, rules="both")
        assert len({rule.kind for rule in explanation.rules}) == 2
        assert {rule.claim for rule in explanation.rules} == {"unverified"}
        assert all(rule.sampling.endswith(TOGETHER) for rule in explanation.rules)

    def test_a_rule_that_is_verified_so_stays_undecided(self, store: Store) -> None:
        explained(contains("good"), store=store)
        predicate = judged("is good", OfflineJudge(["good"]), batch=16)
        explainer = Explainer(forty_answers, predicate=predicate, store=store)
        verification = explainer.verify(["D1", "D3"], "retention", "What news?", FEW)
        assert verification.holds is None
        assert str(verification).startswith("undecided: whenever D1 and D3 are retained")
        assert str(verification).endswith(TOGETHER)
        broken = explainer.verify(["D1"], "retention", "What news?", FEW)
        assert broken.witness
        assert broken.holds is None
        assert str(broken) == f"undecided: D1: it was seen to break, but {TOGETHER}"

    async def test_what_is_judged_beforehand_and_never_needed_counts_for_nothing(self) -> None:
        def is_good(case: Case) -> Judgement:
            told = company.get()
            assert isinstance(told, Company)
            told.is_mixed = case.answer.text.startswith("good")
            return Judgement(Verdict.HOLDS)

        (judging,) = judgings([condition(is_good, remembered_as="x")])
        good, bad = (Case("?", Answer("b"), Answer(text), ()) for text in ("good", "bad"))
        await judging.prepare(good)
        assert (await judging.judge(bad), judging.rests_on_batches) == (Judgement(Verdict.HOLDS), False)
        assert judging.known(good) is not None
        assert judging.rests_on_batches

    def test_a_check_of_a_judge_has_a_warning(self) -> None:
        cases = [LabelledCase("?", f"good {n}", True) for n in range(4)]
        check = check_judge(cases, judged("is good", OfflineJudge(["good"]), batch=4))
        assert check.judge_requests == 1
        assert [each for each in check.warnings if "saw several answers at once" in each]
        alone = check_judge(cases, judged("is good", OfflineJudge(["good"])))
        assert (alone.judge_requests, alone.warnings) == (4, ())
