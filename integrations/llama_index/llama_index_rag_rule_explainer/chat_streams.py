"""This module attaches rules to streamed responses when their stream ends."""

import weakref
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from typing_extensions import override

from .rules_attached import attach
from .streaming import AsyncPieces, Pieces


class ExplainedChatStream(StreamingAgentChatResponse):
    """This class is a streamed chat response. After the end of the stream, its ``metadata`` has the
    rules."""

    metadata: dict[str, Any] | None = None
    _begun: Pieces | None = None
    _abegun: AsyncPieces | None = None
    _reading: Iterator[str] | None = None
    _areading: AsyncGenerator[str, None] | None = None

    @classmethod
    def of(
        cls, response: Any, begun: Pieces | None = None, abegun: AsyncPieces | None = None
    ) -> "ExplainedChatStream":
        """Returns a response that yields the text pieces of ``begun`` (sync) or ``abegun`` (async).

        ``response``: the application's response, whose sources are copied.
        """
        stream = cls(sources=list(response.sources), source_nodes=list(response.source_nodes))
        stream._begun, stream._abegun = begun, abegun
        for each in filter(None, (begun, abegun)):
            weakref.finalize(stream, each.close)
        return stream

    @property
    @override
    def response_gen(self) -> Any:
        """Returns the pieces of the answer as they arrive. After the stream has ended, returns the
        whole answer as one piece."""
        if self._begun is None:
            raise RuntimeError("this stream is async; iterate over async_response_gen()")
        if self.is_done:
            return iter([self.response])
        # A second access returns the same iterator, which continues the stream.
        self._reading = self._reading or self._pieces(self._begun)
        return self._reading

    def _pieces(self, begun: Pieces) -> Iterator[str]:
        for piece in pieces_with_rules(begun, self):
            self.response += piece
            yield piece
        self.is_done = True

    @override
    async def async_response_gen(self) -> AsyncGenerator[str, None]:
        """Yields the pieces of the answer as they arrive, in the caller's event loop."""
        if self._abegun is None:
            raise RuntimeError("this stream is sync; iterate over response_gen")
        if self.is_done:
            yield self.response
            return
        self._areading = self._areading or apieces_with_rules(self._abegun, self)
        async with aclosing(self._areading) as pieces:
            async for piece in pieces:
                self.response += piece
                yield piece
                self.is_done = "rag_rules" in (self.metadata or {})
        self.is_done = "rag_rules" in (self.metadata or {})


def pieces_with_rules(begun: Pieces, response: Any) -> Iterator[str]:
    """Yields the pieces of a response, and then attaches the rules to the response."""
    yield from begun.pieces()
    attach(response, begun.rest())


async def apieces_with_rules(begun: AsyncPieces, response: Any) -> AsyncGenerator[str, None]:
    """Yields the pieces of a response in the caller's event loop, and then attaches the rules to it."""
    try:
        async for piece in begun:
            yield piece
    except BaseException:  # The consumer stopped early, or the application failed.
        await begun.aclose()
        raise
    attach(response, await begun.rest())
