"""This module decides what a report says about checked questions. Control characters in questions,
answers and ids are escaped, so that they can be printed."""

from collections.abc import Iterator

from ..explanation.judged_subsets import own_probe
from ..explanation.question_check import CheckedQuestion, QuestionCheck
from ..explanation.records import Finding, past_tense
from ..explanation.wording import few_of
from ..printable import printable, shortened
from ..rules import RuleKind

LONGEST_TEXT = 1000
"""The maximum number of characters that a report of a check shows of one question, answer or id."""


def brief_text(text: str, most: int = LONGEST_TEXT) -> str:
    """Returns the text on one line, with at most ``most`` characters. Control characters are escaped."""
    # The text is cut before it is made printable, because escaping a megabyte takes long.
    return shortened(printable(text[: most + 1]), most)


def named_question(checked: CheckedQuestion) -> str:
    """Returns the id of a question followed by its text."""
    said = brief_text(checked.question, 200)
    return f"{brief_text(checked.id, 100)}: {said}"


def rule_lines(checked: CheckedQuestion, rule: Finding) -> Iterator[str]:
    """Yields a line with the rule and its evidence. If the explanation has the answer from only the
    rule's sources (for omission rules: without them), yields a second line with this answer."""
    yield rule.brief_with_evidence(LONGEST_TEXT)
    example = own_probe(checked.explanation, rule) if checked.explanation else None
    if example is not None and example.answer is not None:
        answer = brief_text(example.answer, 200)
        yield f"with {few_of(example.kept) or 'no sources'} retained, it answered: {answer}"


def undecided_line(checked: CheckedQuestion) -> str:
    """Returns a line that says why a question is undecided. If some sources may together be a forbidden
    rule, the line also names them."""
    could_be = (
        few_of(each.open) for each in checked.decisions.values() if each.holds is None and each.open
    )
    perhaps = next(could_be, "")
    said = f" (perhaps: {perhaps})" if perhaps else ""
    return f"undecided{said}: {brief_text(checked.why_undecided or 'it was not asked')}"


def chance_line(checked: CheckedQuestion) -> str:
    """Returns the upper bound of the chance that the outcome is wrong, in words; empty if the outcome
    cannot be wrong."""
    assuming = next((each.assuming for each in checked.decisions.values() if each.assuming), "")
    after = f", {assuming}" if assuming else ""
    return f"wrong with a chance of at most {checked.wrong:.2g}{after}" if checked.wrong else ""


def clean_line(check: QuestionCheck, checked: CheckedQuestion) -> str:
    """Returns a line for a question that has no forbidden rule (sources that bring about a forbidden
    answer). The line says which kinds of rules, and up to which number of sources, do not exist."""
    size = "" if check.max_size is None else f" of at most {check.max_size} sources"
    kinds = " or ".join(kind.value for kind in checked.decisions)
    return f"no {kinds} rule{size} for: {brief_text(check.condition, 300)}"


def condition_said(check: QuestionCheck, kind: RuleKind) -> str:
    """Returns a sentence that says what a forbidden rule of this kind means for a question that has
    it."""
    condition = brief_text(check.condition, 300)
    return f"Whenever some documents are {past_tense(kind)}, {condition}, which is forbidden."
