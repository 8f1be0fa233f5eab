"""This module records the requests and replies of a run's models from LlamaIndex's events."""

import re
import threading
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any, cast

from llama_index.core.base.llms.types import ChatResponse, CompletionResponse
from llama_index.core.instrumentation.events.exception import ExceptionEvent
from llama_index.core.instrumentation.events.llm import (
    LLMChatEndEvent,
    LLMChatInProgressEvent,
    LLMChatStartEvent,
    LLMCompletionEndEvent,
    LLMCompletionInProgressEvent,
    LLMCompletionStartEvent,
    LLMPredictEndEvent,
    LLMPredictStartEvent,
)
from llama_index.core.instrumentation.events.span import SpanDropEvent

from rag_rule_explainer.instrumentation.copies.copying import described
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.engine import Said, fault_of
from rag_rule_explainer.instrumentation.requests.exchanges import Exchanges
from rag_rule_explainer.instrumentation.requests.source_recognition import Request
from rag_rule_explainer.instrumentation.run_context import inside_retrieval, participation

from .responses import (
    message_text,
    message_with_role,
    model_of,
    reply_text,
    reply_with_role,
    said_in,
    stop_reason_of,
    usage_in,
)

MODEL_FAILED = "a model failed, and the application answered without its reply"


class Watch:
    """A ``Watch`` records the requests of one run, its tokens, and the faults of its replies.

    ``failures``: the errors that models raised, even if the application caught them.
    """

    def __init__(self, *, accepts: Collection[str] = ()) -> None:
        self.failures: list[str] = []
        self._fault = ""
        self.said: list[Said] = []
        self._accepts = frozenset(accepts)
        self._guard = threading.Lock()
        self.steps = 0
        self.before_step: list[Callable[[int], None]] = []
        before_sending: list[Callable[[Request], None]] = []
        after_reply: list[Callable[[str], None]] = []
        self._sent = Exchanges(before_sending, after_reply)
        self._predicted = Exchanges(before_sending, after_reply)
        self._replies: list[str] = []
        self._spent: dict[str, dict[str, int]] = {}
        # The finish reason of a streamed reply, by the id of its span, once a chunk has it.
        self._reasons: dict[str | None, str | None] = {}
        self._asking: set[str | None] = set()

    @property
    def exchanges(self) -> Exchanges:
        """Returns the requests that models report; if they report none, those of the predictions."""
        return self._sent if self._sent.requests else self._predicted

    @property
    def requests(self) -> list[Request]:
        """Returns the requests, in order."""
        return self.exchanges.requests

    @property
    def fault(self) -> str:
        """Returns the fault of a reply, or the error if all models failed; empty if all is well."""
        if self.failures and not self._replies:
            return f"{MODEL_FAILED}: {self.failures[0]}"
        return self._fault

    @property
    def failed(self) -> bool:
        """Returns True iff a model raised."""
        return bool(self.failures)

    @property
    def models(self) -> dict[str, dict[str, int]]:
        """Returns the tokens that the replies report, by model."""
        with self._guard:
            return {model: dict(spent) for model, spent in self._spent.items()}

    def told(self, event: Any) -> None:
        """Takes an event of the dispatcher; events that do not concern models are ignored."""
        if isinstance(event, (LLMChatStartEvent, LLMCompletionStartEvent)):
            self._asking.add(event.span_id)
        if isinstance(event, LLMChatStartEvent):
            text = "\n\n".join(message_text(message) for message in event.messages)
            sent = "\n\n".join([*map(message_with_role, event.messages), _parameters(event)])
            self._request(self._sent, event.span_id, text, sent)
        elif isinstance(event, LLMCompletionStartEvent):
            sent = f"{event.prompt}\n\n{_parameters(event)}"
            self._request(self._sent, event.span_id, event.prompt, sent)
        elif isinstance(event, LLMPredictStartEvent):
            self._predicts(event)
        elif isinstance(event, LLMPredictEndEvent):
            self.predicted(event.span_id, event.output)
        elif isinstance(event, (LLMChatInProgressEvent, LLMCompletionInProgressEvent)):
            reason = stop_reason_of(event.response)
            with self._guard:
                self._reasons[event.span_id] = reason or self._reasons.get(event.span_id)
        elif isinstance(event, (LLMChatEndEvent, LLMCompletionEndEvent)):
            self._replied(event.response, event.span_id)
        elif isinstance(event, SpanDropEvent) and event.span_id in self._asking:
            self.failures.append(event.err_str)
        elif isinstance(event, ExceptionEvent) and event.span_id in self._asking:
            self.failures.append(f"{type(event.exception).__name__}: {event.exception}")

    def _predicts(self, event: LLMPredictStartEvent) -> None:
        values = (event.template_args or {}).values()
        text = "\n\n".join(each for each in values if isinstance(each, str))
        self._request(self._predicted, event.span_id, text, text)
        begun = _beginning.get()
        if begun is not None:
            begun.append(event.span_id)

    def predicted(self, span: str | None, text: str) -> None:
        """Notes the reply of the prediction with this span."""
        self._predicted.reply(span, text, text)

    def _request(self, where: Exchanges, span: str | None, text: str, sent: str) -> None:
        if not inside_retrieval.get():
            # A reranker's request shows all nodes, which the answering model need not see.
            where.ask(span, text, sent)

    def _replied(self, response: ChatResponse | CompletionResponse | None, span: str | None) -> None:
        self._sent.reply(span, reply_text(response), reply_with_role(response))
        usage = usage_in(response)
        with self._guard:
            said = said_in(response, self._reasons.pop(span, None))
            self._replies.append(reply_text(response))
            self.said.append(said)
            account = self._spent.setdefault(model_of(response), {}) if usage else {}
            for kind, count in usage.items():
                account[kind] = account.get(kind, 0) + count
            self._fault = self._fault or fault_of(said, self._accepts)


_OF_A_MODEL = frozenset(
    {
        *("class_name", "model", "model_name", "deployment_name", "engine", "temperature", "max_tokens"),
        *("top_p", "seed", "reasoning_effort", "additional_kwargs", "system_prompt"),
    }
)
_OF_TRANSPORT = frozenset({"timeout", "extra_headers", "api_key", "http_client", "messages", "prompt"})

_watching: ContextVar[Watch | None] = ContextVar("rag_rule_llama_index_watch", default=None)


@contextmanager
def watched_by(watch: Watch) -> Generator[None, None, None]:
    """Passes the events of this context to the watch, inside the block."""
    token = _watching.set(watch)
    try:
        yield
    finally:
        # An abandoned stream may end in the garbage collector's context, where the variable is unset.
        with suppress(ValueError):
            _watching.reset(token)


_beginning: ContextVar[list[str | None] | None] = ContextVar("rag_rule_beginning", default=None)
"""The ids of the spans of the predictions that begin inside ``prediction_begun``."""


@contextmanager
def prediction_begun() -> Generator[Callable[[str], None] | None, None, None]:
    """Watches the begin of a streamed prediction inside the block.

    Yields a callback for its reply, since LlamaIndex has no event for that; None outside of a watch.
    """
    watch, begun = _watching.get(), list[str | None]()
    token = _beginning.set(begun)
    try:
        # A prediction may begin nested ones; the first is the streamed prediction itself.
        yield None if watch is None else lambda text: watch.predicted(begun[0] if begun else None, text)
    finally:
        _beginning.reset(token)


def _parameters(event: LLMChatStartEvent | LLMCompletionStartEvent) -> str:
    """Returns the model of a request and its parameters, such as temperature and tools, as text."""
    model = {key: each for key, each in event.model_dict.items() if key in _OF_A_MODEL}
    given = {key: each for key, each in event.additional_kwargs.items() if key not in _OF_TRANSPORT}
    plain = {key: each for key, each in {**model, **given}.items() if _is_plain(each)}
    tools = [getattr(getattr(each, "metadata", None), "name", "") for each in given.get("tools") or ()]
    return described({**plain, "tools": tools} if any(tools) else plain)


def _is_plain(value: Any) -> bool:
    """Returns True for JSON-like values; other objects may differ from run to run without meaning."""
    if isinstance(value, Mapping):
        return all(map(_is_plain, cast("Mapping[str, Any]", value).values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, cast("Sequence[Any]", value)))
    return value is None or isinstance(value, (str, int, float))


_OF_MODELS = (
    LLMChatStartEvent,
    LLMChatInProgressEvent,
    LLMChatEndEvent,
    LLMCompletionStartEvent,
    LLMCompletionInProgressEvent,
    LLMCompletionEndEvent,
    LLMPredictStartEvent,
    LLMPredictEndEvent,
    SpanDropEvent,
    ExceptionEvent,
)


@lru_cache(maxsize=256)
def _counts(kind: type) -> bool:
    """Returns True for classes of events that ``told`` uses; cached, as a replay has many others."""
    return issubclass(kind, _OF_MODELS)


def _dispatching(name: str, method: Any) -> Any:
    """Wraps the dispatcher: events reach the current watch, and untraced replays reach no listener."""
    is_event, begins = name.endswith("event"), name == "span_enter"

    def is_traced(given: tuple[Any, ...], identity: str = "") -> bool:
        watch, run = _watching.get(), participation()
        if is_event and watch is not None and given and _counts(type(given[0])):
            watch.told(given[0])
        if begins and run is not None and run.trace is not None and not run.trace.explained_run:
            run.trace.explained_run = identity  # the first span of a run is the outermost one
        return run is None or run.traced

    @wraps(method)
    def dispatch(self: object, *args: Any, **kwargs: Any) -> Any:
        traced = is_traced(args, str(kwargs.get("id_", "")))
        return method(self, *args, **kwargs) if traced else None

    @wraps(method)
    async def adispatch(self: object, *args: Any, **kwargs: Any) -> Any:
        return await method(self, *args, **kwargs) if is_traced(args) else None

    return adispatch if name == "aevent" else dispatch


INTERCEPTIONS = (
    Interception(
        "llama_index_instrumentation.dispatcher",
        "Dispatcher",
        re.compile("a?event|span_(enter|exit|drop)"),
        _dispatching,
    ),
)
