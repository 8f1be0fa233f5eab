"""This module defines a wrapper for conditions. The wrapper is used if replays ask a model only for its
next action, that is, for its next reply in a recorded conversation."""

from collections.abc import Hashable
from dataclasses import dataclass

from ..verdicts import Case
from .combine import Combinable, negation_of
from .only_calls import guarded_beside_calls, reads_calls
from .protocol import Judged, Predicate
from .remembering import remembered_name

NEXT_ACTION = "as its next action, given the recorded conversation"


@dataclass(frozen=True, slots=True)
class OfNextAction(Combinable):
    """This predicate judges as ``inner``, and says in rules that the answer is a model's next reply in a
    recorded conversation, and not the answer of a whole run."""

    inner: Predicate

    @classmethod
    def of(cls, predicate: Predicate) -> "OfNextAction":
        """Returns the predicate as an ``OfNextAction``; unchanged if it is one already."""
        if isinstance(predicate, cls):
            return predicate
        return cls(guarded_beside_calls(predicate) if reads_calls(predicate) else predicate)

    def __call__(self, case: Case) -> Judged:
        """Returns the judgement of ``inner``."""
        return self.inner(case)

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the cache key of ``inner``; None if its judgements must not be cached."""
        return self.inner.memo_key(case)

    @property
    def reads_calls(self) -> bool:
        """Returns True iff ``inner`` is about tool calls."""
        return reads_calls(self.inner)

    @property
    def remembered_as(self) -> str | None:
        """Returns the name under which a store keeps the judgements of ``inner``; None if they are not
        stored."""
        return remembered_name(self.inner)

    def __str__(self) -> str:
        return f"{self.inner} ({NEXT_ACTION})"

    @property
    def negation(self) -> str:
        """Returns the opposite of ``inner`` in words."""
        return f"{negation_of(self.inner)} ({NEXT_ACTION})"
