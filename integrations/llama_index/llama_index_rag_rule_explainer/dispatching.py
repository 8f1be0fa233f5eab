"""This module passes the events of LlamaIndex's dispatcher to the ``Watch`` of the current run."""

import re
from functools import lru_cache, wraps
from typing import Any

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

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.requests.nested_calls import calls_noted
from rag_rule_explainer.instrumentation.run_context import participation

from .edited_prompts import asking_with_edits
from .watching import current_watch

_OF_MODELS = (
    LLMChatStartEvent,
    LLMChatInProgressEvent,
    LLMChatEndEvent,
    LLMCompletionStartEvent,
    LLMCompletionInProgressEvent,
    LLMCompletionEndEvent,
    LLMPredictStartEvent,
    LLMPredictEndEvent,
    LLMStructuredPredictStartEvent,
    SpanDropEvent,
    ExceptionEvent,
)


@lru_cache(maxsize=256)
def _counts(kind: type) -> bool:
    """Returns True iff ``take_event`` uses events of this class.

    The result is cached, because a replay has many events of other classes.
    """
    return issubclass(kind, _OF_MODELS)


def _dispatching(name: str, method: Any) -> Any:
    """Returns the replacement of a method of the dispatcher.

    The replacement passes events to the current ``Watch``. In replays that are not traced, the original
    method is not called, so no event handler and no span handler observes the replay.
    """
    is_event, begins = name.endswith("event"), name == "span_enter"

    def is_traced(given: tuple[Any, ...], identity: str = "") -> bool:
        watch, run = current_watch(), participation()
        if is_event and watch is not None and given and _counts(type(given[0])):
            watch.take_event(given[0])
        if begins and run is not None and run.trace is not None and not run.trace.explained_run:
            # The first span of a run is the outermost span, so its id is used as the id of the run.
            run.trace.explained_run = identity
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
    Interception(
        "llama_index.core.base.llms.base",
        "BaseLLM",
        re.compile("a?(stream_)?(chat|complete)"),
        asking_with_edits(calls_noted(lambda: current_watch() is not None)),
    ),
)
