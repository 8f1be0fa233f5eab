"""This module records the requests of a run to models, and the replies, from LlamaIndex's events."""

import threading
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

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
    LLMStructuredPredictStartEvent,
)
from llama_index.core.instrumentation.events.span import SpanDropEvent

from rag_rule_explainer.instrumentation.beginnings import note_reply
from rag_rule_explainer.instrumentation.engine import Said, fault_of
from rag_rule_explainer.instrumentation.requests.exchanges import Exchanges
from rag_rule_explainer.instrumentation.requests.nested_calls import (
    Nesting,
    is_within_a_model,
    nesting,
)
from rag_rule_explainer.instrumentation.requests.source_recognition import Request
from rag_rule_explainer.instrumentation.requests.tools_in_use import tools_in_use
from rag_rule_explainer.instrumentation.run_context import inside_retrieval

from .message_calls import CallsOfModels
from .parameters import parameters_in
from .responses import (
    RecordedReply,
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
    """A ``Watch`` records the requests of one run to models, the tokens spent, and faults of the replies.

    ``failures``: the errors that models raised, even if the application caught them. ``calls``: the tool
    calls in the replies.
    """

    def __init__(self, *, accepts: Collection[str] = ()) -> None:
        self.failures: list[str] = []
        self._fault = ""
        self.said: list[Said] = []
        self.calls = CallsOfModels()
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
        # The key is the id of a span. The value is the finish reason that a chunk of the span's streamed
        # reply reported.
        self._reasons: dict[str | None, str | None] = {}
        self._asking: set[str | None] = set()
        # The spans of models within the call of another model, or within a retrieval.
        self._apart: set[str | None] = set()

    @property
    def exchanges(self) -> Exchanges:
        """Returns the requests to models. They come from the events of the models themselves; only if
        there are none, from the events of predictions."""
        return self._sent if self._sent.requests else self._predicted

    @property
    def requests(self) -> list[Request]:
        """Returns the requests in ``exchanges``, in order."""
        return self.exchanges.requests

    @property
    def fault(self) -> str:
        """Returns the reason why the replies cannot be used; an empty text if they can be used. The
        reason is the fault of the first unusable reply, such as that it was cut off, or, if no model
        replied, the first error of a model."""
        if self.failures and not self._replies:
            return f"{MODEL_FAILED}: {self.failures[0]}"
        return self._fault

    @property
    def failed(self) -> bool:
        """Returns True iff a model raised an error."""
        return bool(self.failures)

    @property
    def models(self) -> dict[str, dict[str, int]]:
        """Returns the tokens that the replies report, by model."""
        with self._guard:
            return {model: dict(spent) for model, spent in self._spent.items()}

    def served(self, key: str, reply: RecordedReply) -> None:
        """Records a reply that the application got from the record of another run, where its tokens were
        spent. ``key``: that of the request's event."""
        with self._guard:
            self._reasons[key] = reply.reason
        self._replied(reply.response, key, is_recorded=True)

    def take_event(self, event: Any) -> None:
        """Records what an event of the dispatcher reports about models. All other events are ignored."""
        if isinstance(event, (LLMChatStartEvent, LLMCompletionStartEvent)):
            self._starts(event)
        elif isinstance(event, LLMPredictStartEvent):
            self._predicts(event)
        elif isinstance(event, LLMPredictEndEvent):
            self.predicted(event.span_id, event.output)
        elif isinstance(event, LLMStructuredPredictStartEvent):
            self.calls.structured.add(getattr(event.output_cls, "__name__", ""))
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

    def _starts(self, event: LLMChatStartEvent | LLMCompletionStartEvent) -> None:
        self._asking.add(event.span_id)
        if isinstance(event, LLMCompletionStartEvent):
            self._asked(event.span_id, event.prompt, f"{event.prompt}\n\n{parameters_in(event)}")
            return
        text = "\n\n".join(message_text(message) for message in event.messages)
        sent = "\n\n".join([*map(message_with_role, event.messages), parameters_in(event)])
        if not inside_retrieval.get():
            self.calls.note_request(event.messages)
        self._asked(event.span_id, text, sent)

    def _predicts(self, event: LLMPredictStartEvent) -> None:
        values = (event.template_args or {}).values()
        text = "\n\n".join(each for each in values if isinstance(each, str))
        self._request(self._predicted, event.span_id, text, text)
        begun = _beginning.get()
        if begun is not None:
            begun.append(event.span_id)

    def predicted(self, span: str | None, text: str) -> None:
        """Records the reply of a prediction. ``span``: the id of the prediction's span."""
        self._predicted.reply(span, text, text)

    def _asked(self, span: str | None, text: str, sent: str) -> None:
        where = nesting(text)
        if where is not Nesting.OUTER or is_within_a_model():
            self._apart.add(span)
        if where is not Nesting.REPEATED:
            # If a model calls itself inside its own call, the inner call may have other parameters, such
            # as "stream". So only the text of the inner request is recorded.
            self._request(self._sent, span, text, sent if where is Nesting.OUTER else text)

    def _request(self, where: Exchanges, span: str | None, text: str, sent: str) -> None:
        # A request in a retrieval, for example of a reranker, contains all nodes. It does not show which
        # nodes the answering model gets, so it is not recorded.
        if inside_retrieval.get():
            self._apart.add(span)
        else:
            where.ask(span, text, sent)

    def _replied(
        self,
        response: ChatResponse | CompletionResponse | None,
        span: str | None,
        *,
        is_recorded: bool = False,
    ) -> None:
        usage = {} if is_recorded else usage_in(response)
        is_apart = span in self._apart
        structured = () if is_apart else self.calls.note_reply(response)
        with self._guard:
            said = replace(
                said_in(response, self._reasons.pop(span, None)),
                apart=is_apart,
                within=tools_in_use.get(),
                run_elsewhere=structured,
            )
            self._replies.append(reply_text(response))
            self.said.append(said)
            account = self._spent.setdefault(model_of(response), {}) if usage else {}
            for kind, count in usage.items():
                account[kind] = account.get(kind, 0) + count
            self._fault = self._fault or fault_of(said, self._accepts)
        note_reply(span, None if response is None else RecordedReply(response, said.reason), said)
        self._sent.reply(span, reply_text(response), reply_with_role(response))


_watching: ContextVar[Watch | None] = ContextVar("rag_rule_llama_index_watch", default=None)


def current_watch() -> Watch | None:
    """Returns the ``Watch`` of this context; None if there is none."""
    return _watching.get()


@contextmanager
def watched_by(watch: Watch) -> Generator[None, None, None]:
    """Passes the events of the current context to ``watch`` during the block."""
    token = _watching.set(watch)
    try:
        yield
    finally:
        # The garbage collector may end an abandoned stream in another context. The token is invalid
        # there, and there is nothing to reset.
        with suppress(ValueError):
            _watching.reset(token)


_beginning: ContextVar[list[str | None] | None] = ContextVar("rag_rule_beginning", default=None)
"""The span ids of the predictions that begin in a block of ``prediction_begun``; None outside of such
a block."""


@contextmanager
def prediction_begun() -> Generator[Callable[[str], None] | None, None, None]:
    """Finds the span of a streamed prediction that begins in the block.

    LlamaIndex has no event for the reply of such a prediction. So a function is yielded that notes the
    reply. Yields None if no ``Watch`` is active.
    """
    watch, begun = _watching.get(), list[str | None]()
    token = _beginning.set(begun)
    try:
        # A prediction may begin further predictions inside it. The first span belongs to the outermost
        # one.
        yield None if watch is None else lambda text: watch.predicted(begun[0] if begun else None, text)
    finally:
        _beginning.reset(token)
