"""This module finds conversations on a model's server that several runs share.

A request shows only the name of such a conversation, and not its messages. In two cases, the conversation
holds messages of a different run: if two runs name the same conversation, or if a run continues a
conversation before it has got any reply of a model.
"""

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...errors import InvalidInput
from ..shared_state.files import Left
from .exchanges import Exchange

_NAMED = re.compile(
    r"[\"'](previous_response_id|conversation(?:_id)?|session_id|thread_id)[\"']:\s*"
    r"(?:[\"']([^\"']+)[\"']|\{[^}]*[\"']id[\"']:\s*[\"']([^\"']+)[\"'])"
)
_GOING_ON = "previous_response_id"
_KEPT = ("conversation", "conversation_id")
_STILL_THERE = (
    "replay_of='next_action' sends one request again, and this one goes on with a conversation that the "
    "model's server keeps ({parameter}), in which everything omitted would still be; send the whole "
    "input each time, or leave replay_of out"
)


def check_is_whole(exchange: Exchange) -> None:
    """Raises InvalidInput if this request continues a conversation that the model's server keeps. Call it
    if replays send only this request: the conversation would still contain the sources that a replay
    omits."""
    for found in _NAMED.finditer(exchange.sent.rpartition("\n\n")[2]):
        if found.group(1) in {_GOING_ON, *_KEPT}:
            raise InvalidInput(_STILL_THERE.format(parameter=found.group(1)))


def goes_on(exchange: Exchange) -> bool:
    """Returns True iff a request continues a conversation from an earlier reply, by the parameter
    ``previous_response_id``. The model's server keeps the messages of this conversation."""
    found = _NAMED.finditer(exchange.sent.rpartition("\n\n")[2])
    return any(each.group(1) == _GOING_ON for each in found)


@dataclass(slots=True, eq=False)
class ServerConversations:
    """A ``ServerConversations`` stores the first run that named each conversation on a server.
    Thread-safe."""

    _runs: dict[str, str] = field(default_factory=dict[str, str])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, run: str, exchanges: Iterable[Exchange]) -> Left | None:
        """Records the conversations that a run's requests name. Returns a conversation that contains
        messages of a different run; None if there is none."""
        for exchange in exchanges:
            # The parameters of a request follow its messages. Only they are searched, so that a name in a
            # message is not taken for a parameter.
            parameters = exchange.sent.rpartition("\n\n")[2]
            for found in _NAMED.finditer(parameters):
                parameter, name = found.group(1), found.group(2) or found.group(3)
                with self._lock:
                    other = self._runs.setdefault(name, run)
                clause = (
                    f"{run} named the conversation {name!r} ({parameter}), which the model's server keeps"
                )
                if other != run:
                    return Left(name, f"{clause}, and so did {other}")
                if parameter == _GOING_ON and not exchange.after:
                    return Left(name, f"{clause}, before any model had replied")
        return None
