"""This module defines the result of a retrieval that no model was called after."""

from collections.abc import Sequence
from typing import NamedTuple

from ...estimate.assumptions import RunShape
from ...probing.budget import total
from ...sources import Source
from ..recording.exposure_checks import ExposureChecks
from ..requests.source_recognition import Request
from ..run_context import ModelWatch


class Retrieved(NamedTuple):
    """A ``Retrieved`` holds the sources that an application retrieved and would show its model.

    ``prompt``: the text that a model was about to be sent; None if no request was made. ``tokens``: the
    tokens that models spent before. ``shape``: what is known of a whole run, for an estimate.
    """

    sources: Sequence[Source]
    prompt: str | None
    tokens: int
    notes: tuple[str, ...]
    shape: RunShape

    @classmethod
    def of(
        cls,
        sources: Sequence[Source],
        exposure: ExposureChecks,
        request: Request | None,
        watch: ModelWatch,
    ) -> "Retrieved":
        """Returns the result of a run. ``request``: the request that the run was stopped at, or None if
        the run ended by itself."""
        units, notes = exposure.units, exposure.notes if exposure.held_out else ()
        one_at_a_time = bool(exposure.held_out) and len(units) == 1
        if one_at_a_time:
            # The other sources would have been shown in later requests, which were not made.
            units, notes = sources, ()
        last = request or (watch.requests[-1] if watch.requests else None)
        before = [each for each in watch.requests if each is not last] if request else watch.requests[:-1]
        shape = RunShape(
            tuple(each.text for each in before), last.written_before if last else (), one_at_a_time
        )
        spent = sum(map(total, watch.models.values()))
        return cls(units, last.text if last else None, spent, notes, shape)
