"""What predicates say, as judgements: at once, or when a judge has answered."""

import re
from collections.abc import Generator

from ..allowed import told
from ..errors import InvalidInput
from ..verdicts import Judgement, Verdict
from .protocol import Judged, Predicate

ANONYMOUS = "the given function"
"""What a lambda is called."""


def run(steps: Generator[Judged, Judgement, Judgement]) -> Judged:
    """Returns what the steps return, each of which is sent the judgement that it yields.

    They run without a loop as far as they go, and the rest is handed over as a coroutine.
    """
    try:
        judged = next(steps)
        while isinstance(judged, Judgement):
            judged = steps.send(judged)
    except StopIteration as end:
        return end.value
    return _run_on(steps, judged)


async def _run_on(steps: Generator[Judged, Judgement, Judgement], judged: Judged) -> Judgement:
    from .judge.protocol import JudgeFailed  # late: judges are combined here themselves

    failure: JudgeFailed | None = None
    try:
        while True:
            try:
                judgement = judged if isinstance(judged, Judgement) else await judged
            except JudgeFailed as failed:
                # The others may decide without it; if not, it is asked again another time.
                failure, judgement = failed, Judgement(Verdict.UNKNOWN, str(failed))
            judged = steps.send(judgement)
    except StopIteration as end:
        if failure is not None and end.value.verdict is Verdict.UNKNOWN:
            raise failure from None
        return end.value


def as_judgement(outcome: object, predicate: Predicate) -> Judgement:
    """Returns what a predicate returned as a Judgement. Raises InvalidInput for anything that is not
    one."""
    if isinstance(outcome, Judgement):
        return outcome
    if isinstance(outcome, Verdict):
        return Judgement(outcome)
    # A NumPy bool, as comparisons of scores give it, is no bool.
    truth = getattr(outcome, "item", lambda: outcome)()
    if isinstance(truth, bool):
        return Judgement(Verdict.of(truth))
    raise InvalidInput(
        f"{_named(predicate)} returned {_said(outcome)}; return True, False, a Verdict or a Judgement"
    )


def _named(predicate: Predicate) -> str:
    """Returns a predicate as errors name it: a function by its name, not by what it means."""
    name = getattr(predicate, "name_in_errors", None) or str(predicate)
    return f"the predicate {name}" if name != ANONYMOUS else "the predicate"


def _said(outcome: object) -> str:
    """Returns what came out of a predicate, and how it is made a bool where that is plain."""
    if outcome is None:
        return "None: it has no return, or its search found nothing, as in bool(re.search(...))"
    if isinstance(outcome, re.Match):
        return "a Match, not a bool: write bool(re.search(...))"
    return f"{told(outcome)}, of type {type(outcome).__name__}"
