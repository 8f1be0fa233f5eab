"""Spans of LlamaIndex's dispatcher for an explanation and for each replay, whoever listens to it."""

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
    """What a span of ours says that it was given."""


_GIVEN = inspect.signature(_given)


class OpenSpan:
    """This class is a span of the dispatcher's, which ends later. ``known``: OpenTelemetry's of the same,
    where a listener has made one."""

    def __init__(self, identity: str, bound: inspect.BoundArguments, known: Any) -> None:
        self.known = known
        self._identity, self._bound = identity, bound
        # In which listeners were told that it begins, or were kept from it.
        self._context = copy_context()

    def ended(self, outcome: Outcome) -> None:
        """Ends it with what came of a replay."""
        if self.known is not None:
            spans.mark(self.known, outcome)
        if outcome.error is None:
            result = {"answer": outcome.answer, **outcome.marks}
            self._tell(dispatcher.span_exit, result=result)
        else:
            self._tell(dispatcher.span_drop, err=outcome.error)

    def _tell(self, end: Callable[..., None], **told: Any) -> None:
        self._context.run(end, id_=self._identity, bound_args=self._bound, **told)


def is_traced() -> bool:
    """Returns True iff what is traced may go somewhere, in spans of OpenTelemetry's or runs of
    LangSmith's."""
    return is_sent() or bool(_tracers())


def asked() -> Unheard:
    """Returns why nobody would receive what is traced. Blocks, if not for long; what it has learnt is
    kept."""
    return unheard(_tracers())


def _tracers() -> list[Any]:
    """Returns those of OpenTelemetry's that listeners of the dispatcher use, such as OpenInference's."""
    found = (getattr(each, "_otel_tracer", None) for each in get_dispatcher().span_handlers)
    return [each for each in found if each is not None]


def _is_listened_to() -> bool:
    """Returns True iff anybody but this package is told of spans."""
    handlers = (*dispatcher.span_handlers, *dispatcher.root.span_handlers)
    return any(
        not isinstance(each, NullSpanHandler) and not type(each).__module__.startswith(_OURS)
        for each in handlers
    )


@contextmanager
def explaining(trace: TracedExplanation, question: str) -> Generator[None, None, None]:
    """Inside, an explanation is made, and all its spans belong to one."""
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
    """Inside, a replay is made, and all its spans belong to one, which ends when it was judged."""
    replay = current_replay()
    if replay is None or not replay.explanation.replays:
        yield
        return
    with _entered(REPLAY, question, str(replay.marks.get("rag_rule_kept", ""))) as span:
        if _is_listened_to():
            # In another thread, as a listener may block: not for nobody.
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
