"""What models are sent and reply during one run, from the framework's own instrumentation events."""

import re
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache, wraps
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
    LLMPredictEndEvent,
    LLMPredictStartEvent,
)
from llama_index.core.instrumentation.events.span import SpanDropEvent
from pydantic import BaseModel

from rag_rule_explainer.instrumentation.copies.copying import described
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.engine import Said, fault_of, reason_in
from rag_rule_explainer.instrumentation.requests.exchanges import Exchanges
from rag_rule_explainer.instrumentation.requests.source_recognition import Request
from rag_rule_explainer.instrumentation.run_context import inside_retrieval, participation

_COUNTS = {
    "input_tokens": ("prompt_tokens", "input_tokens"),
    "output_tokens": ("completion_tokens", "output_tokens"),
    "total_tokens": ("total_tokens",),
}

_EMPTY = "Empty Response"
"""LlamaIndex's own words where a model says nothing."""

MODEL_FAILED = "a model failed, and the application answered without its reply"


class Watch:
    """This class keeps the requests of one run, the tokens it spent, and what is wrong with its replies.

    ``failures``: the errors of models that were raised, whatever became of them.
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
        # By the span of a streamed reply: why it stopped, as soon as a chunk says so.
        self._reasons: dict[str | None, str | None] = {}
        self._asking: set[str | None] = set()

    @property
    def exchanges(self) -> Exchanges:
        """Returns what models were sent: as they say themselves, else as it was put together for them."""
        return self._sent if self._sent.requests else self._predicted

    @property
    def requests(self) -> list[Request]:
        """Everything that models were sent, in order."""
        return self.exchanges.requests

    @property
    def fault(self) -> str:
        """Returns what is wrong with a reply; or that there is none, as all models failed."""
        if self.failures and not self._replies:
            return f"{MODEL_FAILED}: {self.failures[0]}"
        return self._fault

    @property
    def failed(self) -> bool:
        """Returns whether a model raised."""
        return bool(self.failures)

    @property
    def models(self) -> dict[str, dict[str, int]]:
        """Returns the tokens that the replies report, by model."""
        with self._guard:
            return {model: dict(spent) for model, spent in self._spent.items()}

    def told(self, event: Any) -> None:
        """Takes in any event; those of models count."""
        if isinstance(event, (LLMChatStartEvent, LLMCompletionStartEvent)):
            self._asking.add(event.span_id)
        if isinstance(event, LLMChatStartEvent):
            text = "\n\n".join(_text_of(message) for message in event.messages)
            sent = "\n\n".join([*map(_spoken, event.messages), _parameters(event)])
            self._request(self._sent, event.span_id, text, sent)
        elif isinstance(event, LLMCompletionStartEvent):
            sent = f"{event.prompt}\n\n{_parameters(event)}"
            self._request(self._sent, event.span_id, event.prompt, sent)
        elif isinstance(event, LLMPredictStartEvent):
            self._predicts(event)
        elif isinstance(event, LLMPredictEndEvent):
            self.predicted(event.span_id, event.output)
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

    def _predicts(self, event: LLMPredictStartEvent) -> None:
        told = (event.template_args or {}).values()
        text = "\n\n".join(each for each in told if isinstance(each, str))
        self._request(self._predicted, event.span_id, text, text)
        begun = _beginning.get()
        if begun is not None:
            begun.append(event.span_id)

    def predicted(self, span: str | None, text: str) -> None:
        """Notes how the prediction of that span has ended."""
        self._predicted.reply(span, text, text)

    def _request(self, where: Exchanges, span: str | None, text: str, sent: str) -> None:
        if not inside_retrieval.get():
            # A reranker is shown everything; the answering model is not.
            where.ask(span, text, sent)

    def _replied(self, response: ChatResponse | CompletionResponse | None, span: str | None) -> None:
        self._sent.reply(span, _reply(response), _said(response))
        usage = _usage(response)
        with self._guard:
            said = said_in(response, self._reasons.pop(span, None))
            self._replies.append(_reply(response))
            self.said.append(said)
            account = self._spent.setdefault(_model(response), {}) if usage else {}
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
    """Inside, the events of this context are told to it as well."""
    token = _watching.set(watch)
    try:
        yield
    finally:
        # A stream that is given up may end in the garbage collector's context, where nothing was set.
        with suppress(ValueError):
            _watching.reset(token)


_beginning: ContextVar[list[str | None] | None] = ContextVar("rag_rule_beginning", default=None)
"""The spans of the predictions that begin inside ``prediction_begun``."""


@contextmanager
def prediction_begun() -> Generator[Callable[[str], None] | None, None, None]:
    """Inside, a prediction begins whose end nobody tells of. Yields what is to be told its reply; None
    where nobody watches.
    """
    watch, begun = _watching.get(), list[str | None]()
    token = _beginning.set(begun)
    try:
        # Of those that one prediction makes of others, the first is the one that is streamed.
        yield None if watch is None else lambda text: watch.predicted(begun[0] if begun else None, text)
    finally:
        _beginning.reset(token)


def _parameters(event: LLMChatStartEvent | LLMCompletionStartEvent) -> str:
    """Returns which model is asked, with which parameters, such as its temperature or its tools."""
    model = {key: each for key, each in event.model_dict.items() if key in _OF_A_MODEL}
    given = {key: each for key, each in event.additional_kwargs.items() if key not in _OF_TRANSPORT}
    plain = {key: each for key, each in {**model, **given}.items() if _is_plain(each)}
    tools = [getattr(getattr(each, "metadata", None), "name", "") for each in given.get("tools") or ()]
    return described({**plain, "tools": tools} if any(tools) else plain)


def _is_plain(value: Any) -> bool:
    """Returns True for what JSON can say; other objects may differ from run to run and mean the same."""
    if isinstance(value, Mapping):
        return all(map(_is_plain, cast("Mapping[str, Any]", value).values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, cast("Sequence[Any]", value)))
    return value is None or isinstance(value, (str, int, float))


def _reply(response: ChatResponse | CompletionResponse | None) -> str:
    if response is None:
        return ""
    return _text_of(response.message) if isinstance(response, ChatResponse) else response.text


def _said(response: ChatResponse | CompletionResponse | None) -> str:
    return _spoken(response.message) if isinstance(response, ChatResponse) else _reply(response)


def _spoken(message: ChatMessage) -> str:
    """Returns the message with its role and its tool calls."""
    calls = message.additional_kwargs.get("tool_calls")
    return f"{message.role.value}:\n{_text_of(message)}" + (f"\n{calls}" if calls else "")


def _text_of(message: ChatMessage) -> str:
    """Returns all strings in a message's blocks, such as those of tool results as well."""
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


def said_in(response: ChatResponse | CompletionResponse | None, reason: str | None = None) -> Said:
    """Returns the reply in a response. ``reason``: the one that a chunk before its last gave, if any."""
    if response is None:
        return Said("", reason)
    extra, kinds, text = [response.additional_kwargs], set[str](), ""
    if isinstance(response, ChatResponse):
        extra.append(response.message.additional_kwargs)
        kinds = {block.block_type for block in response.message.blocks}
        text = response.message.content or ""
    else:
        text = response.text

    raw = _raw(response)

    def has(*names: str) -> bool:
        return any(each.get(name) for each in extra for name in names)

    def says(name: str) -> bool:
        return any(name in each for each in (raw, *extra))

    return Said(
        text,
        _stop_reason(response) or reason,
        calls="tool_call" in kinds or has("tool_calls", "function_call"),
        refuses=has("refusal") or _refuses(raw),
        more=has("audio") or not kinds <= {"text", "thinking", "tool_call"},
        # OpenAI's protocols and Anthropic always say in the end why it is one.
        reports="choices" in raw or says("stop_reason") or str(raw.get("type")).startswith("response."),
        shown_as="" if text.strip() else _EMPTY,
    )


def _refuses(raw: Mapping[str, Any]) -> bool:
    """Returns True for a refusal of the OpenAI protocol, which LlamaIndex itself passes over."""
    messages = (each.get("message") for each in _choices(raw))
    return any(
        cast("Mapping[str, Any]", each).get("refusal") for each in messages if isinstance(each, Mapping)
    )


def _raw(response: ChatResponse | CompletionResponse | None) -> Mapping[str, Any]:
    """Returns what the provider's client returned, as far as it can be read."""
    raw: Any = None if response is None else response.raw
    if isinstance(raw, BaseModel):
        raw = raw.model_dump(warnings=False)
    return cast("Mapping[str, Any]", raw) if isinstance(raw, Mapping) else {}


def _choices(raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed: Any = raw.get("choices")
    several = cast("list[Any]", listed) if isinstance(listed, list) else []
    return [cast("Mapping[str, Any]", each) for each in several if isinstance(each, Mapping)]


def _stop_reason(response: ChatResponse | CompletionResponse) -> str | None:
    message = response.message.additional_kwargs if isinstance(response, ChatResponse) else None
    return reason_in(response.raw, response.additional_kwargs, message)


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
    """Returns the tokens that a response reports, by model; nothing where it reports none."""
    usage = _usage(response)
    return {_model(response): usage} if usage else {}


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
    """Returns True for the kinds of events that ``told`` looks at; a replay has many of others."""
    return issubclass(kind, _OF_MODELS)


def _dispatching(name: str, method: Any) -> Any:
    """The dispatcher tells the run that goes on, and nobody of a replay that is not to be traced."""
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
        told = is_traced(args, str(kwargs.get("id_", "")))
        return method(self, *args, **kwargs) if told else None

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
