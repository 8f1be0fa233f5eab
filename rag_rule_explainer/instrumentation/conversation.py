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


@dataclass(frozen=True, slots=True)
class FailedRequest:
    """A ``FailedRequest`` stands for the reply of a model that raised an error in the baseline, after
    which the application asked another model. A replay gets the same error."""

    error: Exception


@dataclass(slots=True, eq=False)
class Conversation:
    """A ``Conversation`` records the replies of one run. The number of the request, counted from 0,
    identifies each reply.

    ``served``: the recorded replies that the first requests of a replay get instead of being sent; empty
    in the baseline, where all requests are sent. ``failed``: the errors that models raised, by the number
    of the request.
    """

    watch: ModelWatch
    served: Sequence[Any] = ()
    noted: dict[int, NotedReply] = field(default_factory=dict[int, NotedReply])
    failed: dict[int, Exception] = field(default_factory=dict[int, Exception])

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

    def note_failure(self, key: Hashable, error: Exception) -> None:
        """Records the error that the model raised for the request with this key."""
        place = self.exchanges.place_of(key)
        if place is not None:
            self.failed[place] = error

    def reply_to(self, key: Hashable) -> Any:
        """Returns a copy of the recorded reply that the request with this key gets; None if the request
        is to be sent to the model. Raises the recorded error if the model failed for this request."""
        place = self.place_served(key)
        served = None if place is None else self.served[place]
        if isinstance(served, FailedRequest):
            raise served.error.with_traceback(None)
        return copied(served)

    def place_served(self, key: Hashable) -> int | None:
        """Returns the number of the request with this key, counted from 0, if the request gets a recorded
        reply; otherwise None."""
        place = self.exchanges.place_of(key)
        return place if place is not None and place < len(self.served) else None

    @property
    def acted(self) -> NotedReply | None:
        """Returns the first reply to a request that the replay sends; None if there is no reply yet. A
        replay sends several requests if models fail before one replies."""
        places = [each for each in list(self.noted) if each >= len(self.served)]
        return self.noted[min(places)] if places else None
