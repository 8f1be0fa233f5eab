"""This module defines the result of a run that was stopped after its retrieval, for an estimate of the
cost."""

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

    ``prompt``: the text of the request that was stopped, or of the last request; None if there was no
    request. ``tokens``: the tokens that the run's models spent. ``shape``: the known properties of a
    whole run, which the estimate uses.
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
        """Returns the result of a run. ``request``: the request at which the run was stopped; None if the
        run ended without being stopped."""
        units, notes = exposure.units, exposure.notes if exposure.held_out else ()
        one_at_a_time = bool(exposure.held_out) and len(units) == 1
        if one_at_a_time:
            # The run was stopped at a request with one source. The other sources would have been shown in
            # later requests, so none of them may count as unseen.
            units, notes = sources, ()
        last = request or (watch.requests[-1] if watch.requests else None)
        before = [each for each in watch.requests if each is not last] if request else watch.requests[:-1]
        shape = RunShape(
            tuple(each.text for each in before), last.written_before if last else (), one_at_a_time
        )
        spent = sum(map(total, watch.models.values()))
        return cls(units, last.text if last else None, spent, notes, shape)
