"""This module records the requests to models and their replies in one run, from LangChain's events."""

import itertools
import re
import sys
import threading
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from langchain_core.callbacks import CallbackManager, UsageMetadataCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    Generation,
    GenerationChunk,
    LLMResult,
)
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langchain_core.tracers.context import register_configure_hook
from typing_extensions import override

from rag_rule_explainer.instrumentation.beginnings import note_failure
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.engine import EMPTY, Said, fault_of
from rag_rule_explainer.instrumentation.requests import client_watch
from rag_rule_explainer.instrumentation.requests.nested_calls import (
    Nesting,
    calls_noted,
    is_within_a_model,
    nesting,
)
from rag_rule_explainer.instrumentation.requests.open_streams import Arrived, OpenStreams, are_whole
from rag_rule_explainer.instrumentation.requests.source_recognition import Request
from rag_rule_explainer.instrumentation.requests.tools_in_use import tools_in_use
from rag_rule_explainer.instrumentation.run_context import inside_retrieval

from . import news as _  # noqa: F401 -- importing it installs a filter of LangChain's log
from .clients import ClientsBeside, tokens_of_both
from .conversations import note_chat_reply, with_edits
from .message_calls import CallsOfModels
from .reading import tokens
from .replies import may_call, said_in
from .spoken_texts import parameters, reply_texts, spoken, texts


class Watch(UsageMetadataCallbackHandler):
    """A ``Watch`` records the requests of one run to models, the tokens spent, and faults of the replies.

    LangChain adds the ``Watch`` in the context variable ``watching`` to every run in the same context. So
    it also records models that the application calls without a config.
    """

    run_inline = True  # LangChain then calls this handler in the context of the model's caller

    def __init__(self, *, accepts: Collection[str] = ()) -> None:
        super().__init__()
        self.clients = ClientsBeside(accepts=accepts)
        self.exchanges = self.clients.exchanges
        self._fault, self._has_failed = "", False
        self.tools: set[str] = set()
        # Each key is the id of a model's run with the index of the reply among the replies of this run.
        self._said: dict[tuple[object, int], Said] = {}
        self._streams = OpenStreams[Generation]()
        self._accepts = frozenset(accepts)
        self._guard = threading.Lock()
        self._streamed: set[UUID] = set()
        self._refusals: list[object] = []
        self._refusing: set[object] = set()
        # The ids of model calls that were made inside another model call or inside a retrieval.
        self._apart: set[object] = set()
        self._calls = CallsOfModels()
        self.steps = 0
        self.before_step: list[Callable[[int], None]] = []

    @property
    @override
    def ignore_chain(self) -> bool:
        """Returns True iff LangGraph is not loaded. The events of chains are used only to count the steps
        of LangGraph's graphs."""
        return "langgraph" not in sys.modules

    @property
    @override
    def ignore_retriever(self) -> bool:
        """Returns True, because retrievals are recorded by the replaced methods instead of events."""
        return True

    @property
    def fault(self) -> str:
        """Returns the reason why the replies cannot be used; empty if they can be used."""
        return self._fault or self.clients.fault_beside(bool(self._said))

    @property
    def failed(self) -> bool:
        """Returns True iff at least one call of a model raised an error."""
        return self._has_failed or self.clients.failed

    @property
    def requests(self) -> list[Request]:
        """Returns all requests to models, in order."""
        return self.exchanges.requests

    @property
    def said(self) -> list[Said]:
        """Returns the replies, in order. Of a stream that has not ended, returns what has arrived."""
        left = [(key, self._left(key, arrived)) for key, arrived in self._streams.open()]
        recorded = dict(self._said)
        recorded.update({(key, 0): said for key, said in left})
        return [*recorded.values(), *self.clients.said]

    @property
    def models(self) -> dict[str, dict[str, int]]:
        """Returns the tokens spent: for each model's name the sums of its input, output, total and cached
        tokens. A model that reported no tokens is left out."""
        spent = {model: tokens([usage]) for model, usage in list(self.usage_metadata.items())}
        own = {model: counts for model, counts in spent.items() if counts}
        return tokens_of_both(own, self.clients.models)

    @override
    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **kwargs: Any
    ) -> None:
        text = "\n\n".join(text for batch in messages for m in batch for text in texts(m.content))
        said = [spoken(m) for batch in messages for m in batch]
        self.raise_error = bool(self.exchanges.before_sending)
        if not inside_retrieval.get():
            self._calls.note_request([m for batch in messages for m in batch], kwargs)
        self._asked(kwargs.get("run_id"), text, "\n\n".join([*said, parameters(kwargs)]))

    @override
    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        metadata: Any = kwargs.get("metadata") or {}
        step: Any = metadata.get("langgraph_step")
        self._calls.note_step(kwargs.get("name"), metadata)
        if type(step) is int and step > self.steps:
            self.steps = step
            self.raise_error = bool(self.before_step)
            for check in self.before_step:
                check(step)

    @override
    def on_llm_start(self, serialized: dict[str, Any], prompts: list[str], **kwargs: Any) -> None:
        text = "\n\n".join(prompts)
        self._asked(kwargs.get("run_id"), text, text)

    @override
    def on_tool_start(self, serialized: dict[str, Any] | None, input_str: str, **kwargs: Any) -> None:
        self.tools.add(str(kwargs.get("name") or (serialized or {}).get("name")))

    @override
    def on_llm_new_token(self, token: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._streamed.add(run_id)
        chunk: Any = kwargs.get("chunk")
        if not isinstance(chunk, (GenerationChunk, ChatGenerationChunk)):
            return
        if any(each is chunk for each in self._refusals):
            self._refusing.add(run_id)
        before: Any = self._streams.get(run_id)
        arrived: Generation = chunk if before is None else before + chunk
        self._streams.take(run_id, arrived)
        # A tool call is recorded before the stream ends, because the application may run the tool, or
        # leave the stream, as soon as it has got the call.
        if run_id not in self._apart and may_call(chunk) and self._read(arrived, None, run_id).called:
            self._calls.note_reply(getattr(arrived, "message", None), run_id)
            pieces: Any = getattr(getattr(arrived, "message", None), "tool_call_chunks", ())
            if pieces and are_whole([each.get("args") for each in pieces]):
                for check in self.exchanges.during_reply:
                    check()

    def note_refusal(self, chunk: object) -> None:
        """Records that the reply with this chunk is a refusal. LangChain's chunk itself does not say
        so."""
        self._refusals.append(chunk)

    @override
    def on_llm_end(self, response: LLMResult, **kwargs: Any) -> None:
        super().on_llm_end(response, **kwargs)
        run_id = kwargs.get("run_id")
        self._streams.end(run_id)
        replies = itertools.count()
        for batch in response.generations:
            if not batch:  # LangChain allows a reply without generations, which counts as empty.
                self._fault = self._fault or EMPTY
            for generation in batch:
                read = self._read(generation, response.llm_output, run_id)
                self._replied(read, run_id, next(replies))
        last = next((batch[-1] for batch in reversed(response.generations) if batch), None)
        if last is not None:
            message = last.message if isinstance(last, ChatGeneration) else None
            if run_id not in self._apart:
                self._calls.note_reply(message, run_id)
            note_chat_reply(run_id, last, self._read(last, response.llm_output, run_id))
            self.exchanges.reply(run_id, *reply_texts(last))

    @override
    def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        # The application or the garbage collector closed the stream. The garbage collector may do so at
        # any point in the code, so nothing is recorded here. What has arrived is kept and recorded later.
        if isinstance(error, GeneratorExit):
            return
        self._has_failed = True
        if isinstance(error, Exception):
            run_id = kwargs.get("run_id")
            self._streams.end(run_id)
            if run_id not in self._apart:
                note_failure(run_id, error)

    def end_streams(self, *, of_this_reader: bool = False) -> None:
        """Records the arrived parts of the streamed replies that the application did not read to their
        ends. Must be called at the end of the run.

        ``of_this_reader``: False to record all such replies; True to record only those that the current
        thread and task was reading.
        """
        for run_id, arrived in self._streams.open(of_this_reader=of_this_reader):
            self._streams.end(run_id)
            said = self._said[run_id, 0] = self._left(run_id, arrived)
            note_chat_reply(cast("UUID", run_id), arrived.reply, said)
            self.exchanges.note_reply(run_id, *reply_texts(arrived.reply))

    def _left(self, run_id: object, arrived: Arrived[Generation]) -> Said:
        # A missing finish reason does not mean here that the model was cut off: the application itself
        # stopped reading the stream.
        read = self._read(arrived.reply, None, run_id)
        return replace(read, reports=False, apart=run_id in self._apart, within=arrived.within)

    def _asked(self, run_id: UUID | None, text: str, sent: str) -> None:
        if inside_retrieval.get():
            # A retriever called the model, for example to rerank documents. Such requests do not show
            # which documents the answering model got, so they are not recorded.
            self._apart.add(run_id)
            return
        self.end_streams(of_this_reader=True)
        where = nesting(text)
        if where is not Nesting.OUTER or is_within_a_model():
            self._apart.add(run_id)
        if where is Nesting.REPEATED:
            return
        # Without ``raise_error``, LangChain would only log an error of this handler, so the functions in
        # ``before_sending`` could not stop the request.
        self.raise_error = bool(self.exchanges.before_sending)
        # If a model calls itself inside its own call, the inner call may have other parameters, such as
        # "stream". So only the text of the inner request is recorded.
        self.exchanges.ask(run_id, text, sent if where is Nesting.OUTER else text)

    def _read(self, generation: Any, output: object, run_id: Any) -> Said:
        structured = self._calls.structured(getattr(generation, "message", None), run_id)
        streamed = run_id in self._streamed
        read = said_in(generation, output, streamed=streamed, structured=structured)
        return replace(read, refuses=True) if run_id in self._refusing else read

    def _replied(self, read: Said, run_id: object, place: int) -> None:
        within, apart = tools_in_use.get(), run_id in self._apart
        with self._guard:
            key = (object() if run_id is None else run_id, place)
            self._said[key] = replace(read, apart=apart, within=within)
            self._fault = self._fault or fault_of(read, self._accepts)


watching: ContextVar[Watch | None] = ContextVar("rag_rule_watch", default=None)
register_configure_hook(watching, inheritable=True)


@contextmanager
def watched_by(watch: Watch) -> Generator[None, None, None]:
    """Makes ``watch`` record the models that are called in this context during the block."""
    token = watching.set(watch)
    try:
        with client_watch.watched_by(watch.clients):
            yield
        watch.end_streams()
    finally:
        # The garbage collector may end an abandoned stream in another context, in which the variable was
        # never set. Its ``reset`` then raises ValueError, and there is nothing to reset.
        with suppress(ValueError):
            watching.reset(token)


INTERCEPTIONS = (
    Interception(
        "langchain_core.language_models.base",
        "BaseLanguageModel",
        re.compile("a?(generate|stream)"),
        with_edits(calls_noted(lambda: watching.get() is not None)),
    ),
)


def is_heard(config: RunnableConfig | None) -> bool:
    """Returns True iff a handler other than a ``Watch``, such as a tracer, would observe a run with this
    config."""
    handlers = CallbackManager.configure(ensure_config(config).get("callbacks")).handlers
    return not all(isinstance(each, Watch) for each in handlers)
