"""This module judges answers that are only a tool call: a model called a tool, and the run ended there.

Conditions about tool calls judge such an answer. For every other condition it is no answer, so the
verdict is UNKNOWN.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..verdicts import Answer, Case, Judgement, Verdict
from .combine import AllOf, AnyOf, Combinable, Not, negation_of
from .inside import predicates_in
from .protocol import Judged, Predicate
from .remembering import remembered_name

CALLS_ONLY = "tool_calls"
"""The finish reason of an answer that is only a tool call, whatever the provider calls it."""
CUT = "new_tool_call"
"""The finish reason of a replay that was ended at a tool call whose result is not known. The tool calls
before the end are known, but the run might have made more calls after it."""
BY_TOOL = "tool_result"
"""The finish reason of an answer that a tool gave, and that is empty without some of the sources."""
_NO_ANSWER = Judgement(
    Verdict.UNKNOWN, "the answer is only a tool call, and this condition is about the answer's text"
)
_CALLING = frozenset({"toolcall", "toolcalls", "tooluse", "functioncall", "functioncalls"})
Kind = TypeVar("Kind")


def is_only_calls(answer: Answer) -> bool:
    """Returns True iff the answer consists only of tool calls: the answer has no value, and either no
    text or a finish reason that means a tool call."""
    if not answer.calls or answer.value is not None or answer.finish_reason == BY_TOOL:
        return False
    reason = "".join(filter(str.isalnum, str(answer.finish_reason or "").lower()))
    return reason in _CALLING or not answer.text.strip()


def is_cut(answer: Answer) -> bool:
    """Returns True iff the run was ended at a tool call, so that there may have been more calls."""
    return answer.finish_reason == CUT


def reads_calls(predicate: Any) -> bool:
    """Returns True iff the predicate, or a predicate inside it, is about tool calls. A user's function
    counts as a predicate about tool calls if its code reads ``calls``."""
    return any(_is_about_calls(part) for part in predicates_in(predicate))


def reads_only_calls(predicate: Any) -> bool:
    """Returns True iff all parts of the predicate are about tool calls."""
    if isinstance(predicate, (AllOf, AnyOf)):
        return all(map(reads_only_calls, predicate.parts))
    return reads_only_calls(predicate.inner) if isinstance(predicate, Not) else _is_about_calls(predicate)


def _is_about_calls(part: Any) -> bool:
    if getattr(part, "reads_calls", False) is True:
        return True
    code = getattr(getattr(part, "function", part), "__code__", None)
    return "calls" in getattr(code, "co_names", ())


@dataclass(frozen=True, slots=True)
class IfAnswered(Combinable):
    """This predicate gives UNKNOWN for an answer that is only a tool call. Every other answer gets the
    judgement of ``inner``."""

    inner: Predicate

    def __call__(self, case: Case) -> Judged:
        """Returns the judgement of ``inner``, or UNKNOWN."""
        return _NO_ANSWER if is_only_calls(case.answer) else self.inner(case)

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the cache key of ``inner``, or None if its judgements must not be cached. For an answer
        that is only a tool call, returns a fixed key."""
        return ("only a tool call",) if is_only_calls(case.answer) else self.inner.memo_key(case)

    @property
    def remembered_as(self) -> str | None:
        """Returns the name under which a store keeps the judgements of ``inner``; None if they are not
        stored."""
        return remembered_name(self.inner)

    def __str__(self) -> str:
        return str(self.inner)

    @property
    def negation(self) -> str:
        """Returns the opposite of ``inner`` in words."""
        return negation_of(self.inner)


def beside_calls(predicates: Mapping[Kind, Predicate]) -> dict[Kind, Predicate]:
    """Returns the predicates of one explanation, unchanged if none is about tool calls. Otherwise, their
    parts that are not about calls are changed to give UNKNOWN for an answer that is only a tool call."""
    if not any(map(reads_calls, predicates.values())):
        return dict(predicates)
    return {kind: guarded_beside_calls(predicate) for kind, predicate in predicates.items()}


def unguarded(predicate: Predicate) -> Predicate:
    """Undoes ``guarded_beside_calls``: returns the predicate with its original parts, which also judge
    answers that are only a tool call."""
    if isinstance(predicate, (AllOf, AnyOf)):
        return replace(predicate, parts=tuple(map(unguarded, predicate.parts)))
    if isinstance(predicate, Not):
        return Not(unguarded(predicate.inner))
    return predicate.inner if isinstance(predicate, IfAnswered) else predicate


def call_parts(predicate: Any) -> Iterator[Predicate]:
    """Yields the predicates about tool calls that are combined or negated in this predicate. If this
    predicate is no combination, yields the predicate itself if it is about tool calls."""
    if isinstance(predicate, (AllOf, AnyOf)):
        for each in predicate.parts:
            yield from call_parts(each)
    elif isinstance(predicate, Not):
        yield from call_parts(predicate.inner)
    elif _is_about_calls(predicate):
        yield predicate


def guarded_beside_calls(predicate: Predicate) -> Predicate:
    """Returns the predicate, changed so that its parts that are not about calls give UNKNOWN for an
    answer that is only a tool call."""
    if isinstance(predicate, (AllOf, AnyOf)):
        return replace(predicate, parts=tuple(map(guarded_beside_calls, predicate.parts)))
    if isinstance(predicate, Not):
        return Not(guarded_beside_calls(predicate.inner))
    return predicate if _is_about_calls(predicate) else IfAnswered(predicate)
