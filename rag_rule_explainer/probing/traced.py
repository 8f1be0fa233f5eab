"""Has everybody who traces in this process know of an explanation and of its replays, as they begin."""

from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager

from . import langsmith, spans, threads
from .tracing import BASELINE, EXPLANATION, REPLAY, TracedExplanation, TracedReplay, being_traced


def anybody() -> bool:
    """True iff something that traces is loaded in this process."""
    return spans.in_use() or langsmith.in_use()


@contextmanager
def traced(replay: TracedReplay) -> Generator[None, None, None]:
    """Inside, a replay is made, and whatever is traced there is marked as a part of it."""
    with ExitStack() as inside:
        inside.enter_context(being_traced(replay))
        is_told = replay.explanation.replays or replay.is_baseline
        for tracer in [each for each in (langsmith, spans) if each.in_use()]:
            inside.enter_context(
                tracer.marking(replay.marks, replay.tag) if is_told else tracer.silenced()
            )
        if replay.explanation.opens_spans and is_told:
            name = BASELINE if replay.is_baseline else REPLAY
            span = inside.enter_context(spans.opened(name, replay.marks, (replay.tag,)))
            replay.at_end(span.ended)
            if replay.is_baseline:
                replay.explanation.explained_run = span.id
        yield


@asynccontextmanager
async def rooted(explanation: TracedExplanation) -> AsyncGenerator[None, None]:
    """Inside, an explanation is made; where no framework tells of it, OpenTelemetry is told from here."""
    async with AsyncExitStack() as inside:
        inside.push_async_callback(explanation.close)
        if langsmith.in_use() and explanation.is_heard is None:
            dead = await threads.shared().run(langsmith.why_nobody)
            inside.enter_context(unless(dead, explanation))
        if spans.in_use() and not explanation.is_open:
            explanation.opens_spans = True
            inside.enter_context(own_root(explanation))
        explanation.is_open = True
        yield


@contextmanager
def own_root(explanation: TracedExplanation) -> Generator[None, None, None]:
    """Inside, a span of its own is the one that holds all others of an explanation."""
    with spans.opened(EXPLANATION, explanation.marks) as span:
        try:
            yield
        except BaseException as error:
            span.fail(error)
            raise
        finally:
            # By now it is known which run is explained.
            span.mark(explanation.marks)
            span.span.end()


@contextmanager
def unless(dead: str, explanation: TracedExplanation) -> Generator[None, None, None]:
    """Inside, nothing is sent to LangSmith where there is a reason not to, which is noted."""
    explanation.is_heard = not dead
    if not dead:
        yield
        return
    explanation.notes.append(dead)
    with langsmith.silenced():
        yield
