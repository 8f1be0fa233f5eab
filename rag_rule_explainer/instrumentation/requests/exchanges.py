"""Everything that the models of one run were sent and replied, in order.

The integrations' watches write here; what a run was sent is compared with another run (``fidelity``), and
searched for what other runs made (``carrying``).
"""

import threading
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from itertools import count

from .source_recognition import Request

_clock = count(1)
"""Numbers all that is sent and made in this process, in the order in which that happens."""


def moment() -> int:
    """Returns a number that is larger than all before it, in any thread."""
    return next(_clock)


@dataclass(slots=True, eq=False)
class Exchange:
    """One request to a model, and its reply once there is one.

    ``sent``: the request with its roles and tool calls. ``reply``: the reply's text, ``said``: the same
    with its tool calls; None while there is none, and for good where the model failed. ``after``: the
    exchanges of the same run whose replies were there when this one was sent. ``at``: its ``moment``.
    """

    request: Request
    sent: str
    after: tuple["Exchange", ...]
    at: int
    reply: str | None = None
    said: str | None = None


@dataclass(slots=True, eq=False)
class Exchanges:
    """Keeps the exchanges of one run. Safe to be told from several threads.

    ``before_sending``: is told of each request before it is sent, and may raise there. ``after_reply``:
    is told of each reply at once.
    """

    before_sending: list[Callable[[Request], None]] = field(
        default_factory=list[Callable[[Request], None]]
    )
    after_reply: list[Callable[[str], None]] = field(default_factory=list[Callable[[str], None]])
    _all: list[Exchange] = field(default_factory=list[Exchange])
    _open: dict[Hashable, Exchange] = field(default_factory=dict[Hashable, Exchange])
    _replied: list[Exchange] = field(default_factory=list[Exchange])
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def __iter__(self) -> Iterator[Exchange]:
        return iter(tuple(self._all))

    @property
    def requests(self) -> list[Request]:
        """Everything that was sent, in order."""
        return [each.request for each in self]

    def ask(self, key: Hashable, text: str, sent: str) -> None:
        """Notes a request, to be answered under ``key``. Raises what ``before_sending`` raises."""
        with self._guard:
            after = tuple(self._replied)
            request = Request(text, tuple(each.reply or "" for each in after))
            exchange = Exchange(request, sent, after, moment())
            self._all.append(exchange)
            self._open[key] = exchange
        for told in self.before_sending:
            told(request)

    def reply(self, key: Hashable, text: str, said: str) -> None:
        """Notes the reply to the request of that key; of several replies to one, the last stands."""
        with self._guard:
            exchange = self._open.get(key)
            if exchange is None:
                return
            exchange.reply, exchange.said = text, said
            if exchange not in self._replied:
                self._replied.append(exchange)
        for told in self.after_reply:
            told(text)
