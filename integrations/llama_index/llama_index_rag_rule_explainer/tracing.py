"""This module reports each explanation and each replay as a span to LlamaIndex's dispatcher."""

import inspect
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from typing import Any
from uuid import uuid4

from llama_index.core.instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import active_instrument_tags, instrument_tags
from llama_index_instrumentation.span import active_span_id
from llama_index_instrumentation.span_handlers import NullSpanHandler

from rag_rule_explainer.instrumentation.engine import (
    EXPLANATION,
    REPLAY,
    Outcome,
    TracedExplanation,
    Unheard,
    current_replay,
    heard,
    is_sent,
    own_root,
    spans,
    unheard,
)

from .progressing import dispatcher

_OURS = __name__.partition(".")[0]


def _given(question: str, kept: str) -> None:
    """Does nothing. Each span of this module is reported as a call of this function, so that the span has
    the arguments of the call."""


_GIVEN = inspect.signature(_given)


class OpenSpan:
    """An ``OpenSpan`` is a span of LlamaIndex's dispatcher that has begun and has not ended.

    ``known``: the OpenTelemetry span that a span handler has made for it; None if there is none.
    """

    def __init__(self, identity: str, bound: inspect.BoundArguments, known: Any) -> None:
        self.known = known
        self._identity, self._bound = identity, bound
        # Span handlers must get the end of a span in the context in which the span began.
        self._context = copy_context()

    def ended(self, outcome: Outcome) -> None:
        """Ends the span. Reports with it the outcome of the replay or the explanation."""
        if self.known is not None:
            spans.mark(self.known, outcome)
        if outcome.error is None:
            result = {"answer": outcome.answer, **outcome.marks}
            self._end(dispatcher.span_exit, result=result)
        else:
            self._end(dispatcher.span_drop, err=outcome.error)

    def _end(self, end: Callable[..., None], **fields: Any) -> None:
        self._context.run(end, id_=self._identity, bound_args=self._bound, **fields)


class Beginning:
    """A ``Beginning`` stores which spans were the current spans when the object was made."""

    def __init__(self) -> None:
        self._identity = active_span_id.get()
        self._span = spans.lasting() if spans.in_use() else None

    @contextmanager
    def current(self) -> Generator[None, None, None]:
        """Makes the stored spans the parents of all spans that begin in the block."""
        with ExitStack() as inside:
            inside.callback(active_span_id.reset, active_span_id.set(self._identity))
            if self._span is not None:
                inside.enter_context(spans.current(self._span))
            yield


def is_traced() -> bool:
    """Returns True iff OpenTelemetry or LangSmith may receive traces."""
    return is_sent() or bool(_tracers())


def asked() -> Unheard:
    """Returns the tracing services that would not receive traces, with the reasons. Blocks for a short
    time."""
    return unheard(_tracers())


def _tracers() -> list[Any]:
    """Returns the OpenTelemetry tracers of the dispatcher's span handlers, such as OpenInference's."""
    found = (getattr(each, "_otel_tracer", None) for each in get_dispatcher().span_handlers)
    return [each for each in found if each is not None]


def _is_listened_to() -> bool:
    """Returns True iff the dispatcher has a span handler that is not of this package."""
    handlers = (*dispatcher.span_handlers, *dispatcher.root.span_handlers)
    return any(
        not isinstance(each, NullSpanHandler) and not type(each).__module__.startswith(_OURS)
        for each in handlers
    )


@contextmanager
def explaining(trace: TracedExplanation, question: str) -> Generator[None, None, None]:
    """Opens the span of an explanation for the duration of the block. It is the parent of all spans in
    the block."""
    with ExitStack() as inside:
        if not trace.asked:
            inside.enter_context(heard(trace, asked()))
        inside.enter_context(instrument_tags({**active_instrument_tags.get(), **trace.marks}))
        root = inside.enter_context(_entered(EXPLANATION, question, ""))
        if spans.in_use() and root.known is None:
            inside.enter_context(own_root(trace))
        trace.is_open = True
        error = None
        try:
            yield
        except BaseException as raised:
            error = raised
            raise
        finally:
            root.ended(Outcome(trace.marks, error=error))


@contextmanager
def replaying(question: str) -> Generator[None, None, None]:
    """Makes the span of a replay the current span in the block.

    The span ends after the answer of the replay was judged.
    """
    replay = current_replay()
    if replay is None or not replay.explanation.replays:
        yield
        return
    with _entered(REPLAY, question, str(replay.marks.get("rag_rule_kept", ""))) as span:
        if _is_listened_to():
            # A span handler may block, so the end is reported in another thread. Without span handlers,
            # no thread is needed.
            replay.at_end(span.ended)
        yield


@contextmanager
def _entered(name: str, question: str, kept: str) -> Generator[OpenSpan, None, None]:
    identity, bound = f"{name}-{uuid4()}", _GIVEN.bind(question, kept)
    with ExitStack() as inside:
        before = None
        if spans.in_use():
            inside.enter_context(spans.kept_context())
            before = spans.current_span()
        parent = active_span_id.get()
        token = active_span_id.set(identity)
        inside.callback(active_span_id.reset, token)
        tags = active_instrument_tags.get()
        dispatcher.span_enter(id_=identity, bound_args=bound, parent_id=parent, tags=tags)
        now = spans.current_span() if spans.in_use() else None
        yield OpenSpan(identity, bound, None if now is before else now)
