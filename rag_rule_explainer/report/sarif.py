"""This module writes a check of questions as SARIF 2.1.0, for code scanning.

Each forbidden rule (sources that bring about a forbidden answer) is a result. Each undecided question is
a result of the kind *open* and also a notification, so no tool takes it for passed. The ids and the
fingerprints of results depend only on the question, the condition and the sources of the rule. So they
are the same in every run.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from posixpath import normpath
from typing import Any, TypeAlias
from urllib.parse import quote

from ..explanation.question_check import CheckedQuestion, FilePlace, QuestionCheck
from ..explanation.records import Finding
from ..printable import cut_in_the_middle, printable
from ..rules import RuleKind
from ..version import __version__
from .check_view import (
    LONGEST_TEXT,
    chance_line,
    condition_said,
    named_question,
    rule_lines,
    undecided_line,
)

MOST_RESULTS = 25_000
"""The maximum number of results that GitHub accepts in one run of SARIF."""
MOST_SHOWN = 5_000
"""The maximum number of results that GitHub shows of one run of SARIF."""
_MOST_PLACES = 100
_LONGEST_PATH = 4096
_UNDECIDED = "undecided"

JsonDict: TypeAlias = dict[str, Any]


def as_sarif(check: QuestionCheck) -> str:
    """Returns the check as SARIF, in ASCII, ending in a newline."""
    results = list(_results(check))
    left_out = len(results) - MOST_RESULTS
    notes = [_notice(said, "warning") for said in _said_of_limits(len(results), left_out)]
    notes += [
        _notice(f"{named_question(each)}: {undecided_line(each)}", "error", each.place)
        for each in check.questions
        if each.outcome == "undecided"
    ]
    if len(check.questions) < check.total:
        notes.append(_notice(check.summary, "error"))
    ended = not check.interrupted and all(each.explanation for each in check.questions)
    invocation = {
        "executionSuccessful": ended,
        "exitCode": check.exit_code,
        "toolExecutionNotifications": notes[:MOST_RESULTS],
    }
    driver = {
        "name": "rag-rules",
        "semanticVersion": __version__,
        "rules": [_descriptor(check, kind) for kind in RuleKind] + [_undecided_descriptor()],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The folder of the check."}}},
        "results": results[:MOST_RESULTS],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return f"{json.dumps(log, indent=1)}\n"


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def _results(check: QuestionCheck) -> Iterator[JsonDict]:
    """Yields the results: first the forbidden rules that were found, beginning with those that name the
    fewest sources, then the undecided questions. The order matters, because GitHub shows only the first
    results of a long list."""
    repeated = Counter[str]()
    numbered = [(each, _nth(repeated, each.question)) for each in check.questions]
    found = [(each, nth, rule) for each, nth in numbered for rule in each.rules]
    for each, nth, rule in sorted(found, key=lambda one: len(one[2].sources)):
        yield _finding(check, each, rule, nth)
    for each, nth in numbered:
        if each.outcome == "finding" and not each.rules:
            yield _whole(check, each, nth)
    for each, nth in numbered:
        if each.outcome == "undecided":
            yield _open(check, each, nth)


def _nth(repeated: Counter[str], question: str) -> int:
    repeated[question] += 1
    return repeated[question]


def _finding(check: QuestionCheck, checked: CheckedQuestion, rule: Finding, nth: int) -> JsonDict:
    lines = [named_question(checked), *rule_lines(checked, rule), chance_line(checked)]
    places = [checked.documents[each] for each in rule.sources if each in checked.documents]
    return {
        "ruleId": _rule_id(rule.kind),
        "level": "error",
        "kind": "fail",
        "message": {"text": "\n".join(filter(None, lines))},
        **_located([*places, checked.place]),
        "partialFingerprints": _fingerprints(
            check.condition, rule.kind.value, checked.question, nth, *sorted(rule.sources)
        ),
        "properties": {
            "claim": rule.claim,
            "sources": [cut_in_the_middle(printable(each), 300) for each in rule.sources[:100]],
        },
    }


def _whole(check: QuestionCheck, checked: CheckedQuestion, nth: int) -> JsonDict:
    """Returns the result for a question that certainly has a forbidden rule, although the check lists
    none. The result is then about all sources together. ``nth``: 1 if the question stands in the file for
    the first time, 2 for the second time, and so on."""
    kind = next(kind for kind, each in checked.decisions.items() if each.holds)
    said = f"{named_question(checked)}\nall sources together: {condition_said(check, kind)}"
    return {
        "ruleId": _rule_id(kind),
        "level": "error",
        "kind": "fail",
        "message": {"text": said},
        **_located([checked.place]),
        "partialFingerprints": _fingerprints(check.condition, kind.value, checked.question, nth),
    }


def _open(check: QuestionCheck, checked: CheckedQuestion, nth: int) -> JsonDict:
    lines = [named_question(checked), undecided_line(checked)]
    lines += [rule.brief_with_evidence(LONGEST_TEXT) for rule in checked.open_rules[:10]]
    return {
        "ruleId": _UNDECIDED,
        "level": "none",
        "kind": "open",
        "message": {"text": "\n".join(lines)},
        **_located([checked.place]),
        "partialFingerprints": _fingerprints(check.condition, _UNDECIDED, checked.question, nth),
    }


def _located(places: Sequence[FilePlace]) -> JsonDict:
    """Returns the SARIF properties for these places. The first place is the location of the result, and
    the others are its related locations."""
    first, *others = (_location(place) for place in dict.fromkeys(places[:_MOST_PLACES]))
    related = [{**each, "id": number} for number, each in enumerate(others, start=1)]
    return {"locations": [first], **({"relatedLocations": related} if related else {})}


def _location(place: FilePlace) -> JsonDict:
    path = quote(normpath(place.path[:_LONGEST_PATH]), safe="/:", errors="replace")
    is_absolute = path.startswith("/") or path[1:3] == ":/"
    below: JsonDict = {"uri": f"./{path}" if ":" in path else path, "uriBaseId": "SRCROOT"}
    outside: JsonDict = {"uri": f"file:///{path.lstrip('/')}"}
    return {
        "physicalLocation": {
            "artifactLocation": outside if is_absolute else below,
            "region": {"startLine": max(1, place.line)},
        }
    }


def _fingerprints(*parts: object) -> JsonDict:
    written = json.dumps(parts)
    digest = sha256(written.encode()).hexdigest()
    # GitHub reads only the first of the two fingerprints. The second has a name of this package, for
    # other tools.
    return {"primaryLocationLineHash": f"{digest[:16]}:1", "ragRules/v1": digest}


def _rule_id(kind: RuleKind) -> str:
    return f"forbidden-{kind.value}-rule"


def _descriptor(check: QuestionCheck, kind: RuleKind) -> JsonDict:
    return {
        "id": _rule_id(kind),
        "name": f"Forbidden{kind.value.capitalize()}Rule",
        "shortDescription": {"text": f"Documents {_DOING[kind]} a forbidden answer"},
        "fullDescription": {"text": condition_said(check, kind)},
        "help": {"text": "Correct or remove one of the documents that the rule names, and check again."},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["rag"], "precision": "high", "problem.severity": "error"},
    }


_DOING = {RuleKind.RETENTION: "bring about", RuleKind.OMISSION: "that are missing bring about"}


def _undecided_descriptor() -> JsonDict:
    return {
        "id": _UNDECIDED,
        "name": "UndecidedQuestion",
        "shortDescription": {"text": "It is not decided whether there is a forbidden rule"},
        "help": {"text": "The message says why, such as a limit or an answer without a verdict."},
        "defaultConfiguration": {"level": "none"},
        "properties": {"tags": ["rag"], "problem.severity": "recommendation"},
    }


def _notice(said: str, level: str, place: FilePlace | None = None) -> JsonDict:
    placed = {} if place is None else {"locations": [_location(place)]}
    return {"level": level, "message": {"text": said}, **placed}


def _said_of_limits(results: int, left_out: int) -> Iterator[str]:
    if left_out > 0:
        yield f"{left_out:,} of {results:,} results are left out: GitHub takes {MOST_RESULTS:,} a run"
    if results > MOST_SHOWN:
        yield f"GitHub shows {MOST_SHOWN:,} of the {min(results, MOST_RESULTS):,} results in this file"
