"""This module yields the chunks of an application's output, and then the explained output."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableBinding, RunnableSequence

from rag_rule_explainer.instrumentation.call import Call

from .finding import Found
from .graphs import Whole, graph_in
from .kinds import streams_ever_more
from .outputs import AnswerChunk, added


def output_then_rules(
    call: Call[Found], runnable: Runnable[Any, Any], finish: Callable[[Any], Any]
) -> Iterator[Any]:
    """Runs the application, and yields the chunks of its output as they arrive.

    At the end, yields ``finish(output)``, the whole output with its explanation.
    """
    with call.run.application.interception.intercepting():
        output, adds, sums = None, False, not streams_ever_more(runnable)
        with call.explainer.limiter.slot():
            chunks = call.run.stream() if _is_streamed(runnable) else _whole(call)
            for chunk in chunks:
                if isinstance(chunk, Whole):
                    output = chunk.output
                    continue
                output, adds = added(output, chunk) if adds else chunk, sums
                yield AnswerChunk(chunk)
        yield finish(output)


async def aoutput_then_rules(
    call: Call[Found], runnable: Runnable[Any, Any], finish: Callable[[Any], Awaitable[Any]]
) -> AsyncIterator[Any]:
    """Runs the application in the caller's event loop, and yields the chunks of its output as they
    arrive.

    At the end, yields the result of ``finish(output)``, the whole output with its explanation.
    """
    with call.run.application.interception.intercepting():
        output, adds, sums = None, False, not streams_ever_more(runnable)
        async with call.explainer.limiter.aslot():
            chunks = call.run.astream() if _is_streamed(runnable) else _awhole(call)
            async for chunk in chunks:
                if isinstance(chunk, Whole):
                    output = chunk.output
                    continue
                output, adds = added(output, chunk) if adds else chunk, sums
                yield AnswerChunk(chunk)
        yield await finish(output)


def _whole(call: Call[Found]) -> Iterator[Any]:
    yield call.run.baseline()


async def _awhole(call: Call[Found]) -> AsyncIterator[Any]:
    yield await call.run.abaseline()


def _is_streamed(application: Runnable[Any, Any]) -> bool:
    """Returns True iff the output can be streamed in chunks.

    A graph that is the whole application can be streamed by ``GraphStream``. A chain that ends with a
    graph cannot, because the chunks do not add up to its output.
    """
    return graph_in(application) is not None or streams_its_output(application)


def streams_its_output(application: Runnable[Any, Any]) -> bool:
    """Returns True iff the chunks add up to the output. The chunks of a graph do not: they are updates
    of its state."""
    while isinstance(application, (RunnableBinding, RunnableSequence)):
        application = (
            # pyright does not know the type of the Runnable inside a RunnableBinding.
            application.last if isinstance(application, RunnableSequence) else application.bound  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        )
    return not any(kind.__module__.startswith("langgraph.") for kind in type(application).__mro__)
