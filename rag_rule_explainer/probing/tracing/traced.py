"""This module begins the traces of an explanation and its replays in every tracer of this process."""

from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import (
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


def anybody() -> bool:
    """Returns True iff a supported tracer is loaded in this process."""
    return spans.in_use() or langsmith.in_use()


def is_sent() -> bool:
    """Returns True iff a tracer of this process sends its traces anywhere by default."""
    return any(each.in_use() and each.is_on() for each in (langsmith, spans))


@contextmanager
def traced(replay: TracedReplay) -> Generator[None, None, None]:
    """Marks every trace inside as a part of this replay, and begins its span if no framework does."""
    with ExitStack() as inside:
        inside.enter_context(being_traced(replay))
        inside.enter_context(marked(replay))
        if replay.explanation.opens_spans and replay.is_shown:
            name = BASELINE_TAG_NAME if replay.is_baseline else REPLAY
            span = inside.enter_context(spans.opened(name, replay.marks, (replay.tag,)))
            replay.at_end(span.ended)
            if replay.is_baseline:
                replay.explanation.explained_run = span.id
        yield


@contextmanager
def marked(replay: TracedReplay) -> Generator[None, None, None]:
    """Marks every trace inside, also in a thread, as a part of a replay; silences it if replays are
    hidden."""
    with ExitStack() as inside:
        # Marks are set even if traces are silenced: a sampler may ignore that.
        inside.enter_context(_marking(replay.marks, replay.tag))
        if not replay.is_shown:
            for tracer in _in_use():
                inside.enter_context(tracer.silenced())
        yield


def _handed_on(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function whose traces are marked as parts of the current replay, in any thread."""
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
    """Marks every trace inside as a part of the run that is explained."""
    with sending.checked(), _marking(late.first_marks(explanation), BASELINE_TAG):
        yield


@contextmanager
def traced_first(explanation: TracedExplanation) -> Generator[None, None, None]:
    """Traces the run that is explained inside, in a span of its own if no framework makes one."""
    with marked_first(explanation), late.first_run(), ExitStack() as inside:
        if not explanation.opens_spans:
            yield
            return
        marks = late.first_marks(explanation)
        span = inside.enter_context(spans.opened(BASELINE_TAG_NAME, marks, (BASELINE_TAG,)))
        inside.callback(span.span.end)
        yield
        # A framework's own id says more.
        explanation.explained_run = explanation.explained_run or span.id


@contextmanager
def _marking(marks: TraceMarks, tag: str) -> Generator[None, None, None]:
    with ExitStack() as inside:
        for tracer in _in_use():
            inside.enter_context(tracer.marking(marks, tag))
        yield


def _in_use() -> list[Any]:
    return [each for each in (langsmith, spans) if each.in_use()]


@asynccontextmanager
async def rooted(explanation: TracedExplanation) -> AsyncGenerator[None, None]:
    """Traces an explanation inside; makes the root span itself if no framework has made one."""
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
    """Makes the span, inside, that holds all others of an explanation."""
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
            # The marks may now include the id of the explained run.
            span.mark(explanation.marks)
            span.span.end()


class Unheard(NamedTuple):
    """Unheard holds a note on each tracer whose endpoint does not answer; empty texts for those that
    do."""

    by_langsmith: str = ""
    by_spans: str = ""


def unheard(tracers: Iterable[Any] = (), clients: Iterable[Any] = ()) -> Unheard:
    """Checks the endpoints of traces, and marks the spans that replays export there. Blocks for a short
    time. ``tracers``: OpenTelemetry's, ``clients``: LangSmith's, beside the default ones."""
    runs, exported = "", ""
    if langsmith.in_use():
        dead_clients = [langsmith.why_dead(each) for each in clients]
        runs = next(filter(None, dead_clients), "") or langsmith.why_nobody()
    if spans.in_use():
        tracers = tuple(tracers)
        spans.mark_own(tracers)
        exported = spans.why_nobody(tracers)
    return Unheard(runs, exported)


@contextmanager
def heard(explanation: TracedExplanation, nobody: Unheard) -> Generator[None, None, None]:
    """Silences, inside, the tracers whose endpoints do not answer, and notes that on the explanation."""
    note(explanation, nobody)
    with late_runs.taking_late_runs(explanation), ExitStack() as inside:
        for tracer, why in ((langsmith, nobody.by_langsmith), (spans, nobody.by_spans)):
            if why:
                inside.enter_context(tracer.silenced())
        yield


def note(explanation: TracedExplanation, nobody: Unheard) -> None:
    """Notes on the explanation which endpoints do not answer; they are not asked again."""
    explanation.asked = True
    for why in filter(None, nobody):
        explanation.take_note(why)
