"""What an application retrieved, and would show its model."""

from collections.abc import Sequence
from typing import NamedTuple

from ..probing.bill import total
from ..probing.conduct import Conduct
from ..probing.seeing import Request
from ..sources import Source
from .participation import Watch


class Retrieved(NamedTuple):
    """``prompt``: what a model was about to be sent, where one was; ``tokens``: what models spent
    before."""

    sources: Sequence[Source]
    prompt: str | None
    tokens: int
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, sources: Sequence[Source], conduct: Conduct, request: Request | None, watch: Watch
    ) -> "Retrieved":
        """``request``: the one that the run was stopped at, or None where it came to its end."""
        units, notes = conduct.units, conduct.notes if conduct.held_out else ()
        if conduct.held_out and len(units) == 1:
            # One at a time: the others would have come in requests that were not made.
            units, notes = sources, ()
        last = request or (watch.requests[-1] if watch.requests else None)
        return cls(units, last.text if last else None, sum(map(total, watch.models.values())), notes)
