"""This module finds the smallest set of documents whose removal ends the bad answers of a log.

A question's bad answer is gone for certain once all documents of one of its omission rules are removed.
So one of these rules is chosen for each question, such that all chosen rules together name few
documents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from ..rules import ClaimStatus, RuleKind
from .covering import MOST_CORES, Choice, Choices, cover
from .documents import DocumentNames
from .questions import AuditedQuestion, AuditedRule

_SUREST_FIRST: tuple[ClaimStatus, ...] = ("proved", "voted", "tested", "relative")


@dataclass(frozen=True, slots=True)
class Removal:
    """A ``Removal`` is a set of documents whose removal ends the bad answers, as far as its rules claim.

    ``documents``: the names of the documents. ``ended``: the ids of the questions whose bad answer
    cannot come back without them, as far as ``claim`` goes. ``not_ended``: ids of questions with a bad
    answer that no sure omission rule ends, each with the reason. ``claim``: the weakest claim among the
    rules that end the bad answers of ``ended``; None if there is none. It is "relative" if one of these
    rules does not cover all subsets; ``limits`` names the subsets that are not covered. ``at_least``: no
    set of fewer documents ends the bad answers of ``ended``.

    ``rare``: the ids of the questions whose bad answer was seen to come back on some subsets without the
    documents. A minimum confidence below 1 allows this. ``confidence``: each of these answers is not bad
    on at least this share of the subsets.
    """

    documents: tuple[str, ...]
    ended: tuple[str, ...]
    not_ended: tuple[tuple[str, str], ...]
    claim: ClaimStatus | None
    at_least: int
    limits: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()
    confidence: float = 1.0

    @property
    def is_smallest(self) -> bool:
        """Returns True iff no smaller set of documents ends the bad answers of the same questions."""
        return len(self.documents) == self.at_least

    def __str__(self) -> str:
        if not self.ended and not self.rare:
            some = "no bad answer is ended for certain by the removal of documents"
            return some if self.not_ended else "there is no bad answer to end"
        what = _counted(len(self.documents), "document")
        limits = "; ".join(self.limits)
        effects = list[str]()
        if self.ended:
            claim = f"{self.claim}: {limits}" if limits else f"{self.claim}"
            effects.append(f"ends {_counted(len(self.ended), 'bad answer')} [{claim}]")
        if self.rare:
            # Rounded down, so that the report never promises more subsets than there are.
            share = f"on {floor(self.confidence * 1000) / 10:g} % of the subsets or more"
            claim = f"confident: {limits}" if limits else "confident"
            effects.append(f"keeps {_counted(len(self.rare), 'bad answer')} away {share} [{claim}]")
        least = (
            "no smaller set does"
            if self.is_smallest
            else f"whether fewer do is not known, but at least {self.at_least:,} are needed"
        )
        others = len(self.not_ended)
        left = (
            f"; {_counted(others, 'bad answer')} {'is' if others == 1 else 'are'} left" if others else ""
        )
        return f"removing {what} {' and '.join(effects)}; {least}{left}"


def smallest_removal(names: DocumentNames) -> Removal:
    """Returns the smallest set of documents whose removal ends the bad answers. Only sure omission rules
    count. If the solver gives up early, the set may be larger than necessary, and ``Removal.is_smallest``
    is then False."""
    reached, not_ended = list[AuditedQuestion](), list[tuple[str, str]]()
    for question in names.questions:
        if question.outcome != "bad":
            continue
        if _sure(question):
            reached.append(question)
        else:
            not_ended.append((question.id, _why_not(question)))
    wanted = {question.id: _choices(names, question) for question in reached}
    chosen, least = cover(wanted.values(), MOST_CORES)
    whole = [question for question in reached if question.exhaustive]
    if len(whole) < len(reached):
        # The bound counts only questions whose search was complete. For any other question, a smaller
        # rule may exist, so all that is known is that at least one document must be removed.
        least = max(1, cover([wanted[question.id] for question in whole], MOST_CORES)[1])
    relied = {each.id: _surest(names, each, chosen) for each in reached}
    ended = [rule for rule in relied.values() if rule.is_always_so]
    claims: list[ClaimStatus] = ["relative" if each.limits else each.claim for each in ended]
    return Removal(
        tuple(sorted(names.names[key] for key in chosen)),
        tuple(identity for identity, rule in relied.items() if rule.is_always_so),
        tuple(not_ended),
        max(claims, key=_SUREST_FIRST.index, default=None),
        least,
        tuple(_limits(list(relied.values()))),
        tuple(identity for identity, rule in relied.items() if not rule.is_always_so),
        min((each.confidence for each in relied.values()), default=1.0),
    )


def _choices(names: DocumentNames, question: AuditedQuestion) -> Choices:
    keys = names.keys(question)
    return frozenset(frozenset(keys[each] for each in rule.documents) for rule in _sure(question))


def _sure(question: AuditedQuestion) -> list[AuditedRule]:
    rules = () if question.doubted else question.rules_of(RuleKind.OMISSION, "not bad")
    return [each for each in rules if each.is_sure and each.documents]


def _why_not(question: AuditedQuestion) -> str:
    if question.doubted:
        return "the replays are doubted, so no rule counts"
    if question.exhaustive:
        return "no removal ends it: the answer is bad on subsets of all sizes, or without any document"
    return f"no sure rule was found: {question.why_open}"


def _surest(names: DocumentNames, question: AuditedQuestion, chosen: Choice) -> AuditedRule:
    """Returns the surest rule among the omission rules of a question whose documents are all in
    ``chosen``, the documents that are removed."""
    keys = names.keys(question)
    rules = [each for each in _sure(question) if chosen.issuperset(keys[name] for name in each.documents)]
    return max(
        rules,
        key=lambda each: (
            each.is_always_so,
            each.confidence,
            not each.limits,
            -_SUREST_FIRST.index(each.claim) if each.is_always_so else 0,
        ),
    )


def _limits(rules: Sequence[AuditedRule]) -> list[str]:
    """Returns sentences on the subsets that the rules do not cover, each once; none if they cover all.
    If some are not covered, these sentences are followed by sentences on the claims of rules that are
    not proved."""
    limits = dict.fromkeys(limit for rule in rules for limit in rule.limits)
    weak = dict.fromkeys(each.claim for each in rules if each.is_always_so and each.claim != "proved")
    return [*limits, *(f"some rules are {each} only" for each in weak)] if limits else []


def _counted(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count:,} {what}s"
