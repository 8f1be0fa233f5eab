"""This module begins and marks the traces of an explanation and of its replays, for all supported tracers
that this process has loaded."""

from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from functools import wraps
from typing import Any, NamedTuple

from .. import threads
from . import langsmith, late, late_runs, sending, spans
from .following import Following
from .marks import (
    BASELINE_TAG,
    BASELINE_TAG_NAME,
    EXPLANATION,
    REPLAY,
    TracedExplanation,
    TracedReplay,
    TraceMarks,
    being_traced,
    current_replay,
)


def any_in_use() -> bool:
    """Returns True iff a supported tracer is loaded in this process."""
    return spans.in_use() or langsmith.in_use()


def is_sent() -> bool:
    """Returns True iff a tracer of this process is on by default, so that it sends its traces to some
    service."""
    return any(each.in_use() and each.is_on() for each in (langsmith, spans))


@contextmanager
def traced(replay: TracedReplay) -> Generator[None, None, None]:
    """Marks all traces that begin in the block as parts of this replay. Also begins a span for the replay
    if no framework makes one."""
    with being_traced(replay), marked(replay):
        if not (replay.explanation.opens_spans and replay.is_shown):
            yield
            return
        name = BASELINE_TAG_NAME if replay.is_baseline else REPLAY
        with spans.opened(name, replay.marks, (replay.tag,)) as span:
            replay.at_end(span.ended)
            if replay.is_baseline:
                replay.explanation.explained_run = span.id
            yield


def marked(replay: TracedReplay) -> AbstractContextManager[object]:
    """Marks all traces that begin in the block as parts of a replay. If the user hides replays, keeps
    tracers from sending them. Also used for a thread of the replay."""
    # A sampler may record spans even if tracing is suppressed. So the marks (metadata) are set in any
    # case.
    marks = _marking(replay.marks, replay.tag)
    return marks if replay.is_shown else _silenced(marks)


@contextmanager
def _silenced(marks: AbstractContextManager[object]) -> Generator[None, None, None]:
    with marks, ExitStack() as inside:
        for tracer in _in_use():
            inside.enter_context(tracer.silenced())
        yield


def _handed_on(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that calls ``function`` and marks its traces as parts of the current replay, in
    whichever thread it is called. Outside replays, returns ``function`` itself."""
    replay = current_replay()
    if replay is None:
        return function

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with being_traced(replay), marked(replay):
            return function(*args, **kwargs)

    return call


_threads = Following(_handed_on)


@contextmanager
def marked_first(explanation: TracedExplanation) -> Generator[None, None, None]:
    """Marks all traces that begin in the block as parts of the run that is explained."""
    with sending.checked(), _marking(late.first_marks(explanation), BASELINE_TAG):
        yield


@contextmanager
def traced_first(explanation: TracedExplanation) -> Generator[None, None, None]:
    """Marks all traces that begin in the block as parts of the run that is explained. Also begins a span
    for this run if no framework makes one."""
    with marked_first(explanation), late.first_run(), ExitStack() as inside:
        if not explanation.opens_spans:
            yield
            return
        marks = late.first_marks(explanation)
        span = inside.enter_context(spans.opened(BASELINE_TAG_NAME, marks, (BASELINE_TAG,)))
        inside.callback(span.span.end)
        yield
        # If a framework has given the run an id, this id is kept, because users know the run by it.
        explanation.explained_run = explanation.explained_run or span.id


def _marking(marks: TraceMarks, tag: str) -> AbstractContextManager[object]:
    # Nearly always at most one of the tracers is on. Every replay calls this function. So to save time,
    # the context manager of that tracer is then returned alone.
    of_runs = langsmith.marking(marks, tag) if langsmith.in_use() else None
    of_spans = spans.marking(marks, tag) if spans.in_use() else None
    if of_runs is None or of_spans is None:
        return of_runs or of_spans or nullcontext()
    return _both(of_runs, of_spans)


@contextmanager
def _both(
    first: AbstractContextManager[object], second: AbstractContextManager[object]
) -> Generator[None, None, None]:
    with first, second:
        yield


def _in_use() -> list[Any]:
    return [each for each in (langsmith, spans) if each.in_use()]


@asynccontextmanager
async def rooted(explanation: TracedExplanation) -> AsyncGenerator[None, None]:
    """Prepares the tracing of an explanation for the duration of the block, and begins its root span if
    no framework has made one. Replays that are still open at the end of the block are ended."""
    async with AsyncExitStack() as inside:
        inside.enter_context(sending.checked())
        inside.enter_context(late_runs.taking_late_runs(explanation))
        inside.push_async_callback(explanation.close)
        if not explanation.asked and is_sent():
            inside.enter_context(heard(explanation, await threads.shared().run(unheard)))
        if explanation.follows_threads:
            inside.enter_context(_threads.on())
        if spans.in_use() and not explanation.is_open:
            inside.enter_context(own_root(explanation))
        explanation.is_open = True
        yield


@contextmanager
def own_root(explanation: TracedExplanation) -> Generator[None, None, None]:
    """Begins the root span of an explanation for the duration of the block; all its other spans are
    inside it."""
    with spans.opened(EXPLANATION, explanation.marks) as span:
        explanation.opens_spans = span.is_recorded
        known = nullcontext() if span.is_recorded else late.possible(explanation)
        try:
            with known:
                yield
        except BaseException as error:
            span.fail(error)
            raise
        finally:
            # The explained run may have got its id in the block, so the marks are set once more.
            span.mark(explanation.marks)
            span.span.end()


class Unheard(NamedTuple):
    """Unheard holds notes for the user about endpoints of traces that do not answer: one for LangSmith
    and one for OpenTelemetry. A note is empty if the endpoint answers."""

    by_langsmith: str = ""
    by_spans: str = ""


def unheard(tracers: Iterable[Any] = (), clients: Iterable[Any] = ()) -> Unheard:
    """Checks whether the endpoints of traces answer. Also makes sure that exported spans get the marks
    (metadata) of their replays. Blocks for a short time.

    ``tracers``: tracers of OpenTelemetry to check in addition to the default one. ``clients``: clients of
    LangSmith to check in addition to the default one.
    """
    runs, exported = "", ""
    if langsmith.in_use():
        dead_clients = [langsmith.why_dead(each) for each in clients]
        runs = next(filter(None, dead_clients), "") or langsmith.why_all_dead()
    if spans.in_use():
        tracers = tuple(tracers)
        spans.mark_own(tracers)
        exported = spans.why_all_dead(tracers)
    return Unheard(runs, exported)


@contextmanager
def heard(explanation: TracedExplanation, dead: Unheard) -> Generator[None, None, None]:
    """Turns off, during the block, the tracers whose endpoints do not answer. Adds the notes about them
    to the explanation. ``dead``: the result of ``unheard``."""
    note(explanation, dead)
    with late_runs.taking_late_runs(explanation), ExitStack() as inside:
        for tracer, why in ((langsmith, dead.by_langsmith), (spans, dead.by_spans)):
            if why:
                inside.enter_context(tracer.silenced())
        yield


def note(explanation: TracedExplanation, dead: Unheard) -> None:
    """Adds to the explanation the notes about endpoints that do not answer, and records that they were
    checked, so that they are not checked once more."""
    explanation.asked = True
    for why in filter(None, dead):
        explanation.take_note(why)
