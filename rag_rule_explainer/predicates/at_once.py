"""This module judges an answer by a condition without waiting, as far as that is possible."""

import inspect
from collections.abc import Awaitable, Collection
from typing import Any, cast

from ..verdicts import Case, Verdict
from .combine import AllOf, AnyOf, Function, Not
from .next_action import OfNextAction
from .only_calls import IfAnswered, is_only_calls
from .outcomes import as_judgement

_OPPOSITE = {Verdict.HOLDS: Verdict.BREAKS, Verdict.BREAKS: Verdict.HOLDS}


def verdict_at_once(condition: Any, case: Case) -> Verdict | None:
    """Returns the verdict of a condition; None if it has to be awaited, as the verdict of a judge has to
    be. A user's sync function is called in this thread. Raises the errors that the condition raises.
    """
    if isinstance(condition, OfNextAction):
        return verdict_at_once(condition.inner, case)
    if isinstance(condition, IfAnswered):
        is_no_answer = is_only_calls(case.answer)
        return Verdict.UNKNOWN if is_no_answer else verdict_at_once(condition.inner, case)
    if isinstance(condition, Not):
        inner = verdict_at_once(condition.inner, case)
        return None if inner is None else _OPPOSITE.get(inner, inner)
    if isinstance(condition, (AllOf, AnyOf)):
        decisive = Verdict.BREAKS if isinstance(condition, AllOf) else Verdict.HOLDS
        return _joint({verdict_at_once(part, case) for part in condition.parts}, decisive)
    if isinstance(condition, Function) and not inspect.iscoroutinefunction(condition.function):
        return _read(condition.function(case), condition)
    return _read(condition(case), condition)


def _joint(verdicts: Collection[Verdict | None], decisive: Verdict) -> Verdict | None:
    """Returns the joint verdict of several conditions; None if it depends on one that has to be awaited.
    ``decisive``: the verdict with which a single condition decides: BREAKS for "and", HOLDS for "or"."""
    if decisive in verdicts:
        return decisive
    if None in verdicts:
        return None
    return Verdict.UNKNOWN if Verdict.UNKNOWN in verdicts else _OPPOSITE[decisive]


def _read(outcome: object, condition: Any) -> Verdict | None:
    if isinstance(outcome, Awaitable):
        close: Any = getattr(cast("Any", outcome), "close", bool)
        close()  # Python would warn if a coroutine was neither awaited nor closed
        return None
    return as_judgement(outcome, condition).verdict
