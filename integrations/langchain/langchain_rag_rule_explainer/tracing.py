"""This module reports explanations and their replays as runs to LangChain's callbacks and tracers."""

from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager
from copy import copy
from typing import Any, TypeVar, cast
from uuid import UUID

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    BaseCallbackManager,
    CallbackManagerForChainRun,
)
from langchain_core.callbacks.manager import BaseRunManager
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import (
    ensure_config,
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
    merge_configs,
    patch_config,
)
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.langchain import LangChainTracer

from rag_rule_explainer import CitedAnswer, Verification
from rag_rule_explainer.instrumentation.engine import (
    EXPLANATION,
    REPLAY,
    Outcome,
    TracedExplanation,
    TracedReplay,
    TraceMarks,
    Unheard,
    ctrl_c_kept,
    current_replay,
    heard,
    langsmith,
    note,
    own_root,
    spans,
    threads,
    unheard,
)
from rag_rule_explainer.instrumentation.isolation.muting import is_muted, muted
from rag_rule_explainer.instrumentation.rechecking import AnswerToNothing

from .ambient import completed_config, without_ambient_config
from .keywords import check_config
from .watching import is_heard

T = TypeVar("T")
_Run = TypeVar("_Run", bound=BaseRunManager)

_MOST_RULES = 50
"""The maximum number of rules in the output of a traced explanation."""


def root_config(config: RunnableConfig | None, trace: TracedExplanation) -> RunnableConfig:
    """Returns the config of the root run of an explanation. It has the name and the metadata of the
    root run."""
    check_config(config)
    marks: RunnableConfig = {"metadata": dict(trace.marks)}
    return {"run_name": EXPLANATION, **merge_configs(config or {}, marks)}


def why_unheard(config: RunnableConfig) -> Unheard:
    """Returns the tracing services that would not receive runs with this config, such as a LangSmith
    server that does not respond, each with the reason. Blocks for a short time."""
    # LangSmith is off in this block. Otherwise LangChain would make a new tracer, whose client would
    # prevent the process from exiting.
    with langsmith.silenced():
        handlers = get_callback_manager_for_config(ensure_config(config)).handlers
    clients = [each.client for each in handlers if isinstance(each, LangChainTracer)]
    # Some tracers, such as OpenInference's, add themselves to every callback manager and are then among
    # the handlers. They are recognised by their method ``get_span``.
    tracers = [getattr(each, "_tracer", None) for each in handlers if hasattr(each, "get_span")]
    return unheard(tracers, clients)


@contextmanager
def inside_root(config: RunnableConfig, trace: TracedExplanation) -> Generator[None, None, None]:
    """Makes the root run of an explanation the current run in the block. At the end of the block, adds
    the metadata in ``trace`` to the root run.

    ``config``: the config that the root run passes to the runs in it.
    """
    handlers, run_id = _handlers(config), _run_id(config)
    known = _span_of(handlers, run_id)
    with ExitStack() as inside:
        inside.callback(lambda: _mark(handlers, run_id, trace.marks))
        if known is not None:
            inside.enter_context(spans.current(known))
        elif spans.in_use():
            inside.enter_context(own_root(trace))
        trace.is_open = True
        yield


@contextmanager
def beside_root(
    config: RunnableConfig, trace: TracedExplanation, dead: Unheard
) -> Generator[None, None, None]:
    """Adds the metadata in ``trace`` to the root run of a streamed explanation, at the end of the block.

    Unlike ``inside_root``, it does not make the root run the current run, because code that reads the
    stream also runs while the block is open. ``dead``: the tracing services that would not receive the
    runs, as ``why_unheard`` returns them. They are recorded in ``trace``, so that replays do not use
    them.
    """
    note(trace, dead)
    handlers, run_id = _handlers(config), _run_id(config)
    trace.is_open = _span_of(handlers, run_id) is not None
    try:
        yield
    finally:
        _mark(handlers, run_id, trace.marks)


def as_one_run(
    work: Callable[[RunnableConfig, TracedExplanation], T],
    given: Any,
    config: RunnableConfig | None,
    trace: TracedExplanation | None = None,
) -> T:
    """Calls ``work`` in a new root run, and returns its result. The runs that ``work`` makes are children
    of the root run, whose input is ``given``."""
    trace, found = trace or TracedExplanation(), list[T]()

    def explaining(_given: Any, config: RunnableConfig) -> Any:
        with inside_root(config, trace):
            found.append(work(config, trace))
        return _summary(found[0])

    config = root_config(config, trace)
    with heard(trace, why_unheard(config)):
        RunnableLambda(explaining).invoke(given, config)
    return found[0]


async def as_one_async_run(
    work: Callable[[RunnableConfig, TracedExplanation], Awaitable[T]],
    given: Any,
    config: RunnableConfig | None,
    trace: TracedExplanation | None = None,
) -> T:
    """Awaits ``work`` in a new root run whose input is ``given``, and returns the result of ``work``."""
    trace, found = trace or TracedExplanation(), list[T]()

    async def explaining(_given: Any, config: RunnableConfig) -> Any:
        with inside_root(config, trace):
            found.append(await work(config, trace))
        return _summary(found[0])

    config = root_config(config, trace)
    with ctrl_c_kept(), heard(trace, await threads.shared().run(why_unheard, config)):
        await RunnableLambda(explaining).ainvoke(given, config)
    return found[0]


def _summary(found: Any) -> dict[str, Any]:
    """Returns the output that tracers get for the run of an explanation.

    It has only rules and counts, and no texts of sources, because traces may be sent to other machines.
    """
    if isinstance(found, CitedAnswer):
        said = [str(verdict) for check in found.checks for verdict in check.verdicts]
        return {"citations": said[:_MOST_RULES], "replays": found.replays}
    if isinstance(found, tuple):
        return {"explanations": [_summary(each) for each in cast("tuple[Any, ...]", found)]}
    if isinstance(found, AnswerToNothing):
        return {"rules": [], "sources": 0}
    explanation = found.explanation if isinstance(found, Verification) else found
    rules = [str(each) for each in explanation.rules[:_MOST_RULES]]
    return {"rules": rules, "complete": explanation.complete, "replays": explanation.counts.replays}


def replayed(config: RunnableConfig, question: str, invoke: Callable[[RunnableConfig], T]) -> T:
    """Makes a replay in a new traced run, and returns the replay's output.

    The traced run ends after the answer was judged. If no handler would observe it, none is begun.
    """
    replay = current_replay()
    if replay is None or not is_heard(config):
        with without_ambient_config():
            return invoke(config)
    config = completed_config(config)
    manager = get_callback_manager_for_config(config)
    run = manager.on_chain_start(cast("Any", None), _input(question, replay), name=REPLAY)
    for each in _alone(run):
        replay.at_end(_ending(each))
    with _current(manager.handlers, run.run_id), without_ambient_config():
        return invoke(patch_config(config, callbacks=run.get_child()))


async def areplayed(
    config: RunnableConfig, question: str, invoke: Callable[[RunnableConfig], Awaitable[T]]
) -> T:
    """Makes an async replay, in a new traced run if a handler observes runs, and returns its output."""
    replay = current_replay()
    if replay is None or not is_heard(config):
        with without_ambient_config():
            return await invoke(config)
    config = completed_config(config)
    manager = get_async_callback_manager_for_config(config)
    run = await manager.on_chain_start(cast("Any", None), _input(question, replay), name=REPLAY)
    for each in _alone(run):
        replay.at_end(_aending(each))
    with _current(manager.handlers, run.run_id), without_ambient_config():
        return await invoke(patch_config(config, callbacks=run.get_child()))


def _input(question: str, replay: TracedReplay) -> dict[str, Any]:
    return {"question": question, "kept": replay.marks.get("rag_rule_kept", "")}


def _output(outcome: Outcome) -> dict[str, Any]:
    return {"answer": outcome.answer, **outcome.marks}


def _alone(run: _Run) -> Generator[_Run, None, None]:
    """Yields one copy of the run for each of its handlers.

    The end of the run is reported to each copy separately. If one handler then raises an error, the other
    handlers still receive the end.
    """
    for handler in run.handlers:
        alone = copy(run)
        alone.handlers = [handler]
        yield alone


def _ending(run: CallbackManagerForChainRun) -> Callable[[Outcome], None]:
    is_silent = is_muted()

    def end(outcome: Outcome) -> None:
        with muted(is_silent):
            _mark(run.handlers, run.run_id, outcome.marks)
            if outcome.error is None:
                run.on_chain_end(_output(outcome))
            else:
                run.on_chain_error(outcome.error)

    return end


def _aending(run: AsyncCallbackManagerForChainRun) -> Callable[[Outcome], Awaitable[None]]:
    is_silent = is_muted()

    async def end(outcome: Outcome) -> None:
        with muted(is_silent):
            _mark(run.handlers, run.run_id, outcome.marks)
            if outcome.error is None:
                await run.on_chain_end(_output(outcome))
            else:
                await run.on_chain_error(outcome.error)

    return end


def _mark(handlers: Iterable[Any], run_id: UUID | None, marks: TraceMarks) -> None:
    """Adds metadata to a run that has not ended yet, in every tracer that records the run."""
    for handler in handlers:
        run: Any = handler.run_map.get(str(run_id)) if isinstance(handler, BaseTracer) else None
        if run is not None:
            run.extra["metadata"] = {**(run.extra.get("metadata") or {}), **marks}
    span = _span_of(handlers, run_id)
    if span is not None:
        span.set_attributes(dict(marks))


@contextmanager
def _current(handlers: Iterable[Any], run_id: UUID) -> Generator[None, None, None]:
    """Makes the span of a run the current span in the block, if a tracer has made a span for the run."""
    span = _span_of(handlers, run_id)
    if span is None:
        yield
        return
    with spans.current(span):
        yield


def _span_of(handlers: Iterable[Any], run_id: UUID | None) -> Any:
    """Returns the span that a tracer, such as OpenInference's, made for a run; None if there is none."""
    for handler in handlers if run_id is not None else ():
        span_of: Any = getattr(handler, "get_span", None)
        span = span_of(run_id) if callable(span_of) else None
        if span is not None:
            return span
    return None


def _run_id(config: RunnableConfig) -> UUID | None:
    callbacks = config.get("callbacks")
    return callbacks.parent_run_id if isinstance(callbacks, BaseCallbackManager) else None


def _handlers(config: RunnableConfig) -> list[Any]:
    callbacks: Any = config.get("callbacks") or []
    return list(callbacks.handlers if isinstance(callbacks, BaseCallbackManager) else callbacks)
