"""This module records the requests and replies of one run's models, for integrations of model clients.

The integration reads its client's requests and replies as ``ModelRequest`` and ``ModelReply``, and passes
them to ``current_watch()``, which belongs to the current run.
"""

import threading
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from ...probing.wholeness import Said, fault_of
from ...tool_calls import ToolCall
from ..run_context import inside_retrieval, participation
from .exchanges import Exchanges
from .open_streams import Arrived, OpenStreams, are_whole
from .source_recognition import Request
from .tools_in_use import tools_in_use
from .unrecorded_tools import note_answers, note_remote, note_retrieving

FAILED = "a model failed, and the application answered without its reply"


class Called(NamedTuple):
    """This class represents a tool call in a model's reply. ``by_provider``: True iff the model's
    provider has run the tool; ``over_mcp``: True iff the provider did so on an MCP server, which may
    belong to anybody."""

    id: str
    call: ToolCall
    by_provider: bool = False
    over_mcp: bool = False


class ModelRequest(NamedTuple):
    """This class represents a request to a model.

    ``text``: the text of all its messages, in which sources are searched for. ``sent``: that text
    together with roles, tool calls and parameters, by which requests are compared. ``results``: pairs of
    a tool call's id and the text that the tool returned.
    """

    text: str
    sent: str
    results: tuple[tuple[str, str], ...] = ()


class ModelReply(NamedTuple):
    """A ``ModelReply`` is one reply of a model.

    ``said``: its text and how it ended. ``spoken``: its text and tool calls as one text, by which replies
    are compared. ``spent``: the number of tokens by kind.
    """

    said: Said
    spoken: str
    calls: tuple[Called, ...]
    model: str
    spent: dict[str, int]


class ArrivingReply(Protocol):
    """An ``ArrivingReply`` is a streamed reply, as far as it has arrived."""

    @property
    def arguments(self) -> Sequence[str]:
        """Returns the arguments of the reply's tool calls, each as the text that the model wrote."""
        ...

    def reply(self) -> ModelReply:
        """Returns the part of the reply that has arrived."""
        ...

    def note_left(self) -> None:
        """Records that the application may have stopped reading the reply. A replay that gets the
        recorded reply then gets only the part that has arrived."""
        ...


class JoinedChunks(Protocol):
    """This class joins the chunks of a streamed reply.

    ``is_partial``: True until the stream is read to its end, or to the chunk that completes the reply.
    """

    is_partial: bool

    @property
    def arguments(self) -> Sequence[str]:
        """Returns the arguments of the tool calls in the chunks, each as the text that the model
        wrote."""
        ...

    def take(self, chunk: Any, /) -> object:
        """Adds the next chunk."""
        ...

    def reply(self) -> ModelReply:
        """Returns the reply that consists of the chunks added so far."""
        ...


@dataclass(slots=True, eq=False)
class RunRecord:
    """A ``RunRecord`` stores one run's requests to models, and the replies. ``said``: the replies by
    their keys; ``failures``: the errors that models raised; ``spent``: the tokens by model and kind."""

    exchanges: Exchanges = field(default_factory=Exchanges)
    said: dict[object, Said] = field(default_factory=dict[object, Said])
    failures: list[str] = field(default_factory=list[str])
    spent: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])


class ClientWatch:
    """This class records the requests and replies of one run, the tokens spent, and why a reply is
    unusable, for example because it was cut off.

    ``accepts``: finish reasons (the reasons why a model stopped) with which the user accepts a reply.
    ``failures``: the errors that models raised, even if the application caught them. ``record``: the
    ``RunRecord`` for requests and replies, which a framework's own watch may share.
    """

    def __init__(self, *, accepts: Collection[str] = (), record: RunRecord | None = None) -> None:
        record = record or RunRecord()
        self.exchanges = record.exchanges
        self.streams = OpenStreams[ArrivingReply]()
        self.failures = record.failures
        self.steps = 0
        self.before_step: list[Callable[[int], None]] = []
        self._spent = record.spent
        self._accepts = frozenset(accepts)
        self._fault = ""
        self._said = record.said
        self._guard = threading.Lock()
        self._apart: set[object] = set()

    @property
    def requests(self) -> list[Request]:
        """Returns all requests to models, in order."""
        return self.exchanges.requests

    @property
    def said(self) -> list[Said]:
        """Returns the models' replies, in order. Of a streamed reply that has not ended, the part that
        has arrived is returned."""
        return list({**self._said, **self.arrived_so_far()}.values())

    def arrived_so_far(self) -> dict[object, Said]:
        """Returns the arrived parts of the streamed replies that have not ended, by their keys."""
        return {key: self._left(key, each) for key, each in self.streams.open()}

    @property
    def fault(self) -> str:
        """Returns the reason why the replies cannot be used: the fault of the first unusable reply, such
        as that it was cut off, or, if no model replied, the first error of a model. Empty if they can be
        used."""
        return f"{FAILED}: {self.failures[0]}" if self.failures and not self.said else self._fault

    @property
    def failed(self) -> bool:
        """Returns True iff at least one call of a model raised an error."""
        return bool(self.failures)

    @property
    def models(self) -> dict[str, dict[str, int]]:
        """Returns the numbers of tokens that the replies report, by model and kind."""
        with self._guard:
            return {model: dict(spent) for model, spent in self._spent.items()}

    def asked(self, asked: ModelRequest) -> object:
        """Records a request, and returns the key by which ``replied`` finds it. May raise an error that
        ends the run."""
        key = object()
        if inside_retrieval.get():
            self._apart.add(key)
        else:
            # Recorded requests are searched for omitted sources. A reranking model is sent all sources in
            # every replay, so its requests are not recorded.
            self.end_streams(of_this_reader=True)
            self._note_results(asked)
            self.exchanges.ask(key, asked.text, asked.sent)
        return key

    def replied(self, key: object, reply: ModelReply) -> None:
        """Records the reply to a request. ``key``: the value that ``asked`` returned for the request."""
        self._note(key, reply, tools_in_use.get())
        self.exchanges.reply(key, reply.said.text, reply.spoken)

    def _note(self, key: object, reply: ModelReply, within: tuple[str, ...]) -> None:
        with self._guard:
            self._said[key] = replace(reply.said, apart=key in self._apart, within=within)
            self._fault = self._fault or fault_of(reply.said, self._accepts)
            account = self._spent.setdefault(reply.model, {}) if reply.spent else {}
            account.update({kind: account.get(kind, 0) + count for kind, count in reply.spent.items()})
        self._note_calls(key, reply)

    def _note_calls(self, key: object, reply: ModelReply) -> None:
        run = participation()
        if run is None:
            return
        own = [each for each in reply.calls if not each.by_provider]
        run.tools.update(each.call.name for each in own)
        note_remote(run, {each.call.name for each in reply.calls if each.over_mcp})
        if key not in self._apart:
            run.calls.note_reply(key, ((each.id, each.call) for each in own))

    @contextmanager
    def streaming(self, key: object, arriving: ArrivingReply) -> Generator[None, None, None]:
        """Records the streamed reply ``arriving``, which must be read inside the block.

        ``key``: the value that ``asked`` returned for the request.
        """
        self.streams.take(key, arriving)
        try:
            with self.failing():
                yield
        except GeneratorExit:
            # The garbage collector may close an abandoned stream at any point in the code, so taking a
            # lock could block for ever. ``end_streams`` records what had arrived.
            raise
        except Exception:
            if self.streams.get(key) is not None:
                self.end_stream(key, arriving)
            raise

    def arrived(self, key: object, arriving: ArrivingReply) -> None:
        """Records that more of the streamed reply ``arriving`` has arrived. May raise an error that ends
        the run. Call it before the application gets this part: if the part completes a tool call, the
        application may run the tool or stop reading at once."""
        self.streams.take(key, arriving)
        if arriving.arguments and key not in self._apart:
            self._note_calls(key, arriving.reply())
            if are_whole(arriving.arguments):
                for check in self.exchanges.during_reply:
                    check()

    def end_stream(self, key: object, arriving: ArrivingReply) -> None:
        """Records the reply of a stream whose last chunk has arrived, before the application gets it."""
        self.streams.end(key)
        self.replied(key, arriving.reply())

    def end_streams(self, *, of_this_reader: bool = False) -> None:
        """Records the replies of streams that the application did not read to their end: the parts that
        have arrived. Must be called at the end of the run. ``of_this_reader``: True to record only
        streams whose last chunk was read in this thread and task; False for all."""
        for key, arrived in self.streams.open(of_this_reader=of_this_reader):
            self.streams.end(key)
            reply = arrived.reply.reply()
            self._note(key, reply, arrived.within)
            arrived.reply.note_left()
            self.exchanges.note_reply(key, reply.said.text, reply.spoken)

    def _left(self, key: object, arrived: Arrived[ArrivingReply]) -> Said:
        return replace(arrived.reply.reply().said, apart=key in self._apart, within=arrived.within)

    @contextmanager
    def failing(self) -> Generator[None, None, None]:
        """Records an error that is raised inside the block as a failure of the model. The error is still
        raised."""
        try:
            yield
        except Exception as error:
            self.failures.append(f"{type(error).__name__}: {error}")
            raise

    def _note_results(self, asked: ModelRequest) -> None:
        """Stores on the current run the results of tools that this request contains, and the names of the
        tools whose results contain texts of sources."""
        run = participation()
        answered = note_answers(run, asked.results) if run is not None and asked.results else []
        if run is not None and answered:
            run.made.extend(each.text for each in answered)
            note_retrieving(run, answered)


_watching: ContextVar[ClientWatch | None] = ContextVar("rag_rule_client_watch", default=None)


@contextmanager
def watched_by(watch: ClientWatch) -> Generator[None, None, None]:
    """Makes ``watch`` record all calls of models in this context, for the duration of the block."""
    token = _watching.set(watch)
    try:
        yield
    finally:
        watch.end_streams()
        run = participation()
        if run is not None and run.bound is not None:  # this run is a replay whose answer was read
            watch.streams.close()
        # The garbage collector may close an abandoned stream in a different context. The variable cannot
        # be reset there, and the ValueError is ignored.
        with suppress(ValueError):
            _watching.reset(token)


def current_watch() -> ClientWatch | None:
    """Returns the watch of this context; None outside of runs."""
    return _watching.get()
