"""What a predicate is."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Protocol, TypeAlias, runtime_checkable

from ..verdicts import Case, Judgement, Verdict

PredicateOutcome: TypeAlias = bool | Verdict | Judgement
Judged: TypeAlias = Judgement | Awaitable[Judgement]


@runtime_checkable
class Predicate(Protocol):
    """Judges one case. ``str(predicate)`` is its clause in a rule: "the answer contains 'calcium'"."""

    def __call__(self, case: Case, /) -> Judged:
        """Returns the judgement; an awaitable one where judging takes time."""
        ...

    def memo_key(self, case: Case, /) -> Hashable | None:
        """Equal keys promise equal judgements; None: never remembered."""
        ...


CaseFunction: TypeAlias = (
    Callable[[Case], PredicateOutcome] | Callable[[Case], Awaitable[PredicateOutcome]]
)
PredicateLike: TypeAlias = Predicate | CaseFunction
"""A predicate, or any function of a Case, sync or async, that returns bool, Verdict or Judgement."""


def answer_key(_: object, case: Case) -> tuple[str, str, str]:
    """Returns the usual memo key: what the question, the baseline and the answer say."""
    return case.question, case.baseline.text, case.answer.text
