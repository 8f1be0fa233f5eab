"""Each predicate in a real run: the rules that are known, and how they read."""

import json

import pytest
from pydantic import BaseModel

from rag_rule_explainer import (
    Answer,
    Case,
    Explainer,
    Source,
    cites,
    condition,
    contains,
    equals,
    is_valid,
    json_path,
    matches,
    mentions_source,
    one_of,
    refuses,
    same_answer,
)
from rag_rule_explainer.predicates import Predicate, negated
from rag_rule_explainer.testing import ScriptedReplay


class Dose(BaseModel):
    unit: str
    amount: float


def is_brief(case: Case) -> bool:
    return len(case.answer.text) < 12


def prose(ids: frozenset[str]) -> str:
    return "Take 5 mg of calcium daily [D2]." if {"D2", "D4"} <= ids else "I don't know."


def structured(ids: frozenset[str]) -> str:
    dose = {"unit": "mg", "amount": 5} if {"D2", "D4"} <= ids else {"amount": "?"}
    return f"```json\n{json.dumps(dose)}\n```"


def valued(ids: frozenset[str]) -> Answer:
    return Answer(
        "see the value", {"unit": "mg", "amount": 5} if {"D2", "D4"} <= ids else {"amount": "?"}
    )


def short(ids: frozenset[str]) -> str:
    return "Yes." if {"D2", "D4"} <= ids else "It depends on the dose."


OF_PAIRS = [
    (prose, same_answer(), "the answer stays the same", "the answer changes"),
    (
        prose,
        same_answer(overlap=0.8),
        "the answer stays the same (word overlap at least 0.8)",
        "the answer changes (word overlap below 0.8)",
    ),
    (short, equals("Yes."), "the answer is 'Yes.'", "the answer is not 'Yes.'"),
    (
        prose,
        contains("calcium"),
        "the answer contains 'calcium'",
        "the answer does not contain 'calcium'",
    ),
    (prose, matches(r"\d mg"), r"the answer matches /\d mg/", r"the answer does not match /\d mg/"),
    (
        short,
        one_of(["yes", "no"]),
        "the answer is one of 'yes', 'no'",
        "the answer is none of 'yes', 'no'",
    ),
    (prose, ~refuses(), "the answer is no refusal", "the answer is a refusal"),
    (prose, cites(), "the answer's citations are valid", "the answer's citations are missing or invalid"),
    (prose, cites("D2"), "the answer validly cites 'D2'", "the answer does not validly cite 'D2'"),
    (prose, mentions_source("D2"), "the answer mentions 'D2'", "the answer does not mention 'D2'"),
    (
        structured,
        json_path("$.unit", equals="mg"),
        'the answer\'s $.unit is "mg"',
        'the answer\'s $.unit is not "mg"',
    ),
    (valued, json_path("$.unit"), "the answer has $.unit", "the answer has no $.unit"),
    (
        valued,
        json_path("$.amount", is_=same_answer()),
        "at $.amount, the answer stays the same",
        "at $.amount, the answer changes",
    ),
    (structured, is_valid(Dose), "the answer is a valid Dose", "the answer is not a valid Dose"),
    (short, condition(is_brief), "is_brief(case) is true", "is_brief(case) is false"),
    (
        prose,
        cites("D2") & contains("calcium"),
        "the answer validly cites 'D2' and the answer contains 'calcium'",
        "the answer does not validly cite 'D2' or the answer does not contain 'calcium'",
    ),
]


@pytest.mark.parametrize(
    ("script", "predicate", "clause", "opposite"), OF_PAIRS, ids=[str(each[1]) for each in OF_PAIRS]
)
def test_the_rules_of_a_pair(script: object, predicate: Predicate, clause: str, opposite: str) -> None:
    sources = [Source(f"D{place}", f"text {place}") for place in range(1, 6)]
    replay = ScriptedReplay(script)  # type: ignore[arg-type] -- answers of all kinds
    explanation = Explainer(replay, predicate=predicate).explain("what to take?", sources)
    proved = "[proved on all {} subsets]".format
    assert [*map(str, explanation.retention_rules)] == [
        f"whenever D2 and D4 are retained, {clause} {proved(8)}"
    ]
    assert [*map(str, explanation.omission_rules)] == [
        f"whenever {each} is omitted, {opposite} {proved(16)}" for each in ("D2", "D4")
    ]
    turned = Explainer(replay, predicate=negated(predicate)).explain("what to take?", sources)
    assert turned.retention_rules == ()
