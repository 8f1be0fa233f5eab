"""This module turns the results of predicates and of users' functions, which may be sync or async, into
judgements."""

import re
from collections.abc import Generator
from typing import cast

from ..allowed import brief
from ..errors import InvalidInput
from ..verdicts import Case, Judgement, Verdict
from .protocol import Judged, Predicate

ANONYMOUS = "the given function"
"""The name of a lambda in texts for the user."""


def run(steps: Generator[Judged, Judgement, Judgement]) -> Judged:
    """Runs the generator ``steps`` and returns its result. Each judgement that the generator yields is
    sent back into the generator.

    If the generator yields an awaitable, returns a coroutine that awaits it and runs the rest. So a
    predicate whose parts are all sync needs no event loop.
    """
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
                # Another part of the predicate may decide without the judge. If no part does, the judge's
                # failure is raised at the end.
                failure, judgement = failed, Judgement(Verdict.UNKNOWN, str(failed))
            judged = steps.send(judgement)
    except StopIteration as end:
        if failure is not None and end.value.verdict is Verdict.UNKNOWN:
            raise failure from None
        return end.value


def as_judgement(outcome: object, predicate: object) -> Judgement:
    """Returns ``outcome``, the result of a predicate or function, as a Judgement. Raises InvalidInput if
    it is no truth value. ``predicate``: the predicate that the error names."""
    if isinstance(outcome, Judgement):
        return _checked(outcome, predicate)
    if isinstance(outcome, Verdict):
        return Judgement(outcome)
    # Comparisons of NumPy values return a bool of NumPy, which ``item`` turns into a Python bool.
    truth = getattr(outcome, "item", lambda: outcome)()
    if isinstance(truth, bool):
        return Judgement(Verdict.of(truth))
    raise InvalidInput(
        f"{_named(predicate)} returned {_said(outcome)}; return True, False, a Verdict or a Judgement"
    )


def _checked(judgement: Judgement, predicate: object) -> Judgement:
    """Returns the judgement. If the user's code gave a bool as the verdict of the judgement, replaces the
    bool by a Verdict. Raises InvalidInput if the verdict is neither a Verdict nor a bool, or if the
    reason is no str."""
    verdict, reason = cast("tuple[object, object]", (judgement.verdict, judgement.reason))
    if isinstance(verdict, Verdict) and isinstance(reason, str):
        return judgement
    if isinstance(verdict, bool) and isinstance(reason, str):
        return Judgement(Verdict.of(verdict), reason)
    raise InvalidInput(
        f"{_named(predicate)} returned Judgement({brief(verdict)}, {brief(reason)}); the first must be a "
        "Verdict, True or False, and the second, the reason, a str"
    )


def _named(predicate: object) -> str:
    """Returns the name of the predicate for error messages; for a function, the function's name."""
    name = getattr(predicate, "name_in_errors", None) or str(predicate)
    return f"the predicate {name}" if name != ANONYMOUS else "the predicate"


def _said(outcome: object) -> str:
    """Returns a description of a result that is no truth value, with advice on how to turn it into a
    bool."""
    if outcome is None:
        return "None: it has no return, or its search found nothing, as in bool(re.search(...))"
    if isinstance(outcome, re.Match):
        return "a Match, not a bool: write bool(re.search(...))"
    return f"{brief(outcome)}, of type {type(outcome).__name__}"


def joint_judgement(
    parts: tuple[Predicate, ...], case: Case, decisive: Verdict
) -> Generator[Judged, Judgement, Judgement]:
    """Returns the joint judgement of all parts. ``decisive``: BREAKS to combine them by "and", HOLDS to
    combine them by "or".

    The first part with the verdict ``decisive`` decides, and later parts are not judged. If no part has
    this verdict, the result is UNKNOWN if some part is UNKNOWN. Otherwise it is the opposite of
    ``decisive``, with the reasons of all parts.
    """
    unknown, reasons = None, list[str]()
    for part in parts:
        judgement = yield part(case)
        if judgement.verdict is decisive:
            return judgement
        if judgement.verdict is Verdict.UNKNOWN:
            unknown = judgement
        reasons += [judgement.reason] if judgement.reason else []
    return unknown or Judgement(~decisive, "; ".join(dict.fromkeys(reasons)))
