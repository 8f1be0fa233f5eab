"""What models are sent and reply during one run, from the official OpenAI client.

While somebody explains, and never longer, the one method through which the client sends everything is
replaced on its class; which run a request belongs to, the context says.
"""

import re
import threading
from collections.abc import AsyncIterator, Callable, Collection, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.copies.patching import Interception, Patches
from rag_rule_explainer.instrumentation.engine import Said, fault_of
from rag_rule_explainer.instrumentation.isolation import handing
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from rag_rule_explainer.instrumentation.requests.exchanges import Exchanges
from rag_rule_explainer.instrumentation.requests.source_recognition import Request, Sight
from rag_rule_explainer.instrumentation.run_context import inside_retrieval, participation

from .wire import Asked, Reply, Streamed, asked_in, reply_in

FAILED = "a model failed, and the application answered without its reply"
_MODELS = ("/completions", "/responses")
"""How the paths end at which a model is asked; others count tokens, embed or list."""


class Watch:
    """The requests of one run, the tokens it spent, and what is wrong with its replies, if anything.

    ``failures``: the errors of models, whatever became of them.
    """

    def __init__(self, *, accepts: Collection[str] = ()) -> None:
        self.exchanges = Exchanges()
        self.said: list[Said] = []
        self.failures: list[str] = []
        self.steps = 0
        self.before_step: list[Callable[[int], None]] = []
        self.models: dict[str, dict[str, int]] = {}
        self._accepts = frozenset(accepts)
        self._fault = ""
        self._calls: dict[str, str] = {}
        self._guard = threading.Lock()

    @property
    def requests(self) -> list[Request]:
        """Everything that models were sent, in order."""
        return self.exchanges.requests

    @property
    def fault(self) -> str:
        """What is wrong with a reply; or that there is none, as all models failed."""
        return f"{FAILED}: {self.failures[0]}" if self.failures and not self.said else self._fault

    @property
    def failed(self) -> bool:
        """Whether a model raised."""
        return bool(self.failures)

    def asked(self, body: Mapping[str, Any]) -> object:
        """Takes in a request, and returns what its reply is known by. Raises what ends a run here."""
        key = object()
        if not inside_retrieval.get():
            # A reranker is shown everything; the answering model is not.
            asked = asked_in(body)
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
            account = self.models.setdefault(reply.model, {}) if reply.spent else {}
            account.update({kind: account.get(kind, 0) + count for kind, count in reply.spent.items()})
        if run is not None:
            run.tools.update(call.name for call in reply.calls)
        self.exchanges.reply(key, reply.said.text, reply.spoken)

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
        sight = Sight([Source(str(place), text) for place, text in enumerate(found)])
        for name, text in results:
            run.made.append(text)
            if sight.seen_in([Request(text)]):
                run.retrieving_tools.add(name)


_watching: ContextVar[Watch | None] = ContextVar("rag_rule_plain_watch", default=None)


@contextmanager
def watched_by(watch: Watch) -> Generator[None, None, None]:
    """Inside, it sees the models of this context."""
    token = _watching.set(watch)
    try:
        yield
    finally:
        # A stream that is given up may end in the garbage collector's context, where nothing was set.
        with suppress(ValueError):
            _watching.reset(token)


def _asks_a_model(options: Any) -> bool:
    return options.method.lower() == "post" and urlsplit(options.url).path.rstrip("/").endswith(_MODELS)


def _begun(watch: Watch, options: Any) -> object:
    return watch.asked({**(options.json_data or {}), **(options.extra_json or {})})


def _answered(watch: Watch, key: object, result: Any) -> Any:
    """Takes in what the client returns, at once or as it is read."""
    chunks = getattr(result, "_iterator", None)
    if chunks is None:
        watch.replied(key, reply_in(result))
    else:
        # There is no public place where a stream's chunks pass by, whoever reads them and how.
        result._iterator = (_aread if hasattr(chunks, "__anext__") else _read)(watch, key, chunks)
    return result


@contextmanager
def _reading(watch: Watch, key: object) -> Generator[Streamed, None, None]:
    streamed, is_left = Streamed(), False
    try:
        with watch.failing():
            yield streamed
    except GeneratorExit:
        is_left = True
        raise
    finally:
        watch.replied(key, reply_in(streamed.whole(), is_left=is_left))


def _read(watch: Watch, key: object, chunks: Iterator[Any]) -> Iterator[Any]:
    with _reading(watch, key) as streamed:
        for chunk in chunks:
            streamed.take(chunk)
            yield chunk


async def _aread(watch: Watch, key: object, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
    with _reading(watch, key) as streamed:
        async for chunk in chunks:
            streamed.take(chunk)
            yield chunk


def _sending(_: str, request: Any) -> Any:
    @wraps(request)
    def sent(self: Any, cast_to: Any, options: Any, *args: Any, **kwargs: Any) -> Any:
        watch = _watching.get()
        if watch is None or not _asks_a_model(options):
            return request(self, cast_to, options, *args, **kwargs)
        key = _begun(watch, options)
        with watch.failing():
            result = request(self, cast_to, options, *args, **kwargs)
        return _answered(watch, key, result)

    return sent


def _asending(_: str, request: Any) -> Any:
    @wraps(request)
    async def sent(self: Any, cast_to: Any, options: Any, *args: Any, **kwargs: Any) -> Any:
        watch = _watching.get()
        if watch is None or not _asks_a_model(options):
            return await request(self, cast_to, options, *args, **kwargs)
        key = _begun(watch, options)
        with watch.failing():
            result = await request(self, cast_to, options, *args, **kwargs)
        return _answered(watch, key, result)

    return sent


_ADDED_ALONE = re.compile("(?!)")
"""No method is replaced on subclasses: all of them send through the one of the client."""
interception = Patches(
    [
        Interception("openai", "OpenAI", _ADDED_ALONE, _sending, added=("request",)),
        Interception("openai", "AsyncOpenAI", _ADDED_ALONE, _asending, added=("request",)),
        *handing.INTERCEPTIONS,
    ]
)
