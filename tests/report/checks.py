"""Checks of questions to lay out, made without a command, and the validators of their forms."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import xmlschema

from rag_rule_explainer import Explanation, RuleKind
from rag_rule_explainer.explanation.deciding import Decision, decide_any_rule
from rag_rule_explainer.explanation.question_check import CheckedQuestion, FilePlace, QuestionCheck
from tests.comparison.explaining import explained
from tests.report.hostile import hostile_texts

HOSTILE = [*hostile_texts(), "x\n" * 500_000, "\ud800 alone \udfff", ""]
"""What questions, ids, answers, conditions and paths may be."""
SCHEMAS = Path(__file__).parents[1] / "support" / "schemas"


def asked(
    number: int, explanation: Explanation | None = None, max_size: int | None = 2, **more: Any
) -> CheckedQuestion:
    """What a command keeps of the question in this line of a file."""
    decisions: Mapping[RuleKind, Decision] = (
        {}
        if explanation is None
        else {
            kind: decide_any_rule(explanation, kind, max_size=max_size) for kind in explanation.predicates
        }
    )
    fields: dict[str, Any] = {
        "id": f"line {number}",
        "question": f"question {number}?",
        "place": FilePlace("questions.txt", number),
        "error": "" if explanation else "the application is away",
        **more,
    }
    return CheckedQuestion(explanation=explanation, decisions=decisions, **fields)


def finding(*names: str, **options: Any) -> Explanation:
    return explained(lambda shown: set(names or "a") <= shown, "abc", rules="retention", **options)


def clean() -> Explanation:
    return explained(lambda shown: False, "abc", rules="retention")


def unsure() -> Explanation:
    return explained(
        lambda shown: ValueError("away") if len(shown) == 2 else True, "abc", rules="retention"
    )


def check_of(*questions: CheckedQuestion, total: int | None = None, **more: Any) -> QuestionCheck:
    fields: dict[str, Any] = {"condition": "the answer contains 'yes'", "max_size": 2, **more}
    return QuestionCheck(questions=questions, total=len(questions) if total is None else total, **fields)


@cache
def _sarif() -> Any:
    import jsonschema  # here, since it takes a second, which every worker would spend

    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    return jsonschema.Draft7Validator(schema)


@cache
def _junit() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd")


def valid_sarif(text: str) -> dict[str, Any]:
    """Reads SARIF that its schema allows."""
    log = json.loads(text.encode("ascii"))
    assert [error.message for error in _sarif().iter_errors(log)] == []
    return log


def results_of(text: str) -> Sequence[Mapping[str, Any]]:
    (run,) = valid_sarif(text)["runs"]
    return run["results"]


def valid_junit(text: str) -> xmlschema.XmlDocument:
    """Reads JUnit XML that its schema allows."""
    assert text.isascii()
    return xmlschema.XmlDocument(text, schema=_junit())
