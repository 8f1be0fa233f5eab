"""Models against labels: a scripted model whose rates are known by construction."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_rule_explainer import BaselineFailed, InvalidInput, Source
from rag_rule_explainer.experiments.benchmark import BenchmarkOutcome, BenchmarkPlan, measure_models
from rag_rule_explainer.experiments.models import Examined
from rag_rule_explainer.settings import Settings
from rag_rule_explainer.storing.store import Store
from rag_rule_explainer.testing import OfflineJudge
from tests.experiments.scripted import MANNERS, WITH, WITHOUT, Scripted, question, truth

ONE_AT_A_TIME = Settings(concurrency=1, retries=0)
EACH = 2
"""Questions of each manner."""
QUESTIONS = [question(10 * EACH * at + n, each) for at, each in enumerate(MANNERS) for n in range(EACH)]
ALL = len(QUESTIONS)


def counts(outcome: BenchmarkOutcome, necessary: str = "all") -> dict[str, tuple[int, int]]:
    return {row.measure: (row.count, row.of) for row in outcome.rows if row.necessary == necessary}


@pytest.fixture(scope="module")
def outcome() -> BenchmarkOutcome:
    return measure_models(QUESTIONS, [Scripted().examined], BenchmarkPlan(), ONE_AT_A_TIME)


def test_every_figure_is_what_the_manners_imply(outcome: BenchmarkOutcome) -> None:
    with_all, without, replies = WITH * ALL, WITHOUT * ALL, (WITH + WITHOUT) * ALL
    # Of the 23 subsets, 12 have the last source, 8 the second one and not the first, and 4 these two.
    peeked, knowing_part, peeked_part = 12, 8, 4
    answered = WITH * (ALL - EACH) + EACH * (2 * WITHOUT + peeked)
    expected = {
        # Timid and wordy ones are never right, as far as near-exact match sees.
        "retention-rules-hold": (8 * (ALL - 2 * EACH), 8 * ALL),
        # Of knowing, each rule speaks about a subset that is right, but those that omit everything.
        # Of peeking, those that omit the last source hold as well.
        "omission-rules-hold": (24 * (ALL - 2 * EACH) + EACH * (1 + 12), 24 * ALL),
        "all-retention-hold": (ALL - 2 * EACH, ALL),
        "all-omission-hold": (ALL - 2 * EACH, ALL),
        "all-rules-hold": (ALL - 4 * EACH, ALL),
        "right-with": (WITH * (ALL - 2 * EACH), with_all),
        "abstains-with": (WITH * EACH, with_all),
        "wrong-with": (0, with_all),
        "unsettled-with": (WITH * EACH, with_all),
        "answers-without": (EACH * (2 * WITHOUT + peeked), without),
        "right-without": (EACH * (WITHOUT + peeked), without),
        "right-from-part": (EACH * (knowing_part + peeked_part), without),
        "right-from-distractor": (EACH * (peeked - peeked_part), without),
        "right-from-nowhere": (EACH * (WITHOUT - knowing_part), without),
        "wrong-without": (EACH * WITHOUT, without),
        "unsettled-without": (0, without),
        "answers-to-nothing": (0, 0),
        "right-to-nothing": (0, 0),
        # Invented texts stand nowhere, wordy ones not word for word, what is known not in each subset.
        "not-in-sources": (EACH * (WITHOUT + WITH + WITHOUT - knowing_part), answered),
        "wrong-not-in-sources": (EACH * WITHOUT, answered),
        "says-more": (WITH * EACH, WITH * (ALL - EACH) + EACH * (2 * WITHOUT + peeked)),
        "cut-off": ((WITH + WITHOUT) * EACH, replies),
        "reworded": (WITH * EACH, WITH * EACH + WITHOUT * ALL - EACH * (2 * WITHOUT + peeked)),
        "deviates": (
            EACH * (2 * WITHOUT + peeked) + EACH * WITH * 2 + EACH * (WITH + WITHOUT),
            replies,
        ),
    }
    assert counts(outcome) == expected
    assert outcome.calls == replies
    assert {row.questions for row in outcome.rows if row.measure == "deviates"} == {ALL}
    rows = {row.measure: row for row in outcome.rows}
    assert rows["wrong-with"].low == 0
    assert rows["answers-to-nothing"].rate is None
    assert not outcome.failures


def test_the_replies_and_questions_behind_the_figures(outcome: BenchmarkOutcome) -> None:
    assert len(outcome.replies) == outcome.calls
    assert sum(each["deviates"] for each in outcome.replies) == counts(outcome)["deviates"][0]
    assert len(outcome.questions) == ALL
    assert {(each.retention_expected, each.omission_expected) for each in outcome.questions} == {(8, 24)}
    assert {each.subsets for each in outcome.questions} == {32}
    wrong = [each for each in outcome.deviations if each["kind"] == "wrong"]
    assert len(wrong) == EACH * WITHOUT
    assert {each["answer"] for each in wrong} == {"code 7777"}
    assert {each["truth"] for each in outcome.deviations} <= {each.answer for each in QUESTIONS}


def test_a_judge_settles_what_wording_does_not() -> None:
    wordy = [each for each in QUESTIONS if each.id.startswith("wordy")]
    judged = measure_models(wordy, [Scripted().examined], BenchmarkPlan(), ONE_AT_A_TIME, OfflineJudge())
    found = counts(judged)
    assert found["right-with"] == (WITH * EACH, WITH * EACH)
    assert found["unsettled-with"] == (0, WITH * EACH)
    assert found["all-rules-hold"] == (EACH, EACH)
    assert found["says-more"] == (WITH * EACH, WITH * EACH)
    assert judged.judge_requests > 0
    # From seven words beside the truth's on it would be more than the answer; there are five.
    patient = measure_models(wordy, [Scripted().examined], BenchmarkPlan(besides=7), ONE_AT_A_TIME)
    assert counts(patient)["says-more"][0] == 0


def test_asked_without_sources_what_it_knows_shows() -> None:
    model = Scripted()
    found = counts(
        measure_models(QUESTIONS, [model.examined], BenchmarkPlan(asks_nothing=True), ONE_AT_A_TIME)
    )
    assert found["answers-to-nothing"] == (2 * EACH, ALL)
    assert found["right-to-nothing"] == (EACH, ALL)
    assert found["answers-without"][1] == WITHOUT * ALL
    # A knowing model is right even then, so that no omission rule of it holds at all.
    assert found["omission-rules-hold"] == (24 * (ALL - 2 * EACH) + EACH * 12, 24 * ALL)
    assert len(model.asked) == 32 * ALL


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(("subsets", "having"), [(2, 1), (9, 4), (16, 8), (20, 8)])
def test_a_selection_is_half_of_each_and_drawn_from_the_seed(subsets: int, having: int) -> None:
    few, model = QUESTIONS[::EACH], Scripted()
    plan = BenchmarkPlan(subsets=subsets, seed=3)
    found = measure_models(few, [model.examined], plan, ONE_AT_A_TIME)
    assert not found.failures
    assert len(set(model.asked)) == len(model.asked) == subsets * len(few)
    per_question = {
        each.id: [kept for asked, kept in model.asked if asked == each.question] for each in few
    }
    for kept in per_question.values():
        assert sum({"D1", "D2"} <= each for each in kept) == having
    assert len({frozenset(kept) for kept in per_question.values()}) > 1 or subsets == 2
    figures = counts(found)
    assert figures["right-with"] == (having * 5, having * 7)
    # Nothing of an honest model's breaks, and rules that no subset spoke of are in no rate by rules.
    honest = [each for each in found.questions if each.question_id.startswith("honest")]
    assert all(each.retention_hold + each.retention_unasked == 8 for each in honest)
    assert all((each.omission_hold, each.omission_unasked) == (24, 0) for each in honest)
    assert figures["retention-rules-hold"][1] < 8 * 7 or having == 8
    # Of questions, those that nothing breaks hold, though not all rules were asked about.
    assert figures["all-retention-hold"] == (5, 7)
    hold, of = figures["all-omission-hold"]
    assert of == 7
    # The knowing one breaks some, and the peeking one where its subsets were drawn.
    assert 5 <= hold <= 6
    again, other = Scripted(), Scripted()
    assert measure_models(few, [again.examined], plan, ONE_AT_A_TIME).rows == found.rows
    measure_models(few, [other.examined], BenchmarkPlan(subsets=subsets, seed=4), ONE_AT_A_TIME)
    assert again.asked == model.asked
    assert other.asked != model.asked


def test_as_many_as_there_are_is_all_of_them() -> None:
    assert BenchmarkPlan(subsets=31).masks(QUESTIONS[0]) is None
    assert BenchmarkPlan(subsets=30).masks(QUESTIONS[0]) is not None


def test_questions_that_need_more_sources() -> None:
    several = [question(900 + k, "honest", k, 6) for k in (2, 3, 4)]
    model = Examined("all of them", "all", _needing_all)
    found = measure_models(several, [model], BenchmarkPlan(sources=6), ONE_AT_A_TIME)
    assert {row.necessary for row in found.rows} == {"all", "2", "3", "4"}
    assert {each.necessary: each.retention_expected for each in found.questions} == {2: 16, 3: 8, 4: 4}
    assert counts(found)["all-rules-hold"] == (3, 3)
    assert counts(found, "4")["omission-rules-hold"] == (60, 60)
    with pytest.raises(InvalidInput, match="5 sources cannot hold the 6"):
        measure_models([question(1, "honest", 6, 6)], [model], BenchmarkPlan(), ONE_AT_A_TIME)


def _needing_all(asked: str, sources: Sequence[Source]) -> str:
    number = int(asked.rstrip("?").split()[1])
    needed = {f"D{place}" for place in range(1, number - 900 + 1)}
    return truth(number) if needed <= {source.id for source in sources} else "N/A"


def test_interrupted_and_resumed_it_is_the_same_and_from_the_store_it_is_free(
    tmp_path: Path,
) -> None:
    few = QUESTIONS[:6]
    outcome = measure_models(few, [Scripted().examined], BenchmarkPlan(), ONE_AT_A_TIME)
    settings = Settings(concurrency=1, store=Store(str(tmp_path / "a.sqlite"), "anything"))

    def interrupting(done: int, _: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    models = [Scripted(), Scripted(), Scripted()]
    stopped, resumed, again = (
        measure_models(few, [model.examined], BenchmarkPlan(), settings, progress=told)
        for model, told in zip(models, (interrupting, None, None), strict=True)
    )
    assert (stopped.interrupted, stopped.done, stopped.rows) == (True, 3, [])
    assert len(models[0].asked) + len(models[1].asked) == outcome.calls
    assert (again.calls, models[2].asked) == (0, [])
    assert again.stored == outcome.calls
    for each in (resumed, again):
        assert each.rows == outcome.rows
        assert each.replies == outcome.replies
        assert each.deviations == outcome.deviations
    other = Examined("scripted", "another namespace", Scripted())
    assert measure_models(QUESTIONS[:1], [other], BenchmarkPlan(), settings).calls == WITH + WITHOUT


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("subsets", [None, 30])
def test_a_question_that_is_not_answered_is_listed_and_in_no_figure(subsets: int | None) -> None:
    name = QUESTIONS[1].question
    model = Scripted({name: [frozenset({"D1", "D2", "D3", "D4", "D5"}), frozenset({"D1", "D2"})]})
    found = measure_models(QUESTIONS, [model.examined], BenchmarkPlan(subsets=subsets), ONE_AT_A_TIME)
    assert [each.question_id for each in found.failures] == [QUESTIONS[1].id]
    assert "no answer to this" in found.failures[0].reason
    assert QUESTIONS[1].id not in {each.question_id for each in found.questions}
    assert counts(found)["all-retention-hold"] == (ALL - 2 * EACH - 1, ALL - 1)


def test_a_model_that_is_down_ends_it() -> None:
    def down(asked: str, sources: Sequence[Source]) -> str:
        raise ConnectionError("nobody listens")

    with pytest.raises(BaselineFailed, match="answered nothing about 3 questions in a row"):
        measure_models(QUESTIONS, [Examined("down", "down", down)], BenchmarkPlan(), ONE_AT_A_TIME)


def test_two_models_are_apart_and_two_alike_are_refused() -> None:
    timid = Examined("timid", "timid", lambda asked, sources: "N/A")
    found = measure_models(QUESTIONS[:EACH], [Scripted().examined, timid], BenchmarkPlan(), ONE_AT_A_TIME)
    rates = {row.model: row.rate for row in found.rows if row.measure == "abstains-with"}
    assert rates == {"scripted": 0, "timid": 1}
    assert {each["model"] for each in found.deviations} == {"timid"}
    with pytest.raises(InvalidInput, match="timid is named twice"):
        measure_models(QUESTIONS, [timid, timid], BenchmarkPlan(), ONE_AT_A_TIME)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"sources": 0}, "give 1 to 10"),
        ({"sources": 11}, "give 1 to 10"),
        ({"subsets": 1}, "give 2 or more"),
        ({"besides": 0}, "give 1 or more"),
    ],
)
def test_a_plan_that_cannot_be(wrong: dict[str, int], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        BenchmarkPlan(**wrong)  # pyright: ignore[reportArgumentType] -- on purpose
