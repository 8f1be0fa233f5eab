"""Judgements drawn for a person, and what the labels say of the judge."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from rag_rule_explainer import Answer, InvalidInput, Verdict
from rag_rule_explainer.checking import LabelledCase
from rag_rule_explainer.experiments.judge_figures import draw_judge, judge_rows
from rag_rule_explainer.experiments.judging import (
    DRAWN,
    JUDGEMENTS,
    TO_LABEL,
    DrawnAnswer,
    JudgedAnswer,
    check,
    draw,
    drawn_in,
    judged_answers,
    judged_answers_in,
    write_draw,
)
from rag_rule_explainer.experiments.models import offline_reader
from rag_rule_explainer.experiments.tables import write_jsonl
from rag_rule_explainer.testing import OfflineJudge
from rag_rule_explainer.verdicts import Judgement
from tests.experiments.records import example


def judged(answer: str, verdict: Verdict = Verdict.BREAKS, **more: object) -> JudgedAnswer:
    given: dict[str, object] = {"judge": "j", "model": "m", "question_id": "q1", "question": "Who?"}
    return JudgedAnswer.model_validate(
        {**given, "truth": "Lima", "answer": answer, "verdict": verdict, **more}
    )


MANY = [judged(f"answer {n}", Verdict.of(n % 3 == 0)) for n in range(300)]


def labelled(drawn: DrawnAnswer, label: bool) -> LabelledCase:
    return LabelledCase(drawn.question, drawn.answer, label, truth=drawn.truth, id=drawn.drawn_as)


def test_only_what_near_exact_match_leaves_open_is_there_to_draw() -> None:
    said = [
        (Answer("lima."), Judgement(Verdict.HOLDS)),
        (Answer("N/A"), Judgement(Verdict.BREAKS, "no answer")),
        (Answer("It is Lima"), Judgement(Verdict.HOLDS)),
        (Answer("N/A"), Judgement(Verdict.BREAKS, "no answer")),
    ]
    found = list(judged_answers(OfflineJudge(), offline_reader(), example(), said))
    assert {each.judge for each in found} == {"the offline judge of the truth"}
    assert [(each.answer, each.verdict, each.reason, each.times) for each in found] == [
        ("N/A", Verdict.BREAKS, "no answer", 2),
        ("It is Lima", Verdict.HOLDS, "", 1),
    ]


def test_the_draw_depends_on_the_seed_and_on_nothing_else() -> None:
    hundred = draw(MANY, 100, seed=5)
    assert (len(hundred.answers), hundred.of) == (100, 300)
    shuffled = random.Random(1).sample(MANY, len(MANY))
    assert draw([*shuffled, *MANY], 100, seed=5) == replace_models(hundred, ["m"])
    assert draw(MANY, 50, seed=5).answers == hundred.answers[:50]
    assert draw(MANY, 100, seed=6).answers != hundred.answers
    # Neither verdict is more likely to be drawn.
    holding = sum(
        each.verdict is Verdict.HOLDS for seed in range(40) for each in draw(MANY, 100, seed).answers
    )
    assert holding == pytest.approx(4000 / 3, abs=4 * (4000 * 2 / 9) ** 0.5)


def replace_models(drawn: object, models: list[str]) -> object:
    assert all(each.models == models for each in getattr(drawn, "answers"))  # noqa: B009 -- a tuple's
    return drawn


def test_an_answer_of_several_models_is_drawn_once() -> None:
    others = [judged("x", model="n", temperature=0.0), judged("x"), judged("x", temperature=1.0)]
    drawn = draw([*others, judged("x", Verdict.HOLDS)], 10, seed=0)
    assert drawn.of == 4
    assert {each.verdict: each.times for each in drawn.answers} == {Verdict.BREAKS: 3, Verdict.HOLDS: 1}
    by_verdict = {each.verdict: each.models for each in drawn.answers}
    assert by_verdict[Verdict.BREAKS] == ["n at temperature 0", "m", "m at temperature 1"]


def test_judgements_are_drawn_and_not_texts() -> None:
    pool = [judged("often", times=900), *(judged(f"once {n}") for n in range(100))]
    found = [draw(pool, 100, seed) for seed in range(20)]
    assert {(each.of, each.judgements) for each in found} == {(1000, 100)}
    often = [one.times for each in found for one in each.answers if one.answer == "often"]
    # Each of 1,000 judgements is as likely as any other, so 90 of 100 are of this text.
    assert sum(often) / 20 == pytest.approx(90, abs=3)
    one = found[0]
    assert len(one.answers) == 101 - often[0]
    cases = [labelled(each, label=True) for each in one.answers]
    checked = check(one.answers, cases)
    assert (checked.cases, checked.fn) == (100, 100)  # a frequent misjudgement weighs as often as it is


def test_the_figure_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures are drawn with it")
    drawn = draw(MANY, 30, seed=0).answers
    rows = list(judge_rows(check(drawn, [labelled(each, label=True) for each in drawn])))
    (file,) = draw_judge(rows, "30 judgements", tmp_path)
    assert file.read_bytes().startswith(b"\x89PNG")
    assert not list(draw_judge([], "", tmp_path))


def test_nothing_to_draw_and_too_many_judges() -> None:
    with pytest.raises(InvalidInput, match="nothing to draw from"):
        draw([], 100, 0)
    with pytest.raises(InvalidInput, match=r"judgements of 2 judges \(j; k\); give those of one"):
        draw([judged("x"), judged("y", judge="k")], 100, 0)


def test_the_person_does_not_see_what_the_judge_said(tmp_path: Path) -> None:
    drawn = draw(MANY, 10, seed=0)
    write_draw(drawn, tmp_path)
    text = (tmp_path / TO_LABEL).read_text(encoding="ascii")
    shown = [json.loads(line) for line in text.splitlines()]
    assert {tuple(each) for each in shown} == {("id", "question", "truth", "answer", "label")}
    assert {each["label"] for each in shown} == {None}
    assert drawn_in(tmp_path) == list(drawn.answers)


def test_labels_are_never_overwritten(tmp_path: Path) -> None:
    drawn = draw(MANY, 10, seed=0)
    write_draw(drawn, tmp_path)
    write_draw(drawn, tmp_path)
    file = tmp_path / TO_LABEL
    half = file.read_text(encoding="ascii").replace("null", "true", 1)
    for kept in (half, "not JSON at all", "[1]", '{"label": "yes"}'):
        file.write_text(kept, encoding="ascii")
        with pytest.raises(InvalidInput, match="has labels already, which would be lost"):
            write_draw(draw(MANY, 10, seed=1), tmp_path)
        assert file.read_text(encoding="ascii") == kept
    assert drawn_in(tmp_path) == list(drawn.answers)


def test_the_figures_are_those_of_known_errors(tmp_path: Path) -> None:
    drawn = draw([*MANY, judged("hm", Verdict.UNKNOWN)], 301, seed=0).answers
    # The person agrees, but for each tenth answer.
    wrong = {each.drawn_as for number, each in enumerate(drawn) if number % 10 == 0}
    cases = [
        labelled(each, (each.verdict is Verdict.HOLDS) != (each.drawn_as in wrong)) for each in drawn
    ]
    checked = check(drawn, cases)
    fp = sum(each.verdict is Verdict.HOLDS for each in drawn if each.drawn_as in wrong)
    fn = sum(each.verdict is Verdict.BREAKS for each in drawn if each.drawn_as in wrong)
    assert (checked.fp, checked.fn, checked.tp, checked.tn) == (fp, fn, 100 - fp, 200 - fn)
    assert (checked.unknown, checked.cases, checked.judge_requests) == (1, 301, 0)
    assert checked.precision.value == (100 - fp) / 100
    assert checked.recall.value == (100 - fp) / (100 - fp + fn)
    assert checked.false_positive_rate.value == fp / (fp + 200 - fn)
    precision, recall, rate = judge_rows(checked)
    assert (precision.figure, recall.figure) == ("precision", "recall")
    assert (rate.figure, rate.count, rate.of) == ("false_positive_rate", fp, fp + 200 - fn)
    assert rate.low is not None
    assert rate.value is not None
    assert 0 < rate.low < rate.value
    assert checked.condition == "the answer is consistent with its truth, said j"


def test_labels_of_something_else_are_refused() -> None:
    drawn = draw(MANY, 3, seed=0).answers
    case = labelled(drawn[0], True)
    with pytest.raises(InvalidInput, match="'other' is labelled, and was not drawn"):
        check(drawn, [replace(case, id="other")])
    for changed in ({"answer": Answer("edited")}, {"question": "Why?"}, {"truth": None}):
        with pytest.raises(InvalidInput, match=r"was changed: .* change nothing but the labels"):
            check(drawn, [replace(case, **changed)])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "line 1: it is no JSON"),
        (b"[]", "line 1: Input should be a valid dictionary"),
        (b'\n{"judge": "j"}', "line 2: model: Field required"),
        (b"\xff", "is not UTF-8 text"),
        (b"[" * 100_000, "line 1: it is no JSON"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / JUDGEMENTS).write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        judged_answers_in([tmp_path])


def test_no_file_at_all(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"there is no .*; give the judgements.jsonl"):
        judged_answers_in([tmp_path])
    with pytest.raises(InvalidInput, match=f"there is no .*; give the folder as --out .* {DRAWN} is"):
        drawn_in(tmp_path)


def test_hostile_texts_come_back_as_they_were(tmp_path: Path) -> None:
    texts = ["\x1b[2J", "\ud800", "a\u2028b\nc", '"},{"verdict":"holds"', "\u202e"]
    lines = [judged(text, Verdict.HOLDS) for text in texts]
    write_jsonl(tmp_path / JUDGEMENTS, (each.model_dump(mode="json") for each in lines))
    assert judged_answers_in([tmp_path]) == lines
    drawn = draw(lines, 10, 0)
    write_draw(drawn, tmp_path)
    assert {each.answer for each in drawn_in(tmp_path)} == set(texts)
