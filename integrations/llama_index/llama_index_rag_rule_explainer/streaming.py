"""This module streams the text of a response in pieces, and explains the response at the end."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse

from rag_rule_explainer.instrumentation.call import Call
from rag_rule_explainer.instrumentation.outputs import Explained, Unexplained

from .nodes import Found
from .tracing import Beginning


class Begun:
    """A ``Begun`` holds a response whose text is still being streamed, or is already complete.

    ``response``: the application's response. Its stream must be read by the methods of this object.
    Until ``close`` or the end of the stream, the response counts as a running call for ``concurrency``,
    and LlamaIndex's methods stay replaced.
    """

    def __init__(self, call: Call[Found]) -> None:
        self._call = call
        self._text: list[str] = []
        self._open = ExitStack()
        self._slot = ExitStack()
        self._stream: Any = None
        # The explanation is made when the stream ends. In traces, it becomes a child of the span in which
        # the stream began.
        self._beginning = Beginning()
        self.response: Any = None

    def close(self) -> None:
        """Ends this call, so that another call may begin, and restores LlamaIndex's methods. The rest of
        the stream is not read."""
        self._slot.close()
        self._open.close()

    def _output(self) -> Any:
        # Replays count for ``concurrency``, too, so the finished answer stops counting before they
        # begin.
        self._slot.close()
        return whole(self.response, "".join(self._text))


class Pieces(Begun):
    """This class yields the pieces of an answer once. Afterwards it returns the explained response."""

    @classmethod
    def of(cls, call: Call[Found]) -> "Pieces":
        """Runs the application until it returns its response, whose text may still be streamed."""
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
        """Yields the pieces as they arrive. If the consumer stops early, closes the stream and this
        object."""
        try:
            for piece in self._stream:
                self._text.append(str(piece))
                yield str(piece)
        except BaseException:
            self._stream.close()
            self.close()
            raise

    def rest(self) -> Explained[Any] | Unexplained[Any]:
        """Reads the rest of the stream, and returns the whole response with its explanation."""
        try:
            self._text.extend(map(str, self._stream))
            with self._beginning.current():
                return self._call.answer_streamed(self._output())
        finally:
            self.close()


class AsyncPieces(Begun):
    """This class yields the pieces of an answer once, in the caller's event loop. Afterwards it returns
    the explained response.

    It is not written as an async generator, because ``asyncio.run`` closes all async generators at the
    same time, and reports an error if one of them is just closing another one.
    """

    @classmethod
    async def of(cls, call: Call[Found]) -> "AsyncPieces":
        """Runs the application until it returns its response, whose text may still be streamed."""
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

    def __aiter__(self) -> "AsyncPieces":
        return self

    async def __anext__(self) -> str:
        piece = str(await anext(self._stream))
        self._text.append(piece)
        return piece

    async def aclose(self) -> None:
        """Closes the stream and this object. Callers use it if the consumer stopped early."""
        try:
            await self._stream.aclose()
        finally:
            self.close()

    async def rest(self) -> Explained[Any] | Unexplained[Any]:
        """Reads the rest of the stream, and returns the whole response with its explanation."""
        try:
            async for _ in self:
                pass
            with self._beginning.current():
                return await self._call.aanswer_streamed(self._output())
        finally:
            self.close()


def whole(response: Any, text: str) -> Any:
    """Returns a streamed response in the form of a response that was not streamed. ``text``: the text
    of its stream."""
    if isinstance(response, (StreamingResponse, AsyncStreamingResponse)):
        return Response(text, response.source_nodes, response.metadata)
    if isinstance(response, StreamingAgentChatResponse):
        return AgentChatResponse(text, response.sources, response.source_nodes)
    return response
