"""This module writes the two pages with the lists: of all documents, and of all questions. A script lets
the reader search them by typing. If the browser runs no scripts, the pages show the first entries
only."""

from collections.abc import Sequence

from markupsafe import Markup

from ...checking.figures import Share
from ...printable import printable, shortened
from ...report.html.markup import isolated, joined_markup
from ..result import Audit
from .blame_list import NO_LIST, blame_by_name, blamed
from .listing import found_by_typing
from .pages import DOCUMENTS, MOST_ON_A_PAGE, QUESTIONS, Places, and_more, page, question_file, section
from .tabular import NEEDED
from .words import legend

_FEW = 12
"""The maximum number of documents of a list that is visible at once. The reader must open a longer
list."""
_DOCUMENT_COLUMNS = (
    "Document", "Shown", "Bad", "Implicated", "Share", "Undecided", "Decisive", "Single point",
    "Redundant", "Conflicts", "Never needed", "Remove", "Blame",
)  # fmt: skip
_QUESTION_COLUMNS = ("Id", "Question", "Outcome", "Rules", "Documents", "Everything seen")
_DOCUMENT_FILTERS = (
    ("Implicated", 3), ("Decisive", 6), ("Single points of failure", 7), ("Redundant", 8),
    ("In conflict", 9), ("Never needed", 10, "yes"), ("Need undecided", 10, "undecided"),
    ("To remove", 11, "yes"), ("To blame", 12),
)  # fmt: skip
_QUESTION_FILTERS = tuple(
    (outcome.capitalize(), 2, outcome) for outcome in ("bad", "not bad", "undecided", "failed", "stopped")
)


def documents_page(places: Places, *, has_parquet: bool) -> str:
    """Returns the first page. ``has_parquet``: True if the tables were also written as Parquet."""
    audit = places.audit
    removed, blame = set(audit.removal.documents), blame_by_name(audit)
    rows = [
        [
            shortened(printable(row.name), 200),
            len(row.shown),
            len(row.bad),
            len(row.implicated),
            _interval(row.implicated_share),
            row.open,
            len(row.decisive),
            len(row.single_point),
            len(row.redundant),
            len(row.conflicts),
            NEEDED[row.never_needed],
            "yes" if row.name in removed else "",
            blame.get(row.name, NO_LIST)[0],
            places.documents[row.name],
        ]
        for row in audit.documents
    ]
    body = joined_markup(
        [
            Markup('<header><h1 class="question"><span>Audit</span>{}</h1>{}</header>\n<main>').format(
                _title(audit), _found(audit)
            ),
            section("Fewest documents to remove", _removal(places)),
            section("Documents to blame", blamed(places)),
            section("Questions without a result", _without_result(places)),
            section(
                f"Documents ({len(rows):,})",
                found_by_typing(rows, _DOCUMENT_COLUMNS, _DOCUMENT_FILTERS, DOCUMENTS),
            ),
            section("How to read this", legend(has_parquet=has_parquet)),
            Markup("</main>"),
        ]
    )
    return page("Audit of a corpus", body)


def questions_page(places: Places) -> str:
    """Returns the page with all questions."""
    rows = [
        [
            shortened(printable(each.id), 100),
            shortened(printable(each.question), 300),
            each.outcome,
            len(each.rules),
            len(each.shown),
            "yes" if each.exhaustive else "no",
            question_file(each.id),
        ]
        for each in places.audit.questions
    ]
    listed = found_by_typing(rows, _QUESTION_COLUMNS, _QUESTION_FILTERS, QUESTIONS)
    body = Markup(
        '<header><h1 class="question"><span>Audit</span>{}</h1></header>\n<main>{}</main>'
    ).format(printable(places.audit.summary), section(f"Questions ({len(rows):,})", listed))
    return page("Questions of an audit", body)


def _title(audit: Audit) -> str:
    return f"{len(audit.documents):,} documents, {printable(audit.summary)}"


def _found(audit: Audit) -> Markup:
    facts = [("An answer is bad if", audit.condition)]
    facts += [("It is good if", audit.good)] if audit.good else []
    facts.append(("Bad answers", str(audit.bad_share)))
    facts += [("Note", each) for each in audit.notes]
    return Markup("<dl>{}</dl>").format(
        joined_markup(
            Markup("<dt>{}</dt><dd>{}</dd>").format(name, isolated(printable(said)))
            for name, said in facts
        )
    )


def _removal(places: Places) -> Markup:
    removal = places.audit.removal
    documents = [places.document(each, "") for each in removal.documents[:MOST_ON_A_PAGE]]
    left = [
        Markup("{}: {}").format(places.question(identity, ""), isolated(printable(why)))
        for identity, why in removal.not_ended[:MOST_ON_A_PAGE]
    ]
    said, total = str(removal), len(removal.documents)
    few = total <= _FEW
    return joined_markup(
        [
            Markup("<p>{}.</p>").format(said[:1].upper() + said[1:]),
            _items(documents, total, "documents.csv")
            if few
            else _folded(f"The {total:,} documents", documents, total, "documents.csv"),
            _folded("Bad answers that are left", left, len(removal.not_ended)),
        ]
    )


def _without_result(places: Places) -> Markup:
    found = [each for each in places.audit.questions if not each.is_explained]
    items = [
        Markup("{}: {}, {}").format(
            places.question(each.id, ""), each.outcome, isolated(shortened(printable(each.reason), 300))
        )
        for each in found[:MOST_ON_A_PAGE]
    ]
    return _folded(f"{len(found):,}, which are in no figure", items, len(found))


def _items(items: Sequence[Markup], total: int, where: str) -> Markup:
    if not items:
        return Markup()
    listed = joined_markup(Markup("<li>{}</li>").format(each) for each in items)
    more = and_more(total - len(items), where)
    return Markup('<ul class="listed">{}</ul>{}').format(listed, more)


def _folded(heading: str, items: Sequence[Markup], total: int, where: str = "questions.csv") -> Markup:
    listed = _items(items, total, where)
    if not listed:
        return listed
    return Markup("<details><summary>{}</summary>{}</details>").format(heading, listed)


def _interval(found: Share) -> str:
    if found.value is None or found.low is None or found.high is None:
        return "–"
    return f"{found.value:.0%} ({found.low:.0%}–{found.high:.0%})"
