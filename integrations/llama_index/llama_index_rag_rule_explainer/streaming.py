"""This module streams the pieces of a response, and explains it at the end."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, suppress
from typing import Any

from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse

from rag_rule_explainer.instrumentation.call import Call
from rag_rule_explainer.instrumentation.outputs import Explained, Unexplained

from .nodes import Found
from .tracing import Beginning


class Begun:
    """A ``Begun`` holds a response whose text may still be streamed.

    ``response``: the application's response; its stream must be read through this object. A slot of the
    limiter is held, and the framework intercepted, until ``close`` or the end of the stream.
    """

    def __init__(self, call: Call[Found]) -> None:
        self._call = call
        self._text: list[str] = []
        self._open = ExitStack()
        self._slot = ExitStack()
        self._stream: Any = None
        # The explanation at the end belongs to the call that began the stream, if that is traced.
        self._beginning = Beginning()
        self.response: Any = None

    def close(self) -> None:
        """Releases the slot and the interception. The rest of the stream is not read."""
        self._slot.close()
        self._open.close()

    def _output(self) -> Any:
        # Replays need slots, so this one is released before the explanation.
        self._slot.close()
        return whole(self.response, "".join(self._text))


class Pieces(Begun):
    """This class yields the pieces of an answer once, and then its explanation."""

    @classmethod
    def of(cls, call: Call[Found]) -> "Pieces":
        """Runs the application until it has its response."""
        begun = cls(call)
        try:
            begun._open.enter_context(call.run.application.interception.intercepting())
            begun._slot.enter_context(call.explainer.limiter.slot())
            begun._stream = call.run.stream()
            begun.response = next(begun._stream)
        except BaseException:
            begun.close()
            raise
        return begun

    def pieces(self) -> Iterator[str]:
        """Yields the pieces as they come. Releases everything if the consumer stops early."""
        try:
            for piece in self._stream:
                self._text.append(str(piece))
                yield str(piece)
        except BaseException:
            self._stream.close()
            self.close()
            raise

    def rest(self) -> Explained[Any] | Unexplained[Any]:
        """Reads the rest of the stream. Returns the whole response, explained."""
        try:
            self._text.extend(map(str, self._stream))
            with self._beginning.current():
                return self._call.answer_streamed(self._output())
        finally:
            self.close()


class AsyncPieces(Begun):
    """This class yields the pieces of an answer in the caller's event loop, and then its explanation."""

    @classmethod
    async def of(cls, call: Call[Found]) -> "AsyncPieces":
        """Runs the application until it has its response."""
        begun, limiter = cls(call), call.explainer.limiter
        try:
            begun._open.enter_context(call.run.application.interception.intercepting())
            if not limiter.enter_at_once():
                await limiter.enter()
            begun._slot.enter_context(limiter.entered())
            begun._stream = call.run.astream()
            begun.response = await anext(begun._stream)
        except BaseException:
            begun.close()
            raise
        return begun

    async def pieces(self) -> AsyncGenerator[str, None]:
        """Yields the pieces as they come. Releases everything if the consumer stops early."""
        try:
            async for piece in self._stream:
                self._text.append(str(piece))
                yield str(piece)
        except BaseException:
            try:
                with suppress(RuntimeError):  # raised if the garbage collector is closing it already
                    await self._stream.aclose()
            finally:
                self.close()
            raise

    async def rest(self) -> Explained[Any] | Unexplained[Any]:
        """Reads the rest of the stream. Returns the whole response, explained."""
        try:
            async for piece in self._stream:
                self._text.append(str(piece))
            with self._beginning.current():
                return await self._call.aanswer_streamed(self._output())
        finally:
            self.close()


def whole(response: Any, text: str) -> Any:
    """Returns the response as a response that was not streamed; ``text``: the text of its stream."""
    if isinstance(response, (StreamingResponse, AsyncStreamingResponse)):
        return Response(text, response.source_nodes, response.metadata)
    if isinstance(response, StreamingAgentChatResponse):
        return AgentChatResponse(text, response.sources, response.source_nodes)
    return response
