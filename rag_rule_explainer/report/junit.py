"""This module writes a check of questions as JUnit XML, with one test case for each question. A question
with a forbidden rule (sources that bring about a forbidden answer) is a failure. An undecided question is
an error, so no reader of the file takes it for passed."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

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


def as_junit(check: QuestionCheck) -> str:
    """Returns the check as JUnit XML, in ASCII, ending in a newline. If some questions were not asked,
    one further test case reports an error for all of them."""
    left = check.total - len(check.questions)
    counts = {
        "tests": str(len(check.questions) + bool(left)),
        "failures": str(check.count("finding")),
        "errors": str(check.count("undecided") + bool(left)),
        "skipped": "0",
        "time": f"{sum(each.seconds for each in check.questions):.3f}",
    }
    root = Element("testsuites")
    suite = SubElement(
        root, "testsuite", {"name": f"rag-rules check: {brief_text(check.condition, 300)}", **counts}
    )
    for each in check.questions:
        _add_case(suite, check, each)
    if left:
        case = SubElement(suite, "testcase", {"classname": "rag-rules", "name": "not asked", "time": "0"})
        SubElement(case, "error", {"type": "NotAsked", "message": check.summary}).text = check.summary
    indent(root)
    return tostring(root, encoding="us-ascii", xml_declaration=True).decode("ascii") + "\n"


def _add_case(suite: Element, check: QuestionCheck, checked: CheckedQuestion) -> None:
    place = f"{brief_text(checked.place.path, 300)}:{checked.place.line}"
    named = {"classname": place, "name": named_question(checked), "time": f"{checked.seconds:.3f}"}
    case = SubElement(suite, "testcase", named)
    if checked.outcome == "finding":
        lines = list(_found(checked))
        failure = SubElement(case, "failure", {"type": "ForbiddenRule", "message": lines[0]})
        failure.text = "\n".join(lines)
    elif checked.outcome == "undecided":
        said = undecided_line(checked)
        error = SubElement(case, "error", {"type": "Undecided", "message": said})
        error.text = "\n".join(
            [said, *(rule.brief_with_evidence(LONGEST_TEXT) for rule in checked.open_rules[:10])]
        )
    else:
        out = SubElement(case, "system-out")
        out.text = "\n".join(filter(None, (clean_line(check, checked), chance_line(checked))))


def _found(checked: CheckedQuestion) -> Iterator[str]:
    for rule in checked.rules:
        yield from rule_lines(checked, rule)
    if not checked.rules:
        yield "all sources together bring about the forbidden answer"
    if chance := chance_line(checked):
        yield chance
