"""This module keeps streamed replies of the OpenAI client, so that an application can be given them
again."""

from collections.abc import AsyncIterator
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any

from rag_rule_explainer.instrumentation.requests.client_watch import ModelReply

from .wire import Streamed


@dataclass(frozen=True, slots=True)
class RecordedStream:
    """A ``RecordedStream`` is a stream that was read to its end. ``stream``: the client's object;
    ``chunks``: what it gave."""

    stream: Any
    chunks: tuple[Any, ...]

    # The client's object cannot be copied deeply, and each reader gets copies of the chunks.
    def __deepcopy__(self, _: object) -> "RecordedStream":
        return self

    @property
    def reply(self) -> ModelReply:
        """Returns the reply that the chunks make."""
        streamed = Streamed(is_partial=False)
        for chunk in self.chunks:
            streamed.take(chunk)
        return streamed.reply()

    def again(self) -> Any:
        """Returns a stream of the client's class that gives the chunks once more."""
        stream, chunks = copy(self.stream), deepcopy(self.chunks)
        # The client has no public way to make a stream of chunks.
        stream._iterator = _agiven(chunks) if hasattr(stream, "__anext__") else iter(chunks)
        return stream


async def _agiven(chunks: tuple[Any, ...]) -> AsyncIterator[Any]:
    for chunk in chunks:
        yield chunk


def given_again(result: Any) -> Any:
    """Returns the result of the client that an application gets from a recorded one."""
    return result.again() if isinstance(result, RecordedStream) else result
