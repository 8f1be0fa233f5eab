"""This module runs LlamaIndex applications: query engines, chat engines, workflows and functions."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.schema import QueryBundle
from llama_index.core.workflow import Workflow
from typing_extensions import override

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.checks import type_said
from rag_rule_explainer.instrumentation.function_application import AsyncOnlyError, is_called_with
from rag_rule_explainer.instrumentation.inside_runs import in_a_thread
from rag_rule_explainer.instrumentation.run_context import participation

from .kinds import why_none
from .reading import adrained, drained
from .workflows import result_of

Engine: TypeAlias = BaseQueryEngine | BaseChatEngine | Workflow | Callable[..., Any]
"""An application that can be explained: an engine, a workflow such as an agent, or a function. The
function has one input; or it has no parameter, and makes an application for every run."""

_NOT_TWICE = (
    "{engine!r} called {ran}, and then needed a running event loop, so it would have to be called again, "
    "and its tools with it; make it an async function"
)


class Entry(Protocol):
    """An ``Entry`` runs an application of one kind, such as a query engine, by its public methods."""

    @property
    def async_only(self) -> bool:
        """Returns True iff it is known that the application has only async methods."""
        return False

    def run(self, given: Any) -> Any:
        """Runs the application on an input, and returns its output. A stream is read to its end.

        Raises AsyncOnlyError, as ``stream`` does, if the application has only async methods.
        """
        ...

    async def arun(self, given: Any) -> Any:
        """Runs the application on an input by its async method, and returns its output. A stream is read
        to its end."""
        ...

    def stream(self, given: Any) -> Iterator[Any]:
        """Yields the response object first, and then the pieces of its text if the text is streamed."""
        ...

    def astream(self, given: Any) -> AsyncIterator[Any]:
        """Yields the response object first, and then the pieces of its text if the text is streamed.
        Calls the application's async method."""
        ...


@dataclass(frozen=True)
class Querying(Entry):
    """This entry runs a query engine by ``query`` and ``aquery``."""

    engine: BaseQueryEngine

    @override
    def run(self, given: Any) -> Any:
        return drained(self.engine.query(_asked(given)))

    @override
    async def arun(self, given: Any) -> Any:
        return await adrained(await self.engine.aquery(_asked(given)))

    @override
    def stream(self, given: Any) -> Iterator[Any]:
        response: Any = self.engine.query(_asked(given))
        yield response
        if isinstance(response, StreamingResponse):
            yield from response.response_gen

    @override
    async def astream(self, given: Any) -> AsyncIterator[Any]:
        response: Any = await self.engine.aquery(_asked(given))
        yield response
        if isinstance(response, AsyncStreamingResponse):
            async for piece in response.async_response_gen():
                yield piece
        elif isinstance(response, StreamingResponse):
            for piece in response.response_gen:
                yield piece


@dataclass(frozen=True)
class Chatting(Entry):
    """This entry runs a chat engine by ``chat`` and ``achat``.

    The input is a message, or a dict with ``message`` and ``chat_history``.
    """

    engine: BaseChatEngine

    @override
    def run(self, given: Any) -> Any:
        return drained(self.engine.chat(**_said(given)))

    @override
    async def arun(self, given: Any) -> Any:
        return await adrained(await self.engine.achat(**_said(given)))

    @override
    def stream(self, given: Any) -> Iterator[Any]:
        response = self.engine.stream_chat(**_said(given))
        yield response
        yield from response.response_gen

    @override
    async def astream(self, given: Any) -> AsyncIterator[Any]:
        response = await self.engine.astream_chat(**_said(given))
        yield response
        if response.achat_stream is None:
            for piece in response.response_gen:
                yield piece
        else:
            async for piece in response.async_response_gen():
                yield piece


@dataclass(frozen=True)
class Working(Entry):
    """This entry runs a workflow by ``run``, which is always async.

    The input is a question, a StartEvent, or a dict of the arguments of ``run``.
    """

    engine: Workflow

    @property
    @override
    def async_only(self) -> bool:
        return True

    @override
    def run(self, given: Any) -> Any:
        raise AsyncOnlyError(f"{type(self.engine).__name__}.run is async")

    @override
    async def arun(self, given: Any) -> Any:
        return await adrained(await result_of(self.engine, given))

    @override
    def stream(self, given: Any) -> Iterator[Any]:
        raise AsyncOnlyError(f"{type(self.engine).__name__}.run is async")

    @override
    async def astream(self, given: Any) -> AsyncIterator[Any]:
        yield await self.arun(given)


@dataclass(frozen=True)
class Calling(Entry):
    """This entry calls a function of one input, sync or async."""

    engine: Callable[..., Any]

    @property
    @override
    def async_only(self) -> bool:
        called = getattr(self.engine, "__call__", None)  # noqa: B004 -- the method itself is needed, not whether it exists
        return inspect.iscoroutinefunction(self.engine) or inspect.iscoroutinefunction(called)

    @override
    def run(self, given: Any) -> Any:
        try:
            output = self.engine(given)
        except RuntimeError as error:
            if not _wants_a_loop(error):
                raise
            raise AsyncOnlyError(f"{self.engine!r} runs on an event loop") from error
        if inspect.isawaitable(output):
            if inspect.iscoroutine(output):
                output.close()
            raise AsyncOnlyError(f"{self.engine!r} returns an awaitable")
        return drained(output)

    @override
    async def arun(self, given: Any) -> Any:
        output = self.engine(given) if self.async_only else await self._in_a_thread(given)
        return await adrained(await output if inspect.isawaitable(output) else output)

    async def _in_a_thread(self, given: Any) -> Any:
        """Calls a sync function in a thread, so that it does not block the event loop, and returns its
        output.

        If the function raises an error because it needs the running event loop, it is called again in the
        event loop's thread. Raises InvalidInput if a tool ran before this error, because the second call
        would run the tool again.
        """
        try:
            return await in_a_thread(lambda: self.engine(given))
        except RuntimeError as error:
            if not _wants_a_loop(error):
                raise
            run = participation()
            if run is not None and run.executed:
                ran = ", ".join(sorted({repr(each.call.name) for each in run.executed}))
                raise InvalidInput(_NOT_TWICE.format(engine=self.engine, ran=ran)) from error
            return self.engine(given)

    @override
    def stream(self, given: Any) -> Iterator[Any]:
        yield self.run(given)

    @override
    async def astream(self, given: Any) -> AsyncIterator[Any]:
        yield await self.arun(given)


def _wants_a_loop(error: RuntimeError) -> bool:
    return "no running event loop" in str(error)


@dataclass(frozen=True)
class Making(Entry):
    """This entry calls a function without parameters in every run, and runs the engine that the
    function returns."""

    engine: Callable[[], Any]

    @override
    def run(self, given: Any) -> Any:
        return entry_of(self.engine(), made=True).run(given)

    @override
    async def arun(self, given: Any) -> Any:
        return await entry_of(self.engine(), made=True).arun(given)

    @override
    def stream(self, given: Any) -> Iterator[Any]:
        yield from entry_of(self.engine(), made=True).stream(given)

    @override
    async def astream(self, given: Any) -> AsyncIterator[Any]:
        async for piece in entry_of(self.engine(), made=True).astream(given):
            yield piece


def entry_of(engine: Any, *, made: bool = False) -> Entry:
    """Returns the entry that runs an engine. Raises InvalidInput for an object that cannot be run.

    ``made``: True if the engine was returned by a function without parameters. In this case the engine
    must not be such a function itself.
    """
    if isinstance(engine, BaseQueryEngine):
        return Querying(engine)
    if isinstance(engine, BaseChatEngine):
        return Chatting(engine)
    if isinstance(engine, Workflow):
        return Working(engine)
    if isinstance(engine, type) and is_called_with(engine) and not made:
        return Making(engine)
    if callable(engine) and not isinstance(engine, type):
        if is_called_with(engine, object()):
            return Calling(engine)
        if is_called_with(engine) and not made:
            return Making(engine)
    whose, known = "the function that makes the engine made" if made else "this is", why_none(engine)
    if known:
        raise InvalidInput(f"{whose} {known}")
    raise InvalidInput(
        f"{whose} {type_said(engine)}, which answers no questions; pass a query "
        "engine, a chat engine, an agent or another workflow, a function of one question, or a function "
        "of nothing that makes one of these"
    )


def _asked(given: Any) -> Any:
    if isinstance(given, (str, QueryBundle)):
        return given
    raise InvalidInput(
        f"a query engine is asked by a question or a QueryBundle, and this is {type_said(given)}"
    )


def _said(given: Any) -> dict[str, Any]:
    return dict(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else {"message": given}
