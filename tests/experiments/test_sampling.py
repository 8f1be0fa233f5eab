"""Samples in rounds, and what of them is kept, stored and counted."""

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag_rule_explainer import Answer, BaselineFailed, InvalidInput, Retries, Settings, Source, Store
from rag_rule_explainer.experiments.examples import Example
from rag_rule_explainer.experiments.models import NO_ANSWER, Examined
from rag_rule_explainer.experiments.robustness import (
    RobustnessOutcome,
    RobustnessPlan,
    measure_robustness,
)
from rag_rule_explainer.experiments.running import ProgressCallback
from rag_rule_explainer.predicates import Judge, JudgeRequest
from rag_rule_explainer.probing.limits import Limits
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.storing.opened import close_all
from rag_rule_explainer.testing import OfflineJudge

NOW = Retries(0)
SOURCES = tuple(Source(f"D{place}", f"Text {place}.") for place in range(1, 6))
FAST = Settings(retries=NOW, concurrency=1)


def question(identity: str = "q", answer: str = "Lima") -> Example:
    return Example(identity, f"Who is {identity}?", answer, SOURCES, ("D1", "D2"), hops=2)


class Model:
    """Perfect, but for what is said otherwise of (ids, number of the sample). Counts what it is asked."""

    def __init__(self, otherwise: dict[tuple[str, int], str | Exception] | None = None) -> None:
        self.otherwise = otherwise or {}
        self.asked: list[str] = []
        self.lock = threading.Lock()

    def __call__(self, _: str, sources: Sequence[Source]) -> Answer:
        key = "".join(source.id[1] for source in sources)
        with self.lock:
            number = self.asked.count(key)
            self.asked.append(key)
        said = self.otherwise.get((key, number), "Lima" if {"1", "2"} <= set(key) else NO_ANSWER)
        if isinstance(said, Exception):
            raise said
        return Answer(said, finish_reason="length" if said == "Li" else "stop")

    def examined(self, name: str = "m", temperature: float | None = 1.0) -> Examined:
        return Examined(name, f"{name} {temperature}", self, temperature=temperature)


def measured(
    model: Model,
    samples: int = 2,
    settings: Settings = FAST,
    judge: Judge | None = None,
    progress: ProgressCallback | None = None,
) -> RobustnessOutcome:
    plan = RobustnessPlan(samples=samples)
    return measure_robustness([question()], [model.examined()], plan, settings, judge, progress)


def test_one_sample_of_every_subset_a_round() -> None:
    model = Model()
    told = list[tuple[int, int]]()
    outcome = measured(model, 3, progress=lambda done, of: told.append((done, of)))
    rounds = [model.asked[start : start + 31] for start in (0, 31, 62)]
    assert len(model.asked) == outcome.calls == outcome.of == 93
    assert all(len(set(each)) == 31 for each in rounds)
    assert "" not in model.asked
    assert told[-1] == (93, 93)
    for row in outcome.rows:
        assert (row.expected, row.micro_precision, row.macro_recall) == (
            8 if row.kind is RuleKind.RETENTION else 24,
            1.0,
            1.0,
        )
    assert not outcome.unexpected
    assert not outcome.failures


def test_a_rule_that_is_not_as_expected_comes_with_the_answers_that_decided_so() -> None:
    # Cut off at first; and all along somebody guesses from D3 alone.
    model = Model({("1245", 0): "Li", **{("3", number): "Lima" for number in range(3)}})
    outcome = measured(model, 3)
    records = {(each["kind"], each["deviation"], *each["rule"]): each for each in outcome.unexpected}
    cut_off = records["retention", "missing", "D1", "D2"]
    assert cut_off["at_samples"] == [1]
    (decided,) = cut_off["decided_by"]
    assert decided["kept"] == ["D1", "D2", "D4", "D5"]
    told = [(each["answer"], each["finish_reason"], each["consistent"]) for each in decided["answers"]]
    assert told == [("Li", "length", False), ("Lima", "stop", True), ("Lima", "stop", True)]
    # D3 alone tells it: so whatever is omitted with D3 retained, the answer may be right.
    guessed = records["omission", "missing", "D1"]
    assert guessed["at_samples"] == [1, 2, 3]
    assert [each["kept"] for each in guessed["decided_by"]] == [["D3"]]
    assert guessed["sources"][2] == {"id": "D3", "title": "", "text": "Text 3."}
    by_votes = {row.samples: row.found for row in outcome.rows if row.kind is RuleKind.RETENTION}
    assert by_votes == {1: 4, 2: 8, 3: 8}


def test_a_call_that_fails_leaves_its_question_out_where_it_decides(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "s.sqlite"), "x")
    model = Model({("12345", 0): ValueError("boom"), ("12345", 1): ValueError("boom")})
    settings = replace(FAST, store=store)
    outcome = measured(model, 4, settings)
    assert [(each.samples, each.reason) for each in outcome.failures] == [
        (1, "no verdict on a subset that is needed: ValueError: boom"),
        (2, "no verdict on a subset that is needed: ValueError: boom"),
        # Two of four could still hold, and two would: half are enough.
        (3, "no verdict on a subset that is needed: ValueError: boom"),
    ]
    assert outcome.failed_calls == 2
    rows = {row.samples: row for row in outcome.rows if row.kind is RuleKind.OMISSION}
    assert [(rows[n].questions, rows[n].failed) for n in (1, 4)] == [(0, 1), (1, 0)]
    assert (rows[1].micro_recall, rows[1].macro_precision) == (None, None)
    # What failed is asked again, and nothing else.
    close_all()
    better = Model()
    again = measured(better, 4, settings)
    close_all()
    assert better.asked == ["12345", "12345"]
    assert not again.failures


def test_a_model_that_only_fails_is_given_up() -> None:
    class Down(Model):
        def __call__(self, _: str, sources: Sequence[Source]) -> Answer:
            super().__call__(_, sources)
            raise ConnectionError("refused")

    down = Down()
    with pytest.raises(BaselineFailed, match=r"the last 10 calls of m all failed; check .* refused"):
        measured(down)
    assert len(down.asked) == 10
    with pytest.raises(BaselineFailed, match="the last 3 calls"):
        measured(Down(), settings=replace(FAST, limits=Limits(failures=3)))


def test_all_answers_to_a_question_are_judged_in_one_request() -> None:
    said = {("12345", number): f"It is Lima, said {number}" for number in range(4)}
    said |= {(str(n), number): f"guess {n} {number}" for n in range(1, 6) for number in range(4)}
    judge = OfflineJudge()
    outcome = measured(Model(dict(said)), 4, judge=judge)
    (request,) = judge.requests
    asked = [each.answer for each in request.candidates]
    assert sorted(asked) == sorted([*said.values(), NO_ANSWER])
    assert outcome.judge_requests == 1
    assert not outcome.unexpected
    told = {each.answer: each.verdict.value for each in outcome.judged}
    assert Counter(told.values()) == {"holds": 4, "breaks": 21}
    assert "Lima" not in told


def test_a_judge_that_only_fails_is_no_verdict_of_anybody() -> None:
    def broken(_: JudgeRequest) -> str:
        raise ValueError("down")

    outcome = measured(Model(), judge=broken)
    assert {each.samples for each in outcome.failures} == {1, 2}
    assert "the judge failed" in outcome.failures[0].reason
    assert {row.questions for row in outcome.rows} == {0}


def test_one_judge_for_all_models_is_asked_once(tmp_path: Path) -> None:
    judge, store = OfflineJudge(), Store(str(tmp_path / "s.sqlite"), "x")
    models = [Model().examined("a"), Model().examined("a", 0.0), Model().examined("b")]
    outcome = measure_robustness(
        [question()], models, RobustnessPlan(samples=1), replace(FAST, store=store), judge
    )
    close_all()
    assert len(judge.requests) == 1
    assert [(each.model, each.temperature, each.answer) for each in outcome.judged] == [
        ("a", 1.0, NO_ANSWER),
        ("a", 0.0, NO_ANSWER),
        ("b", 1.0, NO_ANSWER),
    ]


def test_what_cannot_be_measured_is_refused_before_anybody_is_asked() -> None:
    model = Model()
    with pytest.raises(InvalidInput, match="m is named twice at the same temperature"):
        measure_robustness([question()], [model.examined(), model.examined()], RobustnessPlan(), FAST)
    with pytest.raises(InvalidInput, match="1 sources cannot hold the 2 that a question needs"):
        measure_robustness([question()], [model.examined()], RobustnessPlan(sources=1), FAST)
    for wrong in ({"sources": 0}, {"sources": 9}, {"samples": 0}, {"samples": 101}):
        with pytest.raises(InvalidInput, match="give 1 to"):
            RobustnessPlan(**wrong)
    assert not model.asked
