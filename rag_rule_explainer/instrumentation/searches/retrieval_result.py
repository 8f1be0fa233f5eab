"""This module defines the result of a run that was stopped at its first model request after the
retrieval. The estimate of an explanation's cost is computed from it."""

from collections.abc import Sequence
from typing import NamedTuple

from ...probing.budget import total
from ...session.estimate.assumptions import RunShape
from ...sources import Source
from ..recording.exposure_checks import ExposureChecks
from ..requests.source_recognition import Request
from ..run_record import Participation

_RAN = "the application ran once to its end, with its tools, as their results can be sources"
_IF_MET = (
    "best: if the condition is met with all sources; if not, a search for retention rules ends after at "
    "most 2 replays, and an explanation may take fewer than the best"
)


class Retrieved(NamedTuple):
    """A ``Retrieved`` is the result of a run that was stopped at its first model request after the
    retrieval. An estimate of the cost of an explanation is computed from it.

    ``sources``: the sources that the application retrieved and would show its model. ``prompt``: the text
    of the request at which the run was stopped, or of the last request if the run ended before; None if
    there was no request. ``tokens``: the number of tokens that the run's models spent. ``notes``: remarks
    for the user on the sources. ``shape``: the requests to models that each run makes, up to the first
    request that shows a source.
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
        run: Participation,
    ) -> "Retrieved":
        """Returns the result of the run ``run``.

        ``sources``: all sources that the run retrieved. ``exposure``: says which of these sources were
        sent to a model. ``request``: the model request at which the run was stopped; None if the run
        ended by itself. If only the run's next action is explained, the result leaves out the model
        requests before this action.
        """
        watch = run.watch
        units, notes = exposure.units, exposure.notes if exposure.held_out else ()
        one_at_a_time = bool(exposure.held_out) and len(units) == 1
        if one_at_a_time:
            # The run was stopped at a request that shows only one source. Later requests would have shown
            # the other sources, so no source counts as unseen by the model.
            units, notes = sources, ()
        last = request or (watch.requests[-1] if watch.requests else None)
        before = [each for each in watch.requests if each is not last] if request else watch.requests[:-1]
        if run.action is not None:
            before = []
        shape = RunShape(
            tuple(each.text for each in before),
            last.written_before if last else (),
            one_at_a_time,
            bool(exposure.held_out) and not one_at_a_time,
            is_whole=request is None,
        )
        if run.takes_results or run.action is not None:
            notes = (*notes, _RAN, _IF_MET)
        spent = sum(map(total, watch.models.values()))
        return cls(units, last.text if last else None, spent, notes, shape)
