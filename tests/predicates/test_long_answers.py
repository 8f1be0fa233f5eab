"""Answers of any size are compared in a time that grows as they do."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import Answer, Case, Verdict, contains, same_answer
from rag_rule_explainer.predicates.wording import Form, normal_form
from tests.drawing import drawn, examples

MARKS = st.text(st.sampled_from("e\u0301\u0323\u0344\u0345\u093c\u05b0\u0f73"), min_size=30, max_size=120)


def case(answer: str, baseline: str) -> Case:
    return Case("?", Answer(baseline), Answer(answer), ())


@drawn
@pytest.mark.parametrize(
    "part", ["Prose, with “marks”. ", "1,", "e\u0301\u0323", "\u0301\u0323", "- ", "1,234", "東京"]
)
def test_long_ones_take_seconds(part: str) -> None:
    size = examples(200_000)
    text = f"a {part * (size // len(part))}"
    started = time.thread_time()
    for condition in (same_answer(), same_answer(overlap=0.8), contains("never there")):
        assert condition(case(text, text + " and more")) is not None
    assert time.thread_time() - started < size / 10_000  # without care, minutes for all of it


def test_large_ones_are_told_apart_and_found_equal() -> None:
    text = "The trial’s result:  Positive. " * 10_000
    other = text.upper().replace("’", "'").replace("  ", " ")
    told = [same_answer()(case(each, text)) for each in (text, other, text + "x")]
    assert [getattr(each, "verdict", None) for each in told] == [
        *(Verdict.HOLDS, Verdict.HOLDS),
        Verdict.BREAKS,
    ]


@given(MARKS, st.sampled_from(["NFC", "NFKD"]))
def test_putting_accents_in_order_first_changes_no_normal_form(text: str, form: Form) -> None:
    assert normal_form(form, text) == unicodedata.normalize(form, text)
