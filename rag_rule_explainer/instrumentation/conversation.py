"""This module records the replies of a baseline's models, and gives them to replays that send only one
request to a model (``replay_of="next_action"``)."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..probing.wholeness import Said
from .copies.copying import copied
from .requests.exchanges import Exchanges
from .watches import ModelWatch


class NotedReply(NamedTuple):
    """A ``NotedReply`` is a reply of a model. ``raw``: the reply in the framework's type; None if it
    cannot be given to a replay. ``said``: its text and tool calls."""

    raw: Any
    said: Said


@dataclass(slots=True, eq=False)
class Conversation:
    """A ``Conversation`` records the replies of one run. The number of the request, counted from 0,
    identifies each reply.

    ``served``: the recorded replies that the first requests of a replay get instead of being sent; empty
    in the baseline, where all requests are sent.
    """

    watch: ModelWatch
    served: Sequence[Any] = ()
    noted: dict[int, NotedReply] = field(default_factory=dict[int, NotedReply])

    @property
    def exchanges(self) -> Exchanges:
        """Returns the requests of the run."""
        return self.watch.exchanges

    def note(self, key: Hashable, raw: Any, said: Said) -> None:
        """Records the reply to the request with this key. Call it before the application gets the
        reply."""
        place = self.exchanges.place_of(key)
        if place is not None:
            self.noted[place] = NotedReply(copied(raw), said)

    def reply_to(self, key: Hashable) -> Any:
        """Returns a copy of the recorded reply that the request with this key gets; None if the request
        is to be sent to the model."""
        place = self.place_served(key)
        return None if place is None else copied(self.served[place])

    def place_served(self, key: Hashable) -> int | None:
        """Returns the number of the request with this key, counted from 0, if the request gets a recorded
        reply; otherwise None."""
        place = self.exchanges.place_of(key)
        return place if place is not None and place < len(self.served) else None

    @property
    def acted(self) -> NotedReply | None:
        """Returns the reply to the only request that the replay sends; None if there is no reply yet."""
        return self.noted.get(len(self.served))
