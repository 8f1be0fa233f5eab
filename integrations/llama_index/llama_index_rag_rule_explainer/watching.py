"""This module records the requests of a run to models, and the replies, from LlamaIndex's events."""

import threading
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, TypeAlias

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
from rag_rule_explainer.instrumentation.requests.client_watch import ClientWatch, RunRecord
from rag_rule_explainer.instrumentation.requests.client_watch import watched_by as clients_watched_by
from rag_rule_explainer.instrumentation.requests.exchanges import Exchanges
from rag_rule_explainer.instrumentation.requests.nested_calls import (
    Nesting,
    is_within_a_model,
    nesting,
)
from rag_rule_explainer.instrumentation.requests.open_streams import Arrived, OpenStreams, are_whole
from rag_rule_explainer.instrumentation.requests.source_recognition import Request
from rag_rule_explainer.instrumentation.requests.tools_in_use import tools_in_use
from rag_rule_explainer.instrumentation.run_context import inside_retrieval

from .message_calls import CallsOfModels
from .parameters import parameters_in
from .responses import (
    RecordedReply,
    called_in,
    message_text,
    message_with_role,
    model_of,
    reply_text,
    reply_with_role,
    said_in,
    usage_in,
)
from .streamed_ends import StreamedEnds

_Response: TypeAlias = ChatResponse | CompletionResponse

MODEL_FAILED = "a model failed, and the application answered without its reply"


class Watch:
    """A ``Watch`` records the requests of one run to models, the tokens spent, and faults of the replies.

    ``failures``: the errors that models raised, even if the application caught them. ``calls``: the tool
    calls in the replies.
    """

    def __init__(self, *, accepts: Collection[str] = ()) -> None:
        self.failures: list[str] = []
        self._fault = ""
        # Each key is the span id of a request, or a new object if the request has no span.
        self._said: dict[object, Said] = {}
        self._streams = OpenStreams[_Response]()
        self.calls = CallsOfModels()
        self._accepts = frozenset(accepts)
        self._guard = threading.Lock()
        self.steps = 0
        self.before_step: list[Callable[[int], None]] = []
        before_sending: list[Callable[[Request], None]] = []
        after_reply: list[Callable[[str], None]] = []
        during_reply: list[Callable[[], None]] = []
        self._sent = Exchanges(before_sending, after_reply, during_reply)
        self._predicted = Exchanges(before_sending, after_reply, during_reply)
        self._spent: dict[str, dict[str, int]] = {}
        # Applications may also ask models by clients of their own, without a class of LlamaIndex.
        record = RunRecord(self._sent, self._said, self.failures, self._spent)
        self.clients = ClientWatch(accepts=accepts, record=record)
        self.ends = StreamedEnds()
        self._asking: set[str | None] = set()
        # The spans of model calls that were made inside another model call or inside a retrieval.
        self._apart: set[str | None] = set()

    @property
    def exchanges(self) -> Exchanges:
        """Returns the requests to models, as the events of the models report them. If no model sends
        events, returns those that the events of predictions (calls such as ``LLM.predict``) report."""
        return self._sent if self._sent.requests else self._predicted

    @property
    def requests(self) -> list[Request]:
        """Returns the requests in ``exchanges``, in order."""
        return self.exchanges.requests

    @property
    def said(self) -> list[Said]:
        """Returns the replies, in order. Of a stream that has not ended, returns what has arrived."""
        left = {key: self._left(key, each) for key, each in self._streams.open()}
        return list({**self._said, **left, **self.clients.arrived_so_far()}.values())

    @property
    def fault(self) -> str:
        """Returns why the replies cannot be used; an empty text if they can be. If models only raised
        errors, this is the first error. Otherwise it is the fault of the first unusable reply, such as
        that it was cut off."""
        if self.failures and not self._said:
            return f"{MODEL_FAILED}: {self.failures[0]}"
        return self._fault or self.clients.fault

    @property
    def failed(self) -> bool:
        """Returns True iff a model raised an error."""
        return bool(self.failures)

    @property
    def models(self) -> dict[str, dict[str, int]]:
        """Returns the tokens that the replies report: for each model's name the sums of input, output,
        total and cached tokens."""
        with self._guard:
            return {model: dict(spent) for model, spent in self._spent.items()}

    def served(self, key: str, reply: RecordedReply) -> None:
        """Records a reply that the application got from the recording of the baseline. Its tokens are not
        counted again. ``key``: the span id of the request's event."""
        self.ends.set_reason(key, reply.reason)
        self._replied(reply.response, key, is_recorded=True)

    def take_event(self, event: Any) -> None:
        """Records the requests and replies of models that an event of the dispatcher reports. Other
        events are ignored."""
        if isinstance(event, (LLMChatStartEvent, LLMCompletionStartEvent)):
            self._starts(event)
        elif isinstance(event, LLMPredictStartEvent):
            self._predicts(event)
        elif isinstance(event, LLMPredictEndEvent):
            self.predicted(event.span_id, event.output)
        elif isinstance(event, LLMStructuredPredictStartEvent):
            self.calls.structured.add(getattr(event.output_cls, "__name__", ""))
        elif isinstance(event, (LLMChatInProgressEvent, LLMCompletionInProgressEvent)):
            self._progresses(event.span_id, event.response)
        elif isinstance(event, (LLMChatEndEvent, LLMCompletionEndEvent)):
            self._streams.end(event.span_id)
            self._replied(event.response, event.span_id)
        elif isinstance(event, SpanDropEvent) and event.span_id in self._asking:
            self.failures.append(event.err_str)
        elif isinstance(event, ExceptionEvent) and event.span_id in self._asking:
            self._fails(event.span_id, event.exception)

    def end_streams(self, *, of_this_reader: bool = False) -> None:
        """Records the arrived parts of the streams that the application did not read to their ends. Must
        be called at the end of the run. ``of_this_reader``: True for only the streams that this thread
        and task has read."""
        self.clients.end_streams(of_this_reader=of_this_reader)
        for span, arrived in self._streams.open(of_this_reader=of_this_reader):
            self._streams.end(span)
            said, response = self._left(span, arrived), arrived.reply
            self._said[span] = said
            note_reply(span, RecordedReply(response, said.reason), said)
            self._sent.note_reply(span, reply_text(response), reply_with_role(response))

    def _left(self, span: Any, arrived: Arrived[_Response]) -> Said:
        # A missing finish reason does not mean here that the model was cut off: the application itself
        # stopped reading the stream.
        read = self._read(arrived.reply, span)
        structured = tuple(each for each in read.called if each.name in self.calls.structured)
        is_apart = span in self._apart
        return replace(
            read, reports=False, apart=is_apart, within=arrived.within, run_elsewhere=structured
        )

    def _progresses(self, span: str | None, response: _Response) -> None:
        self.ends.note(span, response)
        self._streams.take(span, response)
        # A tool call is recorded before the stream ends, because the application may run the tool, or
        # leave the stream, as soon as it has got the call.
        if span not in self._apart and called_in(response):
            self.calls.note_reply(response, span)
            blocks: list[Any] = response.message.blocks if isinstance(response, ChatResponse) else []
            given = [each.tool_kwargs for each in blocks if each.block_type == "tool_call"]
            # Arguments that are a dict, and not JSON text, do not show whether more of them will arrive.
            # So nothing is checked for them here.
            if given and all(isinstance(each, str) for each in given) and are_whole(given):
                for check in self._sent.during_reply:
                    check()

    def _read(self, response: _Response | None, span: Any) -> Said:
        read = said_in(response, self.ends.reason_of(span))
        return replace(read, refuses=read.refuses or self.ends.is_refusal(span))

    def _fails(self, span: str | None, error: BaseException) -> None:
        # The application or the garbage collector closed the stream. The garbage collector may do so at
        # any point in the code, so nothing is recorded here. What has arrived is kept and recorded later.
        if isinstance(error, GeneratorExit):
            return
        self.failures.append(f"{type(error).__name__}: {error}")
        if isinstance(error, Exception):
            self._streams.end(span)

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
        begun = predictions_begun.get()
        if begun is not None:
            begun.append(event.span_id)

    def predicted(self, span: str | None, text: str) -> None:
        """Records the reply of a prediction. ``span``: the id of the prediction's span."""
        self._predicted.reply(span, text, text)

    def _asked(self, span: str | None, text: str, sent: str) -> None:
        where = nesting(text)
        if where is not Nesting.OUTER or is_within_a_model():
            self._apart.add(span)
        if not inside_retrieval.get():
            self.end_streams(of_this_reader=True)
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
        structured = () if is_apart else self.calls.note_reply(response, span)
        with self._guard:
            said = replace(
                self._read(response, span),
                apart=is_apart,
                within=tools_in_use.get(),
                run_elsewhere=structured,
            )
            self._said[object() if span is None else span] = said
            account = self._spent.setdefault(model_of(response), {}) if usage else {}
            for kind, count in usage.items():
                account[kind] = account.get(kind, 0) + count
            self._fault = self._fault or fault_of(said, self._accepts)
        self.ends.forget(span)
        note_reply(span, None if response is None else RecordedReply(response, said.reason), said)
        self._sent.reply(span, reply_text(response), reply_with_role(response))


predictions_begun: ContextVar[list[str | None] | None] = ContextVar("rag_rule_beginning", default=None)
"""The span ids of the predictions that begin in a block of ``prediction_begun``; None outside of such a
block."""

_watching: ContextVar[Watch | None] = ContextVar("rag_rule_llama_index_watch", default=None)


def current_watch() -> Watch | None:
    """Returns the ``Watch`` of this context; None if there is none."""
    return _watching.get()


@contextmanager
def watched_by(watch: Watch) -> Generator[None, None, None]:
    """Passes the events of the current context to ``watch`` during the block."""
    token = _watching.set(watch)
    try:
        with clients_watched_by(watch.clients):
            yield
        watch.end_streams()
    finally:
        # The garbage collector may end an abandoned stream in another context, in which the variable was
        # never set. Its ``reset`` then raises ValueError, and there is nothing to reset.
        with suppress(ValueError):
            _watching.reset(token)
