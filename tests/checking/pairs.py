"""Pairs of a true answer and another one, from published data, labelled by what the data say of them.

truth   the true answer itself: true
alias   another writing of it by the annotators (MuSiQue), or what a second annotator gave for the same
        question where one contains the other (PoisonedRAG on HotpotQA): true
other   the answer to the next question of that data set, or the opposite of a yes or a no; one that was
        made up to mislead (PoisonedRAG, RAMDocs), or that is right of a namesake (RAMDocs): false

Two answers that are letter for letter the same, but for case, are never another answer: RAMDocs has some
that were made up to mislead and are right of a namesake. Nothing else is sorted out, so labels that are
arguable stay: "no" is an alias of Norway in MuSiQue, and "Punjabi-language" another answer than "Punjabi
language" in RAMDocs.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rag_rule_explainer import LabelledCase

Kind = Literal["truth", "alias", "other"]
_OPPOSITE = {"yes": "no", "no": "yes"}


class Pair(NamedTuple):
    """An answer, and the truth that it is to be consistent with, or not."""

    kind: Kind
    question: str
    truth: str
    answer: str


def pairs_in(folder: Path) -> dict[str, list[Pair]]:
    """All pairs, by the data set that they are from."""
    told = {
        "HotpotQA": [*_answered(folder, "hotpotqa_train"), *_answered(folder, "hotpotqa_dev")],
        "2WikiMultiHopQA": list(_answered(folder, "2wiki_train")),
        "MuSiQue": list(_answered(folder, "musique_train")),
        "PoisonedRAG": list(_poisoned(folder)),
        "RAMDocs": list(_misinformed(folder)),
    }
    return {name: [pair for pair in pairs if _is_apart(pair)] for name, pairs in told.items()}


def labelled(pairs: Iterable[Pair]) -> list[LabelledCase]:
    """The pairs as cases. The truth is also the baseline, for predicates that compare with that."""
    return [
        LabelledCase(pair.question, pair.answer, pair.kind != "other", pair.truth, baseline=pair.truth)
        for pair in pairs
    ]


def _records(folder: Path, name: str) -> list[dict[str, Any]]:
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def _is_apart(pair: Pair) -> bool:
    return pair.kind != "other" or pair.truth.strip().lower() != pair.answer.strip().lower()


def _answered(folder: Path, name: str) -> Iterator[Pair]:
    records = _records(folder, name)
    for record, following in zip(records, [*records[1:], records[0]], strict=True):
        question, truth = record["question"], str(record["answer"])
        yield Pair("truth", question, truth, truth)
        for alias in record.get("answer_aliases", ()):
            yield Pair("alias", question, truth, alias)
        another = _OPPOSITE.get(truth.lower()) or str(following["answer"])
        yield Pair("other", question, truth, another)


def _poisoned(folder: Path) -> Iterator[Pair]:
    for record in _records(folder, "poisonedrag"):
        question, truth = record["question"], record["correct_answer"]
        yield Pair("truth", question, truth, truth)
        yield Pair("other", question, truth, record["incorrect_answer"])
    for record in _records(folder, "poisonedrag_hotpotqa_context"):
        if record["answers_agree"] == "contained":
            yield Pair("alias", record["question"], record["answer"], record["correct_answer"])


def _misinformed(folder: Path) -> Iterator[Pair]:
    for record in _records(folder, "misinformation"):
        question, answers = record["question"], record["answers"]
        for truth in answers:
            yield Pair("truth", question, truth, truth)
            for other in dict.fromkeys([*answers, *record["wrong_answers"]]):
                yield Pair("other", question, truth, other)
