"""This module stores all requests and replies of one run, in order.

The integrations record the requests and replies here. The module ``fidelity`` compares them with those of
a different run, and ``carrying`` searches the requests for texts of other runs.
"""

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from .source_recognition import Request
from .tools_in_use import tools_in_use

_clock = count(1)
"""This counter numbers the requests of all runs, and the texts that runs made, in the order of time. If a
request has a smaller number than a text, the request came first."""


def moment() -> int:
    """Returns a number that is larger than every earlier one, in any thread."""
    return next(_clock)


def sent_parameters(sent: str) -> str:
    """Returns the parameters of a request. ``sent``: see ``Exchange``; the parameters come last in it."""
    return sent.rpartition("\n\n")[2]


@dataclass(slots=True, eq=False)
class Exchange:
    """An ``Exchange`` is one request to a model with its reply.

    ``sent``: the request with roles, tool calls and parameters. ``reply``: the reply's text; ``said``:
    the reply's text with its tool calls; both are None if there is no reply. ``after``: the exchanges of
    the same run that were answered before this request was sent. ``at``: the moment of the request, a
    number that is higher for later events. ``within``: the names of the tools that were running then.
    """

    request: Request
    sent: str
    after: tuple["Exchange", ...]
    at: int
    within: tuple[str, ...] = ()
    reply: str | None = None
    said: str | None = None


@dataclass(slots=True, eq=False)
class Exchanges:
    """This class keeps the exchanges of one run. Thread-safe.

    ``before_sending``: functions that are called with each request before it is sent; they may raise an
    error to end the run. ``after_reply``: functions that are called with the text of each reply.
    ``during_reply``: functions that are called when a part of a streamed reply with a tool call has
    arrived, before the application gets it.
    """

    before_sending: list[Callable[[Request], None]] = field(
        default_factory=list[Callable[[Request], None]]
    )
    after_reply: list[Callable[[str], None]] = field(default_factory=list[Callable[[str], None]])
    during_reply: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    _all: list[Exchange] = field(default_factory=list[Exchange])
    _open: dict[Hashable, Exchange] = field(default_factory=dict[Hashable, Exchange])
    _replied: list[Exchange] = field(default_factory=list[Exchange])
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def __iter__(self) -> Iterator[Exchange]:
        return iter(tuple(self._all))

    @property
    def requests(self) -> list[Request]:
        """Returns all requests, in order."""
        return [each.request for each in self]

    @classmethod
    def only(cls, chosen: Iterable[Exchange]) -> "Exchanges":
        """Returns an ``Exchanges`` that has only these exchanges of an ended run, in order. In the
        ``after`` of each, the run's other exchanges are removed."""
        own = dict[int, Exchange]()
        for each in chosen:
            after = tuple(own[id(one)] for one in each.after if id(one) in own)
            request = Request(each.request.text, tuple(one.reply or "" for one in after))
            own[id(each)] = replace(each, request=request, after=after)
        return cls(_all=list(own.values()))

    def place_of(self, key: Hashable) -> int | None:
        """Returns the index of the request with this key among all requests; None if it was not
        recorded."""
        with self._guard:
            asked = self._open.get(key)
            return next((place for place, each in enumerate(self._all) if each is asked), None)

    def ask(self, key: Hashable, text: str, sent: str) -> None:
        """Records a request. Raises an error if a function in ``before_sending`` does. ``key``: any value
        by which ``reply`` finds the request. ``text``: the text of the messages; ``sent``: this text with
        roles, tool calls and parameters."""
        with self._guard:
            after = tuple(self._replied)
            request = Request(text, tuple(each.reply or "" for each in after))
            exchange = Exchange(request, sent, after, moment(), tools_in_use.get())
            self._all.append(exchange)
            self._open[key] = exchange
        for listener in self.before_sending:
            listener(request)

    def reply(self, key: Hashable, text: str, said: str) -> None:
        """Records the reply to the request with this key; a later reply replaces an earlier one.
        ``text``: the reply's text; ``said``: its text with its tool calls. Calls the functions in
        ``after_reply``, which may raise an error."""
        if self.note_reply(key, text, said):
            for listener in self.after_reply:
                listener(text)

    def note_reply(self, key: Hashable, text: str, said: str) -> bool:
        """Records the reply to the request with this key, without calling the functions in
        ``after_reply``. Returns False if no such request was recorded. ``text``: the reply's text;
        ``said``: its text with its tool calls."""
        with self._guard:
            exchange = self._open.get(key)
            if exchange is None:
                return False
            exchange.reply, exchange.said = text, said
            if exchange not in self._replied:
                self._replied.append(exchange)
        return True
