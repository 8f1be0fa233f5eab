"""This module defines the interface of predicates."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Protocol, TypeAlias, runtime_checkable

from ..verdicts import Case, Judgement, Verdict

ALONE = 1
"""The default number of answers in one request to a judge. With more than one, an answer could influence
the judgement of the others."""

PredicateOutcome: TypeAlias = bool | Verdict | Judgement
Judged: TypeAlias = Judgement | Awaitable[Judgement]


@runtime_checkable
class Predicate(Protocol):
    """A ``Predicate`` is a condition on an answer: it judges one case. ``str(predicate)`` gives its words
    in a rule, such as "the answer contains 'calcium'"."""

    def __call__(self, case: Case, /) -> Judged:
        """Returns the judgement, or an awaitable of it."""
        ...

    def memo_key(self, case: Case, /) -> Hashable | None:
        """Returns a cache key for the judgement; None if the judgement must not be cached. Two cases may
        have the same key only if they get the same judgement."""
        ...


CaseFunction: TypeAlias = (
    Callable[[Case], PredicateOutcome] | Callable[[Case], Awaitable[PredicateOutcome]]
)
PredicateLike: TypeAlias = Predicate | CaseFunction
"""A predicate, or a sync or async function of a Case that returns a bool, a Verdict or a Judgement."""


def answer_key(_: object, case: Case) -> tuple[str, str, str]:
    """Returns the cache key that most predicates use: the question, and the texts of the baseline and of
    the answer. The first parameter is ignored; it allows classes to use this function as their
    ``memo_key``."""
    return case.question, case.baseline.text, case.answer.text
