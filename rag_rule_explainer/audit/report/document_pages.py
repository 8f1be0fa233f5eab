"""This module writes the page of one document in the report of an audit."""

from collections.abc import Iterator, Mapping

from markupsafe import Markup

from ...printable import plain_id, printable
from ...report.html.markup import as_one, joined_markup, multiline
from ..tables import DocumentRow
from .blame_list import blamed_for
from .pages import MOST_ON_A_PAGE, Places, and_more, page, rule_item, section

_NEEDED = {
    True: "Never needed: no rule of any question names it, and there are no other rules.",
    False: "",
    None: (
        "Whether it is ever needed is not decided: no rule that is sure and minimal names it, but there "
        "may be others."
    ),
}


def document_page(places: Places, row: DocumentRow) -> str:
    """Returns the page of a document as HTML."""
    return page(row.name, joined_markup(_parts(places, row)), "../")


def _parts(places: Places, row: DocumentRow) -> Iterator[Markup]:
    yield Markup('<header><h1 class="question"><span>Document</span>{}</h1>').format(
        as_one(plain_id(row.name))
    )
    if row.name in places.audit.removal.documents:
        yield Markup('<p class="outcome bad">In the smallest removal against the bad answers.</p>')
    yield blamed_for(places.audit, row.name)
    yield Markup("</header>\n<main>{}").format(_figures(row))
    needed = _NEEDED[row.never_needed]
    if needed:
        yield Markup('<p class="ending {}">{}</p>').format("" if row.never_needed else "open", needed)
    yield section(f"Implicated in ({len(row.implicated):,})", _implicated(places, row, row.implicated))
    yield section(
        f"Perhaps implicated in, by rules that are not sure or not minimal ({len(row.unsure):,})",
        _implicated(places, row, row.unsure),
    )
    for heading, ids in (
        ("Decisive in: the bad answer is never given without it", row.decisive),
        (
            "Single point of failure of: without it, the answer is never what it should be",
            row.single_point,
        ),
    ):
        yield section(f"{heading} ({len(ids):,})", places.question_list(ids) if ids else Markup())
    yield section("Redundant with: either is enough", _others(places, row.redundant))
    yield section(
        "In conflict with: one makes answers bad, the other better", _others(places, row.conflicts)
    )
    text = places.audit.texts.get(row.key.sha256)
    if text:
        yield section("Text", Markup('<div class="text">{}</div>').format(multiline(text)))
    yield section(f"Shown with ({len(row.shown):,})", places.question_list(row.shown))
    yield Markup("</main>")


def _figures(row: DocumentRow) -> Markup:
    facts: list[tuple[str, object]] = [
        ("shown", f"{len(row.shown):,} questions"),
        ("bad answers where shown", row.bad_share),
        ("implicated", row.implicated_share),
        ("undecided", f"{row.open:,} questions, in no share"),
        ("in retention rules of the bad outcome", f"{len(row.retained):,} questions"),
        ("in omission rules that end it", f"{len(row.omitted):,} questions"),
    ]
    if row.omitted_good:
        facts.append(("in omission rules of the good outcome", f"{len(row.omitted_good):,} questions"))
    if row.ids != (row.name,):
        facts.append(("ids in explanations", ", ".join(map(printable, row.ids[:20]))))
    facts.append(("SHA-256 of its text", row.key.sha256))
    items = joined_markup(Markup("<dt>{}</dt><dd>{}</dd>").format(*each) for each in facts)
    return Markup("<dl>{}</dl>").format(items)


def _implicated(places: Places, row: DocumentRow, ids: list[str]) -> Markup:
    return joined_markup(
        Markup('<h3>{}</h3><ul class="rules found">{}</ul>').format(
            places.question(each), joined_markup(_rules(places, row, each))
        )
        for each in ids[:MOST_ON_A_PAGE]
    ) + and_more(len(ids) - MOST_ON_A_PAGE, "rules.csv")


def _rules(places: Places, row: DocumentRow, identity: str) -> Iterator[Markup]:
    question = places.questions[identity]
    keys = places.audit.names.keys(question)
    for rule in question.rules:
        if any(keys[each] == row.key for each in rule.documents):
            yield rule_item(places, question, rule, question.doubted)


def _others(places: Places, others: Mapping[str, list[str]]) -> Markup:
    if not others:
        return Markup()
    often = sorted(others, key=lambda name: (-len(others[name]), name))
    items = joined_markup(
        Markup("<li>{} <small>in {:,} question{}: {}</small></li>").format(
            places.document(name),
            len(others[name]),
            "" if len(others[name]) == 1 else "s",
            Markup(", ").join(places.question(each) for each in others[name][:3]),
        )
        for name in often[:MOST_ON_A_PAGE]
    )
    return Markup('<ul class="listed">{}</ul>{}').format(
        items, and_more(len(often) - MOST_ON_A_PAGE, "pairs.csv")
    )
