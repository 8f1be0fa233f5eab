"""This module turns the results of predicates, which may be sync or async, into judgements."""

import re
from collections.abc import Generator

from ..allowed import brief
from ..errors import InvalidInput
from ..verdicts import Judgement, Verdict
from .protocol import Judged, Predicate

ANONYMOUS = "the given function"
"""The name that stands for a lambda in texts."""


def run(steps: Generator[Judged, Judgement, Judgement]) -> Judged:
    """Runs a generator that yields judgements and gets each one sent back, and returns its return
    value. If a yielded judgement is awaitable, returns a coroutine that runs the rest. Otherwise no
    event loop is needed."""
    try:
        judged = next(steps)
        while isinstance(judged, Judgement):
            judged = steps.send(judged)
    except StopIteration as end:
        return end.value
    return _run_on(steps, judged)


async def _run_on(steps: Generator[Judged, Judgement, Judgement], judged: Judged) -> Judgement:
    from .judge.protocol import (
        JudgeFailed,  # imported late, because the judges' module imports this module
    )

    failure: JudgeFailed | None = None
    try:
        while True:
            try:
                judgement = judged if isinstance(judged, Judgement) else await judged
            except JudgeFailed as failed:
                # Another part of the predicate may decide without the judge. If no part decides, the
                # failure is raised at the end.
                failure, judgement = failed, Judgement(Verdict.UNKNOWN, str(failed))
            judged = steps.send(judgement)
    except StopIteration as end:
        if failure is not None and end.value.verdict is Verdict.UNKNOWN:
            raise failure from None
        return end.value


def as_judgement(outcome: object, predicate: Predicate) -> Judgement:
    """Returns the result of a predicate as a Judgement. Raises InvalidInput for a result that is no
    truth value."""
    if isinstance(outcome, Judgement):
        return outcome
    if isinstance(outcome, Verdict):
        return Judgement(outcome)
    # Comparisons of NumPy values return a bool of NumPy, which ``item`` turns into a Python bool.
    truth = getattr(outcome, "item", lambda: outcome)()
    if isinstance(truth, bool):
        return Judgement(Verdict.of(truth))
    raise InvalidInput(
        f"{_named(predicate)} returned {_said(outcome)}; return True, False, a Verdict or a Judgement"
    )


def _named(predicate: Predicate) -> str:
    """Returns the name of the predicate for error messages; for a function, the function's name."""
    name = getattr(predicate, "name_in_errors", None) or str(predicate)
    return f"the predicate {name}" if name != ANONYMOUS else "the predicate"


def _said(outcome: object) -> str:
    """Returns a description of a wrong result, with advice on how to turn it into a bool."""
    if outcome is None:
        return "None: it has no return, or its search found nothing, as in bool(re.search(...))"
    if isinstance(outcome, re.Match):
        return "a Match, not a bool: write bool(re.search(...))"
    return f"{brief(outcome)}, of type {type(outcome).__name__}"
