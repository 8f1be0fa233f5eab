"""Responses that are streamed, and have their rules at the end."""

import weakref
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from typing_extensions import override

from rag_rule_explainer.instrumentation.outputs import KEY, Explained, Unexplained, rules_in

from .streaming import AsyncPieces, Pieces


def attach(response: Any, done: Explained[Any] | Unexplained[Any]) -> None:
    """Puts the rules into the metadata of a response, as JSON-like data, beside what is there; see
    ``rules_in``."""
    # A chat response that is streamed has no metadata of its own.
    response.metadata = {**(getattr(response, "metadata", None) or {}), KEY: rules_in(done)}


class ExplainedChatStream(StreamingAgentChatResponse):
    """This class represents a chat response as it is streamed; ``metadata`` has the rules once its stream
    has ended."""

    metadata: dict[str, Any] | None = None
    _begun: Pieces | None = None
    _abegun: AsyncPieces | None = None
    _reading: Iterator[str] | None = None
    _areading: AsyncGenerator[str, None] | None = None

    @classmethod
    def of(
        cls, response: Any, begun: Pieces | None = None, abegun: AsyncPieces | None = None
    ) -> "ExplainedChatStream":
        """Returns the stream of a response whose pieces are told from here."""
        stream = cls(sources=list(response.sources), source_nodes=list(response.source_nodes))
        stream._begun, stream._abegun = begun, abegun
        for each in filter(None, (begun, abegun)):
            weakref.finalize(stream, each.close)
        return stream

    @property
    @override
    def response_gen(self) -> Any:
        """Returns the pieces of the answer; the whole of it once it has been read."""
        if self._begun is None:
            raise RuntimeError("this stream is async; iterate over async_response_gen()")
        if self.is_done:
            return iter([self.response])
        # There is one stream, also for whoever comes back to it.
        self._reading = self._reading or self._pieces(self._begun)
        return self._reading

    def _pieces(self, begun: Pieces) -> Iterator[str]:
        for piece in told(begun, self):
            self.response += piece
            yield piece
        self.is_done = True

    @override
    async def async_response_gen(self) -> AsyncGenerator[str, None]:
        """Yields the pieces of the answer, on the caller's loop."""
        if self._abegun is None:
            raise RuntimeError("this stream is sync; iterate over response_gen")
        if self.is_done:
            yield self.response
            return
        self._areading = self._areading or atold(self._abegun, self)
        async with aclosing(self._areading) as pieces:
            async for piece in pieces:
                self.response += piece
                yield piece
                self.is_done = "rag_rules" in (self.metadata or {})
        self.is_done = "rag_rules" in (self.metadata or {})


def told(begun: Pieces, response: Any) -> Iterator[str]:
    """Yields the pieces of a response, which has its rules then."""
    yield from begun.pieces()
    attach(response, begun.rest())


async def atold(begun: AsyncPieces, response: Any) -> AsyncGenerator[str, None]:
    """Yields the same on the caller's loop."""
    # Whoever leaves early closes this generator, and with it what it is in the middle of.
    async with aclosing(begun.pieces()) as pieces:
        async for piece in pieces:
            yield piece
    attach(response, await begun.rest())
