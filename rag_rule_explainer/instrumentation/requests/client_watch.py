"""What the models of one run are sent and reply, for integrations that see the client of a model.

The integration reads its client's requests and replies (``Asked``, ``Reply``), and tells them to the
watch of the run that the context says.
"""

import threading
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import NamedTuple

from ...errors import InvalidInput
from ...probing.wholeness import Said, fault_of
from ...sources import Source
from ..recording.recorder import Recording
from ..run_context import inside_retrieval, participation, refused
from .exchanges import Exchanges
from .source_recognition import Request, Sight

_RUNS = (
    "stub_tools names {name!r}, which ran all the same, as nothing says which function it is; put @tool "
    "on that function"
)
FAILED = "a model failed, and the application answered without its reply"


class Called(NamedTuple):
    """This class represents a call of a tool that a model asks for."""

    id: str
    name: str
    arguments: str


class Asked(NamedTuple):
    """This class represents a request. ``text``: all that is shown; ``sent``: the same with roles, calls
    and parameters; ``results``: what tools returned, by the id of their call."""

    text: str
    sent: str
    results: tuple[tuple[str, str], ...] = ()


class Reply(NamedTuple):
    """This class represents a reply. ``spoken``: its text with its calls; ``spent``: tokens, by kind."""

    said: Said
    spoken: str
    calls: tuple[Called, ...]
    model: str
    spent: dict[str, int]


class ClientWatch:
    """This class represents the requests of one run, the tokens it spent, and what is wrong with its
    replies, if anything.

    ``failures``: the errors of models, whatever became of them.
    """

    def __init__(self, *, accepts: Collection[str] = ()) -> None:
        self.exchanges = Exchanges()
        self.said: list[Said] = []
        self.failures: list[str] = []
        self.steps = 0
        self.before_step: list[Callable[[int], None]] = []
        self._spent: dict[str, dict[str, int]] = {}
        self._accepts = frozenset(accepts)
        self._fault = ""
        self._calls: dict[str, str] = {}
        self._streams: dict[object, Callable[[], Reply]] = {}
        self._guard = threading.Lock()

    @property
    def requests(self) -> list[Request]:
        """Everything that models were sent, in order."""
        return self.exchanges.requests

    @property
    def fault(self) -> str:
        """Returns what is wrong with a reply; or that there is none, as all models failed."""
        return f"{FAILED}: {self.failures[0]}" if self.failures and not self.said else self._fault

    @property
    def failed(self) -> bool:
        """Returns whether a model raised."""
        return bool(self.failures)

    @property
    def models(self) -> dict[str, dict[str, int]]:
        """Returns the tokens that the replies report, by model."""
        with self._guard:
            return {model: dict(spent) for model, spent in self._spent.items()}

    def asked(self, asked: Asked) -> object:
        """Takes in a request, and returns what its reply is known by. Raises what ends a run here."""
        key = object()
        if not inside_retrieval.get():
            # A reranker is shown everything; the answering model is not.
            self._note_results(asked)
            self.exchanges.ask(key, asked.text, asked.sent)
        return key

    def replied(self, key: object, reply: Reply) -> None:
        """Takes in the reply to a request."""
        run = participation()
        with self._guard:
            self.said.append(reply.said)
            self._fault = self._fault or fault_of(reply.said, self._accepts)
            self._calls.update({call.id: call.name for call in reply.calls})
            account = self._spent.setdefault(reply.model, {}) if reply.spent else {}
            account.update({kind: account.get(kind, 0) + count for kind, count in reply.spent.items()})
        if run is not None:
            run.tools.update(call.name for call in reply.calls)
        self.exchanges.reply(key, reply.said.text, reply.spoken)

    @contextmanager
    def streaming(self, key: object, so_far: Callable[[], Reply]) -> Generator[None, None, None]:
        """Around the reading of a streamed reply. ``so_far``: what has come of it by now."""
        self._streams[key] = so_far
        try:
            with self.failing():
                yield
        except GeneratorExit:
            # It was left, and may be found so by the garbage collector, in the middle of anything: no
            # lock can be taken here. The end of the run looks after it.
            raise
        except Exception:
            self._ended(key)
            raise
        self._ended(key)

    def end_streams(self) -> None:
        """Takes what has come of streams that were left before their end: the run is over."""
        for key in list(self._streams):
            self._ended(key)

    def _ended(self, key: object) -> None:
        so_far = self._streams.pop(key, None)
        if so_far is not None:
            self.replied(key, so_far())

    @contextmanager
    def failing(self) -> Generator[None, None, None]:
        """Notes what is raised inside: a model failed."""
        try:
            yield
        except Exception as error:
            self.failures.append(f"{type(error).__name__}: {error}")
            raise

    def _note_results(self, asked: Asked) -> None:
        """What tools of this run returned is the run's own; one that shows what was retrieved
        retrieves."""
        run = participation()
        results = [(self._calls[call], text) for call, text in asked.results if call in self._calls]
        if run is None or not results:
            return
        found = run.gate.texts(run.gate.begin()) if isinstance(run.gate, Recording) else []
        sight = Sight([Source(str(place), text) for place, text in enumerate(dict.fromkeys(found))])
        for name, text in results:
            if name in run.stubs and name not in run.stubbed:
                raise refused(InvalidInput(_RUNS.format(name=name)))
            run.made.append(text)
            if sight.seen_in([Request(text)]):
                run.retrieving_tools.add(name)


_watching: ContextVar[ClientWatch | None] = ContextVar("rag_rule_client_watch", default=None)


@contextmanager
def watched_by(watch: ClientWatch) -> Generator[None, None, None]:
    """Inside, it sees the models of this context."""
    token = _watching.set(watch)
    try:
        yield
    finally:
        watch.end_streams()
        # A stream that is given up may end in the garbage collector's context, where nothing was set.
        with suppress(ValueError):
            _watching.reset(token)


def current_watch() -> ClientWatch | None:
    """Returns what sees the models of this context; None outside of runs."""
    return _watching.get()
