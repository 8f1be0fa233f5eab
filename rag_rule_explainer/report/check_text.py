"""This module writes a check of questions as text, and as JSON. A check finds out for each question
whether there is a forbidden rule: a few sources that bring about an answer that the user has
forbidden."""

import json
from collections.abc import Iterator
from typing import Any

from ..explanation.question_check import CheckedQuestion, QuestionCheck
from .check_view import (
    LONGEST_TEXT,
    brief_text,
    chance_line,
    clean_line,
    named_question,
    rule_lines,
    undecided_line,
)


def as_check_text(check: QuestionCheck) -> str:
    """Returns the check as text: first, for each question, its outcome with the forbidden rules (sources
    that bring about a forbidden answer), and then the number of questions with each outcome."""
    return "".join(f"{line.rstrip()}\n" for line in _lines(check))


def _lines(check: QuestionCheck) -> Iterator[str]:
    for checked in check.questions:
        place = f"{brief_text(checked.place.path, 300)}:{checked.place.line}"
        yield f"{checked.outcome.upper():9}  {place}  {named_question(checked)}"
        yield from (f"           {line}" for line in _said(check, checked))
    yield check.summary


def _said(check: QuestionCheck, checked: CheckedQuestion) -> Iterator[str]:
    if checked.outcome == "undecided":
        yield undecided_line(checked)
        yield from (rule.brief_with_evidence(LONGEST_TEXT) for rule in checked.open_rules[:10])
        return
    for rule in checked.rules:
        yield from rule_lines(checked, rule)
    if checked.outcome == "finding" and not checked.rules:
        yield "all sources together bring about the forbidden answer"
    if checked.outcome == "clean":
        yield clean_line(check, checked)
    if chance := chance_line(checked):
        yield chance


def as_check_json(check: QuestionCheck) -> str:
    """Returns the check as JSON, in ASCII. It has the outcome and the rules of each question, but not the
    explanations."""
    written = {
        "schema_version": 1,
        "condition": brief_text(check.condition),
        "max_size": check.max_size,
        "exit_code": check.exit_code,
        "total": check.total,
        "interrupted": check.interrupted,
        "questions": [_entry(each) for each in check.questions],
    }
    return f"{json.dumps(written, indent=2)}\n"


def _entry(checked: CheckedQuestion) -> dict[str, Any]:
    return {
        "id": brief_text(checked.id),
        "question": brief_text(checked.question),
        "file": brief_text(checked.place.path),
        "line": checked.place.line,
        "outcome": checked.outcome,
        "why": brief_text(checked.why_undecided),
        "wrong": checked.wrong,
        "shown_by_plain_answer": checked.is_shown,
        "rules": [
            {
                "kind": rule.kind.value,
                "sources": [brief_text(each) for each in rule.sources],
                "rule": rule.brief(LONGEST_TEXT),
                "claim": rule.claim,
                "evidence": brief_text(rule.evidence),
                "decided": rule in checked.rules,
            }
            for rule in (*checked.rules, *checked.open_rules)
        ],
    }
