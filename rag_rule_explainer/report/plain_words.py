"""This module contains plain sentences for readers of a report. They explain what each kind of claim
guarantees, what would flip the outcome, and how to read a report. All forms of the report use them."""

from collections.abc import Callable, Mapping

from ..explanation.evidence import confidence_shown
from ..explanation.records import Counterfactual, Finding, Votes
from ..explanation.wording import named_units, phrase
from ..printable import printable, shortened
from ..rules import ClaimStatus
from ..verdicts import Verdict

GUARANTEES: Mapping[ClaimStatus, str] = {
    "proved": "Every combination of the other documents was tried, and it was so each time.",
    "confident": "Not always so: it was so in a share of the combinations of the other documents.",
    "tested": "Random combinations of the other documents were tried. Exceptions are possible.",
    "voted": "The answers vary. This is what most of several answers say, so exceptions are possible.",
    "relative": "Some documents were always kept, or always left out, so exceptions are possible.",
    "unverified": "Not verified: too few combinations were tried, or the first warning says why.",
}
"""For each kind of claim, a text that says what it guarantees. The numbers are in the rule's evidence."""


def pinned_stayed(finding: Finding) -> str:
    """Returns a sentence that names the pinned documents, because every guarantee assumes that these
    documents are retained. The sentence begins with a space. It is empty if there are no pinned
    documents."""
    said = printable(finding.pinned)
    return f" {said[:1].upper()}{said[1:]}." if said else ""


def guarantee_of(finding: Finding) -> str:
    """Returns a text that says what the claim of a rule guarantees. If the rule may break, the text gives
    the share of the combinations in which the rule was seen to hold."""
    always = pinned_stayed(finding)
    if finding.claim != "confident":
        return f"{GUARANTEES[finding.claim]}{always}"
    tried = finding.observed + finding.broken
    least = "" if tried == finding.applicable else "at least "
    return (
        f"Not always so: it was so in {least}{confidence_shown(finding)} of the combinations of the "
        f"other documents.{always}"
    )


def votes_in_words(votes: Votes, verdict: Verdict) -> str:
    """Returns how many of the votes agree with the verdict, such as "3 of 4"."""
    if verdict is Verdict.UNKNOWN:
        return f"{votes.holds} for, {votes.breaks} against"
    agreeing = votes.holds if verdict is Verdict.HOLDS else votes.breaks
    return f"{agreeing} of {votes.holds + votes.breaks}"


SIGNS: Mapping[ClaimStatus, str] = {
    "proved": "✔",
    "confident": "◕",
    "tested": "◐",
    "voted": "≈",
    "relative": "▣",
    "unverified": "?",
}
"""The sign of each kind of claim. No two kinds have the same sign."""

_WHAT_WAS_DONE = (
    "The question was asked again and again, each time with some of the documents and without the "
    "others. Each answer was checked against the condition."
)
_WHAT_A_RULE_IS = (
    "A smallest set of documents that settles the outcome by being retained (retention rule) or by being "
    "omitted (omission rule). A rule speaks about this application and this question. It does not say "
    "whether a document is right."
)
_WHAT_IMPORTANCE_IS = (
    "How much a document counts in all rules of one kind, from 0 to 1. Documents that no rule names "
    "count 0 and are left out."
)
_WHAT_CHANGES_ARE = (
    "What flips the outcome when it is removed from all documents. Nothing smaller does; where that "
    "was not tried, it is said."
)
LEGEND: tuple[tuple[str, str], ...] = (
    ("What was done", _WHAT_WAS_DONE),
    ("Retained, omitted", "A retained document was given to the application; an omitted one was not."),
    ("Rule", _WHAT_A_RULE_IS),
    *((f"“{claim}”", guarantee) for claim, guarantee in GUARANTEES.items()),
    ("Smallest changes", _WHAT_CHANGES_ARE),
    ("Importance", _WHAT_IMPORTANCE_IS),
    ("Any other word", "The command “rag-rules help” explains it, such as “rag-rules help witness”."),
)
"""The terms that a report uses, each with its meaning."""


def change_in_words(
    found: Counterfactual, named: Callable[[str], str], *, has_pinned: bool = False
) -> str:
    """Returns a counterfactual as a sentence, such as "Without D1, the answer becomes 'no'". ``named``:
    a function that returns the printable name of an id. ``has_pinned``: True if some sources were
    always retained."""
    units = phrase(named_units(found.sources, found.tied, named))
    alone = "and the pinned documents alone" if has_pinned else "and nothing else"
    change = f"Without {units}" if found.change == "removal" else f"With {units} {alone}"
    if found.answer is None:
        return f"{change}, the outcome flips"
    return f"{change}, the answer becomes {printable(repr(shortened(found.answer, 160)))}"
