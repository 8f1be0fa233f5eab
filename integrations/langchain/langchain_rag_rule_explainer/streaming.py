"""An application's output as it is streamed, and then its explanation."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableBinding, RunnableSequence

from rag_rule_explainer.wrapping.call import Call

from .finding import Found
from .outputs import AnswerChunk, Explained, added


def streamed(call: Call[Found], runnable: Runnable[Any, Any]) -> Iterator[Explained[Any]]:
    """The output's chunks as they come, then all of it, explained."""
    with call.run.application.interception.intercepting():
        output: Any = None
        with call.explainer.limiter.slot():
            chunks = call.run.stream() if streams_its_output(runnable) else _whole(call)
            for place, chunk in enumerate(chunks):
                output = added(output, chunk) if place else chunk
                yield AnswerChunk(chunk)
        yield Explained(output, call.mined(call.run.recorded(output), call.run.replay))


async def astreamed(call: Call[Found], runnable: Runnable[Any, Any]) -> AsyncIterator[Explained[Any]]:
    """The same on the caller's loop."""
    with call.run.application.interception.intercepting():
        output, begun = None, False
        async with call.explainer.limiter.aslot():
            chunks = call.run.astream() if streams_its_output(runnable) else _awhole(call)
            async for chunk in chunks:
                output, begun = added(output, chunk) if begun else chunk, True
                yield AnswerChunk(chunk)
        yield Explained(output, await call.amined(call.run.recorded(output)))


def _whole(call: Call[Found]) -> Iterator[Any]:
    yield call.run.baseline()


async def _awhole(call: Call[Found]) -> AsyncIterator[Any]:
    yield await call.run.abaseline()


def streams_its_output(application: Runnable[Any, Any]) -> bool:
    """False for graphs, whose streams tell what its nodes do: they do not add up to the output."""
    while isinstance(application, (RunnableBinding, RunnableSequence)):
        application = (
            application.last if isinstance(application, RunnableSequence) else application.bound  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        )
    return not any(kind.__module__.startswith("langgraph.") for kind in type(application).__mro__)
