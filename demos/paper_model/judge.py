"""The model as a judge, beside whether the fact stands in the answer."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from demos.paper_model.files import written
from demos.paper_model.subject import Subject
from rag_rule_explainer import LabelledCase, check_judge
from rag_rule_explainer.experiments.judging import JudgedAnswer, draw
from rag_rule_explainer.predicates import consistent_with


@dataclass(frozen=True)
class Checked:
    """These are the numbers of judgments of each kind. ``of``: those that were drawn from. ``unknown``:
    those whose reply is no verdict."""

    cases: int
    of: int
    unknown: int
    tp: int
    fp: int
    tn: int
    fn: int


def judge_checked(subject: Subject, judged: Sequence[JudgedAnswer]) -> Checked:
    """The judge is asked about each drawn answer by itself. A reply that is no verdict is not in the
    store, so what came out is kept in a file: otherwise, each run would ask about these again."""
    file = subject.inputs.out / "judge.json"
    if not file.exists():
        written(file, json.dumps(asdict(asked_anew(subject, judged))) + "\n")
    return Checked(**json.loads(file.read_text(encoding="utf-8")))


def asked_anew(subject: Subject, judged: Sequence[JudgedAnswer]) -> Checked:
    drawn = draw(judged, subject.inputs.size.judgements, subject.inputs.seed)
    cases = [
        LabelledCase(
            each.question,
            each.answer,
            subject.asked[each.question].is_right(each.answer),
            truth=each.truth,
            id=f"{each.drawn_as} {number}",
        )
        for each in drawn.answers
        for number in range(each.times)
    ]
    judge = subject.judge()
    settings = subject.settings("judge")
    check = check_judge(
        cases, predicate_of=lambda case: consistent_with(case.truth or "", judge=judge), settings=settings
    )
    # What is written here is never asked again, so it has to be about replies.
    subject.reach.check()
    if check.stop_reason:
        raise KeyboardInterrupt
    counts = check.tp, check.fp, check.tn, check.fn
    return Checked(check.cases, drawn.of, check.unknown, *counts)
