"""This module finds the time of an explanation, and the models that were used for it."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timezone

from ..allowed import brief
from ..explanation.origin import ModelRecord
from ..printable import encodable
from ..probing.budget import Budget
from ..verdicts import Answer, counts_in

_EPOCH = "SOURCE_DATE_EPOCH"
"""The name of the environment variable by which builds set the time, if they must give the same output
each time."""
_SECONDS = re.compile(r"[0-9]{1,12}")


def time_of_making() -> str:
    """Returns the time now, or the time that SOURCE_DATE_EPOCH sets, such as "2026-02-28T09:30:00Z"."""
    made = _time_of_build()
    return f"{made or datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S}Z"


def note_on_time() -> str:
    """Returns a note for the user if SOURCE_DATE_EPOCH is set, but is no time; empty otherwise."""
    given = os.environ.get(_EPOCH, "")
    if not given or _time_of_build():
        return ""
    return (
        f"the time is that of the clock: {_EPOCH} is {brief(given)}, and not a whole number of seconds "
        "since 1970, such as 1767225600"
    )


def _time_of_build() -> datetime | None:
    """Returns the time that SOURCE_DATE_EPOCH sets; None if it sets none. The explanation is already
    paid for, so a wrong value does not raise an error."""
    given = os.environ.get(_EPOCH, "")
    if not _SECONDS.fullmatch(given):
        return None
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(int(given), timezone.utc)
    return None


def models_asked(budget: Budget, answers: Iterable[Answer]) -> Iterator[ModelRecord]:
    """Yields the models that the application and the judge asked, with their tokens. A model has no
    tokens if all its answers came from the store."""
    spent = {
        encodable(name): counts_in(tokens) for name, tokens in budget.spent.items() if name or tokens
    }
    for models in [answer.models for answer in answers if answer.models]:
        for name in models:
            spent.setdefault(encodable(name), {})
    yield from (ModelRecord(name, "application", tokens) for name, tokens in spent.items())
    for name, tokens in budget.judge_spent.items():
        yield ModelRecord(encodable(name), "judge", counts_in(tokens))
