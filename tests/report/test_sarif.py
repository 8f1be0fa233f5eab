"""A check as SARIF: valid, the same in every run, within GitHub's limits, and nothing open passes."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.explanation.question_check import FilePlace
from rag_rule_explainer.report import sarif
from rag_rule_explainer.report.sarif import as_sarif
from tests.drawing import drawn, few
from tests.report.checks import HOSTILE, asked, check_of, clean, finding, results_of, unsure, valid_sarif


def test_each_outcome_in_its_place() -> None:
    check = check_of(asked(1, finding("b")), asked(2, clean()), asked(3, unsure()), asked(4))
    (run,) = valid_sarif(as_sarif(check))["runs"]
    found, open_one, failed = run["results"]
    assert (found["ruleId"], found["kind"], found["level"]) == (
        "forbidden-retention-rule",
        "fail",
        "error",
    )
    assert (
        "whenever b is retained, the answer contains 'yes' [proved on all 4 subsets]"
        in (found["message"]["text"])
    )
    assert {each["kind"] for each in (open_one, failed)} == {"open"}
    assert "no verdict with" in open_one["message"]["text"]
    lines = [each["locations"][0]["physicalLocation"]["region"]["startLine"] for each in run["results"]]
    assert lines == [1, 3, 4]
    (invocation,) = run["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 1)
    notices = [each["message"]["text"] for each in invocation["toolExecutionNotifications"]]
    assert [each.partition(":")[0] for each in notices] == ["line 3", "line 4"]


def test_the_document_is_the_place_where_it_is_known() -> None:
    known = {"b": FilePlace("corpus/b 1.md"), "c": FilePlace("corpus/c.md")}
    (result,) = results_of(as_sarif(check_of(asked(7, finding("b"), documents=known))))
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "corpus/b%201.md"
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["region"]["startLine"] == 7


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/tmp/q.txt", "file:///tmp/q.txt"),  # noqa: S108 -- a name
        ("C:/q.txt", "file:///C:/q.txt"),
        ("/a/inner/../q s.txt", "file:///a/q%20s.txt"),
        ("./corpus/../q.txt", "q.txt"),
        ("a:b.txt", "./a:b.txt"),
        ("q \ud800?.txt", "q%20%3F%3F.txt"),
    ],
)
def test_every_path_is_a_uri(path: str, uri: str) -> None:
    (result,) = results_of(as_sarif(check_of(asked(1, finding("b"), place=FilePlace(path)))))
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def what_stays(text: str) -> dict[str, Any]:
    return {json.dumps(each["partialFingerprints"]): each["ruleId"] for each in results_of(text)}


@given(st.integers(0, 1000))
def test_the_same_rules_have_the_same_fingerprints(seed: int) -> None:
    draw = random.Random(seed)
    first = [asked(1, finding("a", "b")), asked(2, finding("c")), asked(3, unsure()), asked(4)]
    again: list[Any] = []
    for one in first:
        explanation = one.explanation and one.explanation.model_copy(
            update={
                "id": str(draw.random()),
                "retention_rules": tuple(reversed(one.explanation.retention_rules)),
                "sources": tuple(draw.sample(one.explanation.sources, 3)),
            }
        )
        place = FilePlace("moved.txt", draw.randint(1, 99))
        again.append(replace(one, explanation=explanation, place=place, seconds=draw.random(), id="x"))
    draw.shuffle(again)
    assert what_stays(as_sarif(check_of(*first))) == what_stays(as_sarif(check_of(*again)))


def test_what_differs_has_another_fingerprint() -> None:
    checks = [
        check_of(asked(1, finding("a"))),
        check_of(asked(1, finding("b"))),
        check_of(asked(1, finding("a"), question="another?")),
        check_of(asked(1, finding("a")), condition="another"),
        check_of(asked(1)),
        check_of(asked(1, finding("a")), asked(2, finding("a"), question="question 1?")),
    ]
    fingerprints = [set(what_stays(as_sarif(check))) for check in checks]
    assert [len(each) for each in fingerprints] == [1, 1, 1, 1, 1, 2]
    assert len(set[str]().union(*fingerprints)) == 6


def test_github_takes_and_shows_so_many() -> None:
    assert (sarif.MOST_RESULTS, sarif.MOST_SHOWN) == (25_000, 5_000)


def test_what_github_does_not_take_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    # As many results as GitHub takes would take five seconds.
    monkeypatch.setattr(sarif, "MOST_RESULTS", 1_250)
    monkeypatch.setattr(sarif, "MOST_SHOWN", 250)
    one = asked(1, finding("b"))
    many = [replace(one, question=str(number)) for number in range(1_250)]
    (run,) = json.loads(as_sarif(check_of(*many, asked(1), asked(2))))["runs"]
    assert len(run["results"]) == 1_250
    assert {each["kind"] for each in run["results"]} == {"fail"}
    said = [each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]]
    assert said[:2] == [
        "2 of 1,252 results are left out: GitHub takes 1,250 a run",
        "GitHub shows 250 of the 1,250 results in this file",
    ]
    assert len(said) == 4


def test_an_interrupt_is_no_success() -> None:
    (run,) = valid_sarif(as_sarif(check_of(asked(1, clean()), total=3, interrupted=True)))["runs"]
    (invocation,) = run["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 130)
    (notice,) = invocation["toolExecutionNotifications"]
    assert notice["message"]["text"] == "3 questions: 0 with a finding, 0 undecided, 1 clean, 2 not asked"


@drawn
def test_hostile_texts_leave_it_valid() -> None:
    for text in few(HOSTILE):
        check_hostile(text)


def check_hostile(text: str) -> None:
    explanation = finding("b").model_copy(update={"question": text})
    rule = replace(explanation.retention_rules[0], condition=text, sources=(text,))
    explanation = explanation.model_copy(update={"retention_rules": (rule,), "predicates": {}})
    # A dict at run time.
    decided = replace(asked(1, finding("b")).decisions.popitem()[1], rules=(rule,))  # type: ignore[attr-defined]
    one = asked(1, explanation, id=text, question=text, place=FilePlace(text, 1))
    one = replace(one, decisions={rule.kind: decided}, documents={text: FilePlace(text)})
    written = as_sarif(check_of(one, asked(2, id=text, error=text), condition=text))
    assert len(results_of(written)) == 2
    assert len(written) < 30_000
