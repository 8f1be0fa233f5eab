"""A response and its pieces as they come, and then its explanation."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack
from typing import Any

from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse

from rag_rule_explainer.wrapping.call import Call
from rag_rule_explainer.wrapping.outputs import Explained

from .nodes import Found


def pieces(call: Call[Found]) -> "Pieces":
    """Runs the application until it has its response, which may still be without a text."""
    return Pieces(call)


async def apieces(call: Call[Found]) -> "AsyncPieces":
    """The same on the caller's loop."""
    begun = AsyncPieces(call)
    await begun.begin()
    return begun


class Pieces:
    """The pieces of an answer, once, and what is known at their end.

    ``response``: what the application returned, not to be read itself where it is streamed.
    """

    def __init__(self, call: Call[Found]) -> None:
        self._call = call
        self._text: list[str] = []
        self._open = ExitStack()
        with ExitStack() as opening:
            opening.enter_context(call.run.application.interception.intercepting())
            self._slot = opening.enter_context(ExitStack())
            self._slot.enter_context(call.explainer.limiter.slot())
            self._stream = call.run.stream()
            opening.callback(getattr(self._stream, "close", _nothing))
            self.response: Any = next(self._stream)
            self._open = opening.pop_all()

    def __iter__(self) -> Iterator[str]:
        try:
            for piece in self._stream:
                self._text.append(str(piece))
                yield str(piece)
        except BaseException:
            self._open.close()
            raise

    def rest(self) -> Explained[Any]:
        """All of it, explained; what was not asked for of the stream is read now."""
        with self._open:
            self._text.extend(map(str, self._stream))
            output = _whole(self.response, "".join(self._text))
            self._slot.close()
            run = self._call.run
            return Explained(output, self._call.mined(run.recorded(output), run.replay))


class AsyncPieces:
    """The same on the caller's loop; ``begin`` comes first."""

    def __init__(self, call: Call[Found]) -> None:
        self._call = call
        self._text: list[str] = []
        self._open = AsyncExitStack()
        self._slot = AsyncExitStack()
        self._stream: Any = None
        self.response: Any = None

    async def begin(self) -> None:
        """Runs the application until it has its response."""
        async with AsyncExitStack() as opening:
            opening.enter_context(self._call.run.application.interception.intercepting())
            await opening.enter_async_context(self._slot)
            await self._slot.enter_async_context(self._call.explainer.limiter.aslot())
            self._stream = self._call.run.astream()
            opening.push_async_callback(self._stream.aclose)
            self.response = await anext(self._stream)
            self._open = opening.pop_all()

    async def __aiter__(self) -> AsyncIterator[str]:
        try:
            async for piece in self._stream:
                self._text.append(str(piece))
                yield str(piece)
        except BaseException:
            await self._open.aclose()
            raise

    async def rest(self) -> Explained[Any]:
        """All of it, explained; what was not asked for of the stream is read now."""
        async with self._open:
            async for piece in self._stream:
                self._text.append(str(piece))
            output = _whole(self.response, "".join(self._text))
            await self._slot.aclose()
            return Explained(output, await self._call.amined(self._call.run.recorded(output)))


def _whole(response: Any, text: str) -> Any:
    """The response as it would be had it not been streamed."""
    if isinstance(response, (StreamingResponse, AsyncStreamingResponse)):
        return Response(text, response.source_nodes, response.metadata)
    if isinstance(response, StreamingAgentChatResponse):
        return AgentChatResponse(text, response.sources, response.source_nodes)
    return response


def _nothing() -> None:
    """For streams that need no closing."""
