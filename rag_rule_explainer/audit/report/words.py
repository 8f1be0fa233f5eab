"""This module explains the words of the report of an audit."""

from collections.abc import Mapping

from markupsafe import Markup

from ...report.html.markup import joined_markup

TERMS: Mapping[str, str] = {
    "Counts": (
        "They are numbers of questions. Only rules count that are proved, or that passed the votes "
        "or the test that was asked for, and that are known to be minimal."
    ),
    "Implicated": (
        "A rule names the document by which answers are bad while it is retained, or not bad (or "
        "good) while it is omitted."
    ),
    "Share": (
        "Of the questions that decide it, those in which it is implicated. The interval is "
        "Wilson's, of 95 %, for questions drawn independently."
    ),
    "Undecided": "Questions that do not decide whether it is implicated. They are in no share.",
    "Decisive": (
        "The answer is bad, and it never is without this document, whichever others are there. Pinned "
        "ones always are, and near-duplicates that were tied are there together."
    ),
    "Single point": (
        "A single point of failure: the answer is not bad (or is good), and it never is so without "
        "this document."
    ),
    "Redundant": "The number of documents of which one is enough in the place of the other.",
    "Conflicts": (
        "The number of documents that make the answers to the same questions better where this one "
        "makes them bad, or the other way round."
    ),
    "Never needed": (
        "No rule names it in any question that shows it, and there are no other rules. This is "
        "undecided if there may be others."
    ),
    "Remove": (
        "It is in the smallest set of documents whose removal ends the bad answers, as far as the claim "
        "of the set goes."
    ),
    "Blame": "Why it is in the list of documents to blame, if a false discovery rate was set.",
}
"""The columns of the list of documents, and what they count."""


def legend(*, has_parquet: bool) -> Markup:
    """Returns the explanation of the words of the report, as HTML. ``has_parquet``: True if the tables
    were also written as Parquet."""
    formats = "CSV and Parquet" if has_parquet else "CSV, and with the extra parquet also as Parquet"
    tables = "Tables", f"Documents, questions, rules and pairs are beside this page as {formats}."
    terms = joined_markup(
        Markup("<dt>{}</dt><dd>{}</dd>").format(*each) for each in (*TERMS.items(), tables)
    )
    return Markup("<dl>{}</dl>").format(terms)
