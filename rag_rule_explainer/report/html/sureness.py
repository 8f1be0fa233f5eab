"""This module says in plain words how certain a rule is, and which documents the search tried one by
one."""

from collections.abc import Iterator

from markupsafe import Markup

from ...explanation.explanation import Explanation
from ...explanation.records import DROPPED, Finding
from ...explanation.wording import phrase
from ...printable import shortened
from ...rules import RuleKind
from ...verdicts import Verdict
from ..plain_words import SIGNS, guarantee_of, pinned_stayed, votes_in_words
from ..subsets import has_pinned
from ..view import own_subset
from .markup import joined_markup
from .naming import SourceNames

_SHORT = 80
"""The maximum number of characters of evidence that is visible at once. The reader must open longer
evidence."""
_MOST_NAMED = 8
_MOST_COUNTED = 30
"""If at most this number of documents are not named by a rule, the sentence about the rule says how many
combinations of these documents there are. For more documents, only the evidence says it."""


def claim_of(explanation: Explanation, rule: Finding, support: str) -> Markup:
    """Returns what a rule guarantees, as HTML: the sign of its kind of claim, a plain sentence, and the
    evidence. ``support``: the evidence of the rule in words."""
    evidence = shortened(support, 1000)
    # Most readers need only the plain sentence, so long evidence with its figures must be opened.
    shown = (
        Markup("<small>Evidence: {}</small>").format(evidence)
        if len(evidence) <= _SHORT
        else Markup("<details><summary>Evidence ({})</summary>{}</details>").format(rule.claim, evidence)
    )
    return Markup('<div class="claim {}"><p><span aria-hidden="true">{}</span> {}</p>{}</div>').format(
        rule.claim, SIGNS[rule.claim], _guarantee(explanation, rule), shown
    )


def looked_at(explanation: Explanation, names: SourceNames) -> Markup:
    """Returns which documents were tried one by one, if the search first tried groups of documents and
    then dropped the groups that no rule named. Empty if it dropped none."""
    if explanation.stop_reason != DROPPED:
        return Markup()
    said = dict.fromkeys(_closely(explanation, names))
    return joined_markup(Markup("<span>{}</span>").format(each) for each in said)


def _guarantee(explanation: Explanation, rule: Finding) -> str:
    others = len(explanation.sources) - len(rule.sources)
    if rule.claim == "tested" and rule.draws:
        always = explanation.min_confidence == 1 and not explanation.voted and not rule.broken
        is_counted = others <= _MOST_COUNTED and rule.applicable == 1 << others
        tried = (
            f"Of the {rule.applicable:,} combinations of the other documents, {rule.draws:,} drawn at "
            "random were tried"
            if is_counted
            else f"{rule.draws:,} random combinations of the other documents were tried"
        )
        so = ", and it was so each time" if always else ""
        return f"{tried}{so}. Exceptions are possible.{pinned_stayed(rule)}"
    if rule.claim == "voted":
        return _vote(explanation, rule) or guarantee_of(rule)
    # Near-duplicates are kept or left out together, and pinned documents are always kept. With such
    # documents, there are fewer combinations than the sentences below state, so a general sentence is
    # used.
    if rule.claim != "proved" or others > _MOST_COUNTED or rule.applicable != 1 << others:
        return guarantee_of(rule)
    if others == 0:
        return "There are no other documents. It was tried, and it was so."
    other = "other " if rule.sources else ""
    if others == 1:
        return f"It was tried with and without the {other}document, and it was so both times."
    return (
        f"All {rule.applicable:,} combinations of the {other}{others} documents were tried, "
        "and it was so each time."
    )


def _vote(explanation: Explanation, rule: Finding) -> str:
    """Returns, in words, how many answers agreed with a voted rule when exactly its sources were retained
    (or omitted). Empty if there was no vote on this subset, if pinned or other sources were retained
    beside the rule's sources, or if the rule names no source."""
    own = own_subset(explanation, rule)
    votes = next(
        (
            each.votes[rule.kind]
            for each in explanation.probes
            if rule.kind in each.votes and own == frozenset(each.kept)
        ),
        None,
    )
    if votes is None or has_pinned(explanation) or rule.with_others or not rule.sources:
        return ""
    where = "With nothing else" if rule.kind is RuleKind.RETENTION else "With all other documents"
    share = votes_in_words(votes, Verdict.HOLDS)
    return f"The answers vary. {where}, {share} answers said so. Exceptions are possible."


def _closely(explanation: Explanation, names: SourceNames) -> Iterator[Markup]:
    kinds = [(kind, _kept(explanation, kind)) for kind in explanation.predicates]
    alike = len({kept for _, kept in kinds}) == 1
    free = sum(not source.pinned for source in explanation.sources)
    for kind, kept in kinds:
        if not kept:
            yield Markup("Some documents were tried in fewer combinations than others.")
            continue
        among = (
            names.sentence(phrase(list(map(names.placeholder, kept))))
            if len(kept) <= _MOST_NAMED
            else Markup()
        )
        yield Markup(
            "{}ooked closely at {:,} of the {:,} documents{}; {}. Rules that name {} may be missing."
        ).format(
            "The search l" if alike else f"For {kind.value} rules, the search l",
            len(kept),
            free,
            Markup(" ({})").format(among) if among else "",
            *_others(free - len(kept)),
        )


def _others(count: int) -> tuple[str, str]:
    # The sentences do not say that the dropped documents were never tried one by one, because some of
    # them may have been.
    if count == 1:
        return "the other one was tried in fewer combinations", "it"
    return f"the other {count:,} were tried in fewer combinations", "them"


def _kept(explanation: Explanation, kind: RuleKind) -> tuple[str, ...]:
    """Returns the sources among which all rules of a kind were tested, without the pinned sources.
    Returns none if there is no rule of this kind, if the rules were tested among all sources, or if
    different rules were tested among different sources."""
    pinned = {source.id for source in explanation.sources if source.pinned}
    shares = {
        tuple(each for each in rule.kept if each not in pinned)
        for rule in explanation.rules
        if rule.kind is kind
    }
    return shares.pop() if len(shares) == 1 else ()
