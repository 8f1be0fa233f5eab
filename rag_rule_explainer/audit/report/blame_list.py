"""This module writes the list of documents to blame."""

from markupsafe import Markup

from ...report.html.markup import isolated, joined_markup
from ..blame import BlamedDocument
from ..result import Audit
from .pages import MOST_ON_A_PAGE, Places, and_more

NO_LIST = "", None
"""The cells in the columns ``blame`` and ``blame_p_value`` of a document that is not on the list."""


def blamed(places: Places) -> Markup:
    """Returns the documents to blame, with links; nothing if no false discovery rate was set."""
    found = places.audit.blame
    if found is None:
        return Markup()
    head = Markup(
        '<p class="aside">Under a false discovery rate of {:g}: on average over such audits, at most '
        "this share of the documents listed is innocent. A document that is not listed may be to blame "
        "as well. {}.</p>"
    ).format(found.plan.fdr, str(found.plan).capitalize())
    items = joined_markup(
        Markup("<li>{} <small>{}</small></li>").format(
            places.document(each.document, ""), isolated(each.evidence)
        )
        for each in found[:MOST_ON_A_PAGE]
    )
    return Markup('{}<ul class="listed">{}</ul>{}').format(
        head, items or Markup("<li>None.</li>"), and_more(len(found) - MOST_ON_A_PAGE, "documents.csv")
    )


def blame_by_name(audit: Audit) -> dict[str, tuple[str, float | None]]:
    """Returns for each document that is listed, by its name, the basis of the blame and its p-value."""
    return {} if audit.blame is None else {each.document: _cells(each) for each in audit.blame}


def blamed_for(audit: Audit, name: str) -> Markup:
    """Returns the line that says on a document's page why the document is to blame; nothing if it is not
    on the list."""
    found = next((each for each in audit.blame or () if each.document == name), None)
    if found is None:
        return Markup()
    return Markup('<p class="outcome bad">To blame: {}.</p>').format(isolated(found.evidence))


def _cells(found: BlamedDocument) -> tuple[str, float | None]:
    return found.basis, None if found.p_value is None else float(found.p_value)
