"""Conversations that the server of a model keeps, which no request shows but by their name.

One that several runs name, or that a run goes on with before any model has replied to it, has in it what
another run was told.
"""

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..shared_state.files import Left
from .exchanges import Exchange

_NAMED = re.compile(
    r"[\"'](previous_response_id|conversation(?:_id)?|session_id|thread_id)[\"']:\s*"
    r"(?:[\"']([^\"']+)[\"']|\{[^}]*[\"']id[\"']:\s*[\"']([^\"']+)[\"'])"
)
_GOING_ON = "previous_response_id"


@dataclass(slots=True, eq=False)
class Conversations:
    """Knows which conversations were named, and by which run. Thread-safe."""

    _runs: dict[str, str] = field(default_factory=dict[str, str])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, run: str, exchanges: Iterable[Exchange]) -> Left | None:
        """Takes those of a run; returns one that has in it what another run was told, if there is any."""
        for exchange in exchanges:
            # Parameters stand after all messages.
            parameters = exchange.sent.rpartition("\n\n")[2]
            for found in _NAMED.finditer(parameters):
                parameter, name = found.group(1), found.group(2) or found.group(3)
                with self._lock:
                    other = self._runs.setdefault(name, run)
                told = (
                    f"{run} named the conversation {name!r} ({parameter}), which the model's server keeps"
                )
                if other != run:
                    return Left(name, f"{told}, and so did {other}")
                if parameter == _GOING_ON and not exchange.after:
                    return Left(name, f"{told}, before any model had replied")
        return None
