"""What models are sent and reply during one run, from the framework's own instrumentation events."""

import re
import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, cast

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.instrumentation.events.exception import ExceptionEvent
from llama_index.core.instrumentation.events.llm import (
    LLMChatEndEvent,
    LLMChatInProgressEvent,
    LLMChatStartEvent,
    LLMCompletionEndEvent,
    LLMCompletionInProgressEvent,
    LLMCompletionStartEvent,
    LLMPredictStartEvent,
)
from llama_index.core.instrumentation.events.span import SpanDropEvent
from pydantic import BaseModel

from rag_rule_explainer.probing.seeing import Request
from rag_rule_explainer.wrapping.participation import (
    CUT_OFF,
    EMPTY,
    HALF,
    inside_retrieval,
    participation,
)
from rag_rule_explainer.wrapping.patching import Interception
from rag_rule_explainer.wrapping.stopping import Stopping

_STOP_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "finishReason")
_CUT_OFF = {"length", "max_tokens", "max_output_tokens", "model_length"}
_COUNTS = {
    "input_tokens": ("prompt_tokens", "input_tokens"),
    "output_tokens": ("completion_tokens", "output_tokens"),
    "total_tokens": ("total_tokens",),
}

FAILED = "a model failed, and the application answered without its reply"


class Watch:
    """The requests of one run, the tokens it spent, and what is wrong with its replies, if anything.

    ``failures``: the errors of models that were raised, whatever became of them.
    """

    def __init__(self, *, allow_length: bool = False) -> None:
        self.failures: list[str] = []
        self.stopping: Stopping | None = None
        self._fault = ""
        self._allow_length = allow_length
        self._guard = threading.Lock()
        self._sent: list[Request] = []
        self._predicted: list[Request] = []
        self._replies: list[str] = []
        self._spent: dict[str, dict[str, int]] = {}
        # By the span of a streamed reply: why it stopped, as soon as a chunk says so.
        self._reasons: dict[str | None, str | None] = {}
        self._asking: set[str | None] = set()

    @property
    def requests(self) -> list[Request]:
        """What models were sent: as they say themselves, else as it was put together for them."""
        return self._sent or self._predicted

    @property
    def fault(self) -> str:
        """What is wrong with a reply; or that there is none, as all models failed."""
        if self.failures and not self._replies:
            return f"{FAILED}: {self.failures[0]}"
        return self._fault

    @property
    def failed(self) -> bool:
        """Whether a model raised."""
        return bool(self.failures)

    @property
    def models(self) -> dict[str, dict[str, int]]:
        """The tokens that the replies report, by model."""
        with self._guard:
            return {model: dict(spent) for model, spent in self._spent.items()}

    def told(self, event: Any) -> None:
        """Takes in any event; those of models count."""
        if isinstance(event, (LLMChatStartEvent, LLMCompletionStartEvent)):
            self._asking.add(event.span_id)
        if isinstance(event, LLMChatStartEvent):
            self._request(self._sent, "\n\n".join(_text_of(message) for message in event.messages))
        elif isinstance(event, LLMCompletionStartEvent):
            self._request(self._sent, event.prompt)
        elif isinstance(event, LLMPredictStartEvent):
            told = (event.template_args or {}).values()
            self._request(self._predicted, "\n\n".join(each for each in told if isinstance(each, str)))
        elif isinstance(event, (LLMChatInProgressEvent, LLMCompletionInProgressEvent)):
            reason = _stop_reason(event.response)
            with self._guard:
                self._reasons[event.span_id] = reason or self._reasons.get(event.span_id)
        elif isinstance(event, (LLMChatEndEvent, LLMCompletionEndEvent)):
            self._replied(event.response, event.span_id)
        elif isinstance(event, SpanDropEvent) and event.span_id in self._asking:
            self.failures.append(event.err_str)
        elif isinstance(event, ExceptionEvent) and event.span_id in self._asking:
            self.failures.append(f"{type(event.exception).__name__}: {event.exception}")

    def _request(self, where: list[Request], text: str) -> None:
        if inside_retrieval.get():
            return  # a reranker is shown everything; the answering model is not
        with self._guard:
            request = Request(text, tuple(self._replies))
            where.append(request)
        if self.stopping is not None:
            self.stopping.before(request)

    def _replied(self, response: ChatResponse | CompletionResponse | None, span: str | None) -> None:
        text = _reply(response)
        reason = None if response is None else _stop_reason(response)
        usage = _usage(response)
        with self._guard:
            reason = reason or self._reasons.pop(span, None)
            self._replies.append(text)
            account = self._spent.setdefault(_model(response), {}) if usage else {}
            for kind, count in usage.items():
                account[kind] = account.get(kind, 0) + count
            if reason is not None and reason.lower() in _CUT_OFF and not self._allow_length:
                self._fault = self._fault or CUT_OFF
            elif not text.strip() and not _has_more(response):
                self._fault = self._fault or EMPTY
            elif reason is None and _reports_reasons(response):
                self._fault = self._fault or HALF


_watching: ContextVar[Watch | None] = ContextVar("rag_rule_llama_index_watch", default=None)


@contextmanager
def watched_by(watch: Watch) -> Generator[None, None, None]:
    """Inside, the events of this context are told to it as well."""
    token = _watching.set(watch)
    try:
        yield
    finally:
        _watching.reset(token)


def _reply(response: ChatResponse | CompletionResponse | None) -> str:
    if response is None:
        return ""
    return _text_of(response.message) if isinstance(response, ChatResponse) else response.text


def _text_of(message: ChatMessage) -> str:
    """All strings in a message's blocks, such as those of tool results as well."""
    return "\n".join(text for block in message.blocks for text in _texts(block.model_dump()))


def _texts(said: Any) -> Iterable[str]:
    if isinstance(said, str):
        yield said
    elif isinstance(said, Mapping):
        for key, value in cast("Mapping[Any, Any]", said).items():
            if key != "block_type":
                yield from _texts(value)
    elif isinstance(said, (list, tuple)):
        for value in cast("Iterable[Any]", said):
            yield from _texts(value)


def _has_more(response: ChatResponse | CompletionResponse | None) -> bool:
    """True for a reply that says something beside its text: a tool call, a refusal, an image."""
    if response is None:
        return False
    extra = [response.additional_kwargs]
    blocks: list[Any] = []
    if isinstance(response, ChatResponse):
        extra.append(response.message.additional_kwargs)
        blocks = [block for block in response.message.blocks if block.block_type != "text"]
    names = ("tool_calls", "function_call", "refusal", "audio")
    return bool(blocks) or any(each.get(name) for each in extra for name in names)


def _raw(response: ChatResponse | CompletionResponse | None) -> Mapping[str, Any]:
    """What the provider's client returned, as far as it can be read."""
    raw: Any = None if response is None else response.raw
    if isinstance(raw, BaseModel):
        raw = raw.model_dump(warnings=False)
    return cast("Mapping[str, Any]", raw) if isinstance(raw, Mapping) else {}


def _choices(raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed: Any = raw.get("choices")
    several = cast("list[Any]", listed) if isinstance(listed, list) else []
    return [cast("Mapping[str, Any]", each) for each in several if isinstance(each, Mapping)]


def _stop_reason(response: ChatResponse | CompletionResponse) -> str | None:
    raw = _raw(response)
    places = (*_choices(raw), raw, response.additional_kwargs)
    return next((str(each[key]) for each in places for key in _STOP_REASONS if each.get(key)), None)


def _reports_reasons(response: ChatResponse | CompletionResponse | None) -> bool:
    """True for replies of the OpenAI protocol, which always say why they end where they do."""
    return "choices" in _raw(response)


def _model(response: ChatResponse | CompletionResponse | None) -> str:
    named = _raw(response).get("model")
    return named if isinstance(named, str) else ""


def _usage(response: ChatResponse | CompletionResponse | None) -> dict[str, int]:
    if response is None:
        return {}
    usage: Any = _raw(response).get("usage")
    reported = cast("Mapping[str, Any]", usage) if isinstance(usage, Mapping) else {}
    places: list[Mapping[str, Any]] = [reported, response.additional_kwargs]
    spent = {
        kind: next((each[name] for each in places for name in names if type(each.get(name)) is int), 0)
        for kind, names in _COUNTS.items()
    }
    details = (reported.get(name) for name in ("prompt_tokens_details", "input_tokens_details"))
    cached = [each.get("cached_tokens") for each in details if isinstance(each, Mapping)]
    if cached and type(cached[0]) is int and cached[0]:
        spent["cached_input_tokens"] = cached[0]
    return spent if any(spent.values()) else {}


def spent_on(response: ChatResponse | CompletionResponse) -> dict[str, dict[str, int]]:
    """The tokens that a response reports, by model; nothing where it reports none."""
    usage = _usage(response)
    return {_model(response): usage} if usage else {}


def _dispatching(name: str, method: Any) -> Any:
    """The dispatcher tells the run that goes on, and nobody of a replay that is not to be traced."""
    is_event = name.endswith("event")

    def is_traced(given: tuple[Any, ...]) -> bool:
        watch, run = _watching.get(), participation()
        if is_event and watch is not None and given:
            watch.told(given[0])
        return run is None or run.traced

    @wraps(method)
    def dispatch(self: object, *args: Any, **kwargs: Any) -> Any:
        return method(self, *args, **kwargs) if is_traced(args) else None

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
