"""What models are sent and reply during one run, from their own events."""

import logging
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast
from uuid import UUID

from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, Generation, LLMResult
from langchain_core.tracers.context import register_configure_hook
from typing_extensions import override

from rag_rule_explainer.probing.seeing import Request
from rag_rule_explainer.wrapping.participation import CUT_OFF, EMPTY, HALF, inside_retrieval
from rag_rule_explainer.wrapping.stopping import Enough, Stopping

from .reading import tokens

_STOP_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "finishReason", "status")
_CUT_OFF = {"length", "max_tokens", "max_output_tokens", "model_length"}


class Watch(UsageMetadataCallbackHandler):
    """The requests of one run, the tokens it spent, and what is wrong with its replies, if anything.

    Added to every run of its context by LangChain itself, so that also models that are called without
    a config are seen.
    """

    run_inline = True  # in the context of the model's caller, which says where the call comes from

    def __init__(self, *, allow_length: bool = False) -> None:
        super().__init__()
        self.requests: list[Request] = []
        self.fault = ""
        self.failed = False
        self.stopping: Stopping | None = None
        self.tools: set[str] = set()
        self._allow_length = allow_length
        self._guard = threading.Lock()
        self._streamed: set[UUID] = set()
        self._replies: list[str] = []

    @property
    def models(self) -> dict[str, dict[str, int]]:
        """The tokens spent, by model."""
        spent = {model: tokens([usage]) for model, usage in list(self.usage_metadata.items())}
        return {model: counts for model, counts in spent.items() if counts}

    @override
    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **kwargs: Any
    ) -> None:
        self._sent("\n\n".join(text for batch in messages for m in batch for text in _texts(m.content)))

    @override
    def on_llm_start(self, serialized: dict[str, Any], prompts: list[str], **kwargs: Any) -> None:
        self._sent("\n\n".join(prompts))

    @override
    def on_tool_start(self, serialized: dict[str, Any] | None, input_str: str, **kwargs: Any) -> None:
        self.tools.add(str(kwargs.get("name") or (serialized or {}).get("name")))

    @override
    def on_llm_new_token(self, token: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._streamed.add(run_id)

    @override
    def on_llm_end(self, response: LLMResult, **kwargs: Any) -> None:
        super().on_llm_end(response, **kwargs)
        streamed = kwargs.get("run_id") in self._streamed
        for batch in response.generations:
            if not batch:  # which LangChain itself takes for granted
                self.fault = self.fault or EMPTY
            for generation in batch:
                self._replied(cast("Generation", generation), streamed=streamed)

    @override
    def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        self.failed = True

    def _sent(self, text: str) -> None:
        if inside_retrieval.get():
            return  # a reranker is shown everything; the answering model is not
        with self._guard:
            request = Request(text, tuple(self._replies))
            self.requests.append(request)
        if self.stopping is not None:
            self.raise_error = True  # LangChain would log what is raised here, and go on
            self.stopping.before(request)

    def _replied(self, generation: Generation, *, streamed: bool) -> None:
        message = generation.message if isinstance(generation, ChatGeneration) else None
        told = {**(generation.generation_info or {}), **(message.response_metadata if message else {})}
        told |= _entries(told.get("incomplete_details"), "reason", "stop_reason")
        reason = next((told[key] for key in _STOP_REASONS if told.get(key)), None)
        text = generation.text if message is None else message.text
        with self._guard:
            self._replies.append(text)
            if str(reason).lower() in _CUT_OFF and not self._allow_length:
                self.fault = self.fault or CUT_OFF
            elif not text.strip() and not _has_more(message):
                self.fault = self.fault or EMPTY
            elif reason is None and "model_provider" in told and (streamed or "finish_reason" in told):
                # Providers' own integrations say who they are, and always report a reason.
                self.fault = self.fault or HALF


def _is_news(record: logging.LogRecord) -> bool:
    # LangChain warns of an error in a callback, which here ends an estimate as it should.
    return repr(Enough()) not in record.getMessage()


logging.getLogger("langchain_core.callbacks.manager").addFilter(_is_news)

watching: ContextVar[Watch | None] = ContextVar("rag_rule_watch", default=None)
register_configure_hook(watching, inheritable=True)


@contextmanager
def watched_by(watch: Watch) -> Generator[None, None, None]:
    """Inside, it sees the models of this context."""
    token = watching.set(watch)
    try:
        yield
    finally:
        watching.reset(token)


def _entries(given: Any, name: str, known_as: str) -> dict[str, Any]:
    """That entry of what may be a mapping, under the other name."""
    found = cast("Mapping[str, Any]", given).get(name) if isinstance(given, Mapping) else None
    return {known_as: found} if found else {}


def _has_more(message: BaseMessage | None) -> bool:
    """True for a reply that says something beside its text: a tool call, a refusal, an image."""
    if message is None:
        return False
    calls = message.tool_calls or message.invalid_tool_calls if isinstance(message, AIMessage) else []
    extra = message.additional_kwargs
    blocks = [block for block in _blocks(message.content) if block.get("type") not in (None, "text")]
    return bool(calls or blocks or any(extra.get(key) for key in ("refusal", "function_call", "audio")))


def _blocks(content: Any) -> Iterable[Mapping[str, Any]]:
    listed = cast("list[Any]", content) if isinstance(content, list) else []
    return [cast("Mapping[str, Any]", block) for block in listed if isinstance(block, Mapping)]


def _texts(content: Any) -> Iterable[str]:
    """Every string in a message's content, however its blocks are nested."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for value in cast("Mapping[Any, Any]", content).values():
            yield from _texts(value)
    elif isinstance(content, Sequence) and not isinstance(content, (bytes, bytearray)):
        for value in cast("Sequence[Any]", content):
            yield from _texts(value)
