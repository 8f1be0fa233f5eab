"""This module finds the smallest set of documents whose removal ends the bad answers of a log.

A question's bad answer is gone for certain once all documents of one of its omission rules are removed.
So for each question one of its rules has to be chosen, such that the chosen rules have few documents in
total. The solver python-sat does this; where its work is cut short, its cores give a lower bound.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..rules import ClaimStatus, RuleKind
from .documents import DocumentKey, DocumentNames
from .questions import AuditedQuestion, AuditedRule

Choice: TypeAlias = frozenset[DocumentKey]
"""The documents of one omission rule: to remove them ends the bad answer of its question."""
Choices: TypeAlias = frozenset[Choice]
_MOST_CORES = 2_000
_WEAKEST_FIRST: tuple[ClaimStatus, ...] = ("tested", "confident", "voted", "proved")


@dataclass(frozen=True, slots=True)
class Removal:
    """A ``Removal`` is a set of documents whose removal ends the bad answers, as far as its rules claim.

    ``documents``: the names of the documents. ``ended``: the ids of the questions whose bad answer cannot
    come back without them. ``not_ended``: ids of questions with a bad answer that no sure omission rule
    ends, each with the reason. ``claim``: the weakest claim among the rules that are relied on; None if
    there is none. ``at_least``: no set of fewer documents ends the bad answers of ``ended``.
    """

    documents: tuple[str, ...]
    ended: tuple[str, ...]
    not_ended: tuple[tuple[str, str], ...]
    claim: ClaimStatus | None
    at_least: int

    @property
    def is_smallest(self) -> bool:
        """Returns True iff no smaller set of documents ends the bad answers of the same questions."""
        return len(self.documents) == self.at_least

    def __str__(self) -> str:
        if not self.ended and not self.not_ended:
            return "there is no bad answer to end"
        if not self.ended:
            return "no bad answer is ended for certain by the removal of documents"
        many = len(self.ended)
        answers = "1 bad answer" if many == 1 else f"{many:,} bad answers"
        count = len(self.documents)
        documents = "1 document" if count == 1 else f"{count:,} documents"
        least = (
            "no smaller set does"
            if self.is_smallest
            else f"whether fewer do is not known, but at least {self.at_least:,} are needed"
        )
        others = len(self.not_ended)
        left = f"; {others:,} bad answer{' is' if others == 1 else 's are'} left" if others else ""
        return f"removing {documents} ends {answers} [{self.claim}]; {least}{left}"


def smallest_removal(names: DocumentNames, *, most_cores: int = _MOST_CORES) -> Removal:
    """Returns the smallest set of documents whose removal ends the bad answers. Only sure omission rules
    count. ``most_cores``: how long the solver may search; a set is returned in any case."""
    ended, not_ended = list[AuditedQuestion](), list[tuple[str, str]]()
    for question in names.questions:
        if question.outcome != "bad":
            continue
        if _sure(question):
            ended.append(question)
        else:
            not_ended.append((question.id, _why_not(question)))
    wanted = {question.id: _choices(names, question) for question in ended}
    chosen, least = cover(wanted.values(), most_cores)
    whole = [question for question in ended if question.exhaustive]
    if len(whole) < len(ended):
        # Of the others, a smaller rule may not have been found. So they do not say what is needed.
        least = cover([wanted[question.id] for question in whole], most_cores)[1]
    return Removal(
        tuple(sorted(names.names[key] for key in chosen)),
        tuple(question.id for question in ended),
        tuple(not_ended),
        _weakest(names, ended, chosen),
        least,
    )


def cover(wanted: Iterable[Choices], most_cores: int = _MOST_CORES) -> tuple[Choice, int]:
    """Returns the smallest set that contains one choice of each question, and a lower bound of its size.
    Both agree unless the solver had to give up after ``most_cores`` cores for a part of the questions
    that has no document in common with the others."""
    forced, questions = _forced({_minimal(each) for each in wanted})
    chosen, at_least = set(forced), len(forced)
    for part in _parts(questions):
        documents = sorted({key for each in part for choice in each for key in choice}, key=_by_name)
        found, least = _solved(part, documents, most_cores)
        if found is None:
            found, least = _greedy(part), max(least, _apart(part))
        chosen |= found
        at_least += least
    return frozenset(chosen), at_least


def _forced(questions: set[Choices]) -> tuple[Choice, list[Choices]]:
    """Returns the documents of all questions that have one choice only, and the questions that are left
    once these documents are taken, without these documents."""
    forced, left = frozenset[DocumentKey](), questions
    while single := [next(iter(each)) for each in left if len(each) == 1]:
        forced = forced.union(*single)
        rest = ({choice - forced for choice in each} for each in left)
        left = {_minimal(frozenset(each)) for each in rest if frozenset() not in each}
    return forced, sorted(left, key=_order)


def _parts(questions: Sequence[Choices]) -> list[list[Choices]]:
    """Returns the questions in parts, such that no document is in two of them."""
    part_of, parts = dict[DocumentKey, int](), list[list[Choices]]()
    for choices in questions:
        documents = {key for choice in choices for key in choice}
        joined = sorted({part_of[key] for key in documents if key in part_of})
        place = joined[0] if joined else len(parts)
        if not joined:
            parts.append([])
        parts[place].append(choices)
        for other in joined[1:]:
            parts[place] += parts[other]
            parts[other] = []
        if joined[1:]:
            documents = {key for each in parts[place] for choice in each for key in choice}
        part_of.update(dict.fromkeys(documents, place))
    return [part for part in parts if part]


def _solved(
    questions: Sequence[Choices], documents: Sequence[DocumentKey], most_cores: int
) -> tuple[Choice | None, int]:
    from pysat.formula import WCNF  # pyright: ignore[reportMissingTypeStubs] -- this package has no stubs

    formula: Any = WCNF()
    number = {key: place for place, key in enumerate(documents, start=1)}
    last = len(number)
    for choices in questions:
        ways: list[int] = []
        for choice in sorted(choices, key=lambda each: (len(each), sorted(map(_by_name, each)))):
            if len(choice) == 1:
                ways.append(number[next(iter(choice))])
                continue
            last += 1
            ways.append(last)
            for key in choice:
                formula.append([-last, number[key]])
        formula.append(ways)
    for place in number.values():
        formula.append([-place], weight=1)
    model, at_least = _within(formula, most_cores)
    if model is None:
        return None, at_least
    return frozenset(documents[each - 1] for each in model if 0 < each <= len(documents)), at_least


def _within(formula: Any, most_cores: int) -> tuple[list[int] | None, int]:
    from pysat.examples.rc2 import RC2  # pyright: ignore[reportMissingTypeStubs] -- this package has no stubs

    class Patient(RC2):
        def process_core(self) -> None:
            self.seen = getattr(self, "seen", 0) + 1
            if self.seen > most_cores:
                raise _GivenUp
            super().process_core()

    solver: Any
    with Patient(formula, adapt=True, exhaust=False, minz=True) as solver:
        try:
            model = solver.compute()
        except _GivenUp:
            return None, int(solver.cost)
        return model, int(solver.cost)


class _GivenUp(Exception):
    """This error ends a search of the solver that takes too long."""


def _greedy(questions: Sequence[Choices]) -> Choice:
    """Returns a small set that contains a choice of each question: again and again, the choice that ends
    the most questions for each of its documents is taken."""
    left, taken = list(questions), set[DocumentKey]()
    while left:
        gains = dict[Choice, int]()
        for choices in left:
            for choice in choices:
                gains[choice] = gains.get(choice, 0) + 1
        best = max(
            gains,
            key=lambda each: (gains[each] / len(each - taken), sorted(map(_by_name, each))),
        )
        taken |= best
        left = [choices for choices in left if not any(each <= taken for each in choices)]
    return _pruned(questions, taken)


def _pruned(questions: Sequence[Choices], taken: set[DocumentKey]) -> Choice:
    kept = set(taken)
    for key in sorted(taken, key=_by_name):
        without = kept - {key}
        if all(any(choice <= without for choice in choices) for choices in questions):
            kept = without
    return frozenset(kept)


def _apart(questions: Sequence[Choices]) -> int:
    """Returns a lower bound: the documents that questions need which have no document in common."""
    used, needed = set[DocumentKey](), 0
    for choices in sorted(questions, key=_order):
        documents = {key for choice in choices for key in choice}
        if used.isdisjoint(documents):
            used |= documents
            needed += min(map(len, choices))
    return needed


def _minimal(choices: Choices) -> Choices:
    return frozenset(each for each in choices if not any(other < each for other in choices))


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


def _weakest(
    names: DocumentNames, ended: Iterable[AuditedQuestion], chosen: Choice
) -> ClaimStatus | None:
    """Returns the weakest claim that is relied on. Of rules that end the same question, the surest
    counts."""
    relied = [
        max(
            _WEAKEST_FIRST.index(rule.claim)
            for rule in _sure(question)
            if chosen.issuperset(names.keys(question)[each] for each in rule.documents)
        )
        for question in ended
    ]
    return _WEAKEST_FIRST[min(relied)] if relied else None


def _order(choices: Choices) -> tuple[int, list[list[tuple[str, str]]]]:
    return len(choices), sorted(sorted(map(_by_name, each)) for each in choices)


def _by_name(key: DocumentKey) -> tuple[str, str]:
    return key.name, key.sha256
