"""This module writes the page of one question in the report of an audit."""

from collections.abc import Iterator

from markupsafe import Markup

from ...printable import printable
from ...report.html.markup import as_one, isolated, joined_markup, multiline
from ...rules import RuleKind
from ..questions import AnswerOutcome, AuditedQuestion, RuleOutcome
from .pages import Places, page, rule_item, section

OUTCOME_WORDS: dict[AnswerOutcome, str] = {
    "bad": "The answer is bad",
    "not bad": "The answer is not bad",
    "undecided": "It is not decided whether the answer is bad",
    "failed": "The question failed, so it is in no table",
    "stopped": "The question was stopped, so it is in no table",
}
"""The words for the outcome of a question on its page."""
_GROUPS: tuple[tuple[RuleKind, RuleOutcome, str], ...] = (
    (RuleKind.RETENTION, "bad", "What makes it bad"),
    (RuleKind.OMISSION, "not bad", "What ends the bad answer"),
    (RuleKind.OMISSION, "good", "What makes it good when omitted"),
    (RuleKind.RETENTION, "not bad", "What keeps it from being bad"),
    (RuleKind.RETENTION, "good", "What makes it good"),
    (RuleKind.OMISSION, "bad", "What makes it bad when omitted"),
    (RuleKind.OMISSION, "not good", "What the good answer needs"),
    (RuleKind.RETENTION, "not good", "What keeps it from being good"),
)


def question_page(places: Places, question: AuditedQuestion) -> str:
    """Returns the page of a question as HTML."""
    return page(question.question, joined_markup(_parts(places, question)), "../")


def _parts(places: Places, question: AuditedQuestion) -> Iterator[Markup]:
    yield Markup('<header><h1 class="question"><span>Question {}</span>{}</h1>').format(
        as_one(printable(question.id)), isolated(printable(question.question))
    )
    yield Markup('<p class="outcome {}">{}{}.</p></header>\n<main>').format(
        question.outcome.replace(" ", "-"),
        OUTCOME_WORDS[question.outcome],
        Markup(": {}").format(isolated(printable(question.reason))) if question.reason else Markup(),
    )
    if question.answer:
        yield Markup(
            '<div class="answer"><h2>Answer with all documents</h2><div class="text">{}</div></div>'
        ).format(multiline(question.answer))
    for warning in question.warnings if question.doubted else ():
        yield Markup('<p class="warning">{}</p>').format(isolated(printable(warning)))
    yield _link(question)
    for kind, outcome, heading in _GROUPS:
        rules = question.rules_of(kind, outcome)
        items = joined_markup(rule_item(places, question, each, question.doubted) for each in rules)
        yield section(
            heading, Markup('<ul class="rules found">{}</ul>').format(items) if rules else items
        )
    if question.is_explained:
        yield _ending(question)
    yield section(f"Documents shown ({len(question.shown):,})", _shown(places, question))
    yield Markup("</main>")


def _link(question: AuditedQuestion) -> Markup:
    if not question.explanation:
        return Markup()
    return Markup('<p><a href="../{}">The whole explanation</a>: {:,} probes, {:,} replays</p>').format(
        question.explanation, question.probes, question.replays
    )


def _ending(question: AuditedQuestion) -> Markup:
    if question.exhaustive:
        said = "These are all minimal rules: the search looked at everything."
        return Markup('<p class="ending">{}</p>').format(said)
    return Markup('<p class="ending open">There may be other rules: {}</p>').format(
        isolated(printable(question.why_open))
    )


def _shown(places: Places, question: AuditedQuestion) -> Markup:
    if not question.shown:
        return Markup()
    keys = places.audit.names.keys(question)
    items = joined_markup(
        Markup("<li>{}{}</li>").format(
            places.document(places.audit.names.names[keys[each.id]]),
            Markup(' <span class="badge">pinned</span>') if each.pinned else Markup(),
        )
        for each in question.shown
    )
    return Markup('<ol class="listed numbered">{}</ol>').format(items)
