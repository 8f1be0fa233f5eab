"""Has everybody who traces in this process know of an explanation and of its replays, as they begin."""

from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager

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
        tracers = [each for each in (langsmith, spans) if each.in_use()]
        for tracer in tracers:
            if replay.explanation.replays or replay.is_baseline:
                inside.enter_context(tracer.marking(replay.marks, replay.tag))
            else:
                inside.enter_context(tracer.silenced())
        if replay.explanation.opens_spans and (replay.explanation.replays or replay.is_baseline):
            name = BASELINE if replay.is_baseline else REPLAY
            span = inside.enter_context(spans.opened(name, replay.marks, (replay.tag,)))
            replay.at_end(span.ended)
            if replay.is_baseline:
                replay.explanation.explained_run = span.id
        yield


@asynccontextmanager
async def rooted(explanation: TracedExplanation) -> AsyncGenerator[None, None]:
    """Inside, an explanation is made; where no framework tells of it, OpenTelemetry is told from here."""
    if explanation.is_open:
        yield
        return
    explanation.is_open = True
    with ExitStack() as inside:
        if langsmith.in_use():
            client = langsmith.default_client()
            dead = "" if client is None else await threads.shared().run(langsmith.why_dead, client)
            inside.enter_context(unless(dead, explanation))
        span = None
        if spans.in_use() and not explanation.opens_spans:
            explanation.opens_spans = True
            span = inside.enter_context(spans.opened(EXPLANATION, explanation.marks))
        try:
            yield
        except BaseException as error:
            if span is not None:
                span.fail(error)
            raise
        finally:
            await explanation.close()
            if span is not None:
                span.mark(explanation.marks)
                span.span.end()


@contextmanager
def unless(dead: str, explanation: TracedExplanation) -> Generator[None, None, None]:
    """Inside, nothing is sent to LangSmith where there is a reason not to, which is noted."""
    if not dead:
        yield
        return
    explanation.notes.append(dead)
    with langsmith.silenced():
        yield
