"""A check as JUnit XML: valid, a failure where something was found, an error where it is open."""

from dataclasses import replace
from xml.etree.ElementTree import fromstring

from rag_rule_explainer.explanation.question_check import FilePlace
from rag_rule_explainer.report.junit import as_junit
from tests.drawing import drawn, few
from tests.report.checks import HOSTILE, asked, check_of, clean, finding, unsure, valid_junit


def test_each_outcome_is_what_ci_takes_it_for() -> None:
    check = check_of(asked(1, finding("b")), asked(2, clean()), asked(3, unsure()), asked(4), total=6)
    text = as_junit(check)
    valid_junit(text)
    (suite,) = fromstring(text)  # noqa: S314 -- ours
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "1",
        "errors": "3",
        "skipped": "0",
    }
    children = [[child.tag for child in case] for case in suite]
    assert children == [["failure"], ["system-out"], ["error"], ["error"], ["error"]]
    first = suite[0]
    assert (first.get("classname"), first.get("name")) == ("questions.txt:1", "line 1: question 1?")
    assert (first[0].text or "").splitlines() == [
        "whenever b is retained, the answer contains 'yes' [proved on all 4 subsets]",
        "with b retained, it answered: yes",
    ]
    assert suite[1][0].text == "no retention rule of at most 2 sources for: the answer contains 'yes'"
    assert (
        suite[4][0].get("message") == "6 questions: 1 with a finding, 2 undecided, 1 clean, 2 not asked"
    )


@drawn
def test_hostile_texts_leave_it_valid() -> None:
    for text in few(HOSTILE):
        check_hostile(text)


def check_hostile(text: str) -> None:
    explanation = finding("b")
    rule = replace(explanation.retention_rules[0], condition=text, sources=(text,))
    one = asked(1, explanation, id=text, question=text, place=FilePlace(text, 1))
    ((kind, decision),) = one.decisions.items()
    one = replace(one, decisions={kind: replace(decision, rules=(rule,))})
    written = as_junit(check_of(one, asked(2, id=text, error=text), condition=text))
    valid_junit(written)
    assert len(written) < 20_000
