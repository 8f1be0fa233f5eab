"""This module records the requests and replies of model clients that were generated from the description
of an API.

Such a client sends every request by its method ``request(cast_to, options, …)``, and returns a stream as
an object that holds the iterator of its chunks. An integration describes the client by a
``GeneratedClient``, and replaces ``request`` during explanations. A context variable identifies the run
that sends a request.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from copy import copy, deepcopy
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Protocol

from ..beginnings import note_reply, recorded_reply
from .client_watch import ClientWatch, ModelReply, ModelRequest, current_watch


class JoinedChunks(Protocol):
    """This class joins the chunks of a streamed reply.

    ``is_partial``: True until the stream is read to its end, or to a chunk after which no other can come.
    """

    is_partial: bool

    def take(self, chunk: Any, /) -> object:
        """Adds the next chunk."""
        ...

    def reply(self) -> ModelReply:
        """Returns the reply that consists of the chunks added so far."""
        ...


@dataclass(frozen=True, slots=True)
class GeneratedClient:
    """A ``GeneratedClient`` reads what a client sends and gets. ``options``, of type ``Any``, are those
    of one request.

    ``asks_a_model``: returns True for the options of a request to a model. ``asked``: reads the request.
    ``edited``: returns the options without the sources that the current replay omits. ``replied``: reads
    the reply from the client's result; None if only the application may read it. ``joined``: makes an
    object that joins the chunks of one stream.
    """

    asks_a_model: Callable[[Any], bool]
    asked: Callable[[Any], ModelRequest]
    edited: Callable[[Any], Any]
    replied: Callable[[Any], ModelReply | None]
    joined: Callable[[], JoinedChunks]

    def sending(self, _: str, request: Any) -> Any:
        """Returns the replacement of a client's method ``request``."""

        @wraps(request)
        def sent(client: Any, cast_to: Any, options: Any, *args: Any, **kwargs: Any) -> Any:
            watch = current_watch()
            if watch is None or not self.asks_a_model(options):
                return _bound(request, client)(cast_to, options, *args, **kwargs)
            options = self.edited(options)
            key = watch.asked(self.asked(options))
            served = recorded_reply(key)
            if served is not None:
                return self._served(watch, key, served)
            with watch.failing():
                result = _bound(request, client)(cast_to, options, *args, **kwargs)
            return self._answered(watch, key, result)

        return sent

    def asending(self, _: str, request: Any) -> Any:
        """Returns the replacement of an async client's method ``request``."""

        @wraps(request)
        async def sent(client: Any, cast_to: Any, options: Any, *args: Any, **kwargs: Any) -> Any:
            watch = current_watch()
            if watch is None or not self.asks_a_model(options):
                return await _bound(request, client)(cast_to, options, *args, **kwargs)
            options = self.edited(options)
            key = watch.asked(self.asked(options))
            served = recorded_reply(key)
            if served is not None:
                return self._served(watch, key, served)
            with watch.failing():
                result = await _bound(request, client)(cast_to, options, *args, **kwargs)
            return self._answered(watch, key, result)

        return sent

    def _answered(self, watch: ClientWatch, key: object, result: Any) -> Any:
        """Returns the client's result. Records in ``watch`` the reply that the result contains.

        A streamed reply is recorded while the application reads it.
        """
        chunks = getattr(result, "_iterator", None)
        if chunks is None:
            reply = self.replied(result)
            if reply is not None:
                note_reply(key, result, reply.said)
                watch.replied(key, reply)
        else:
            # Clients have no public hook for the chunks of a stream, so a private attribute is replaced.
            read = self._aread if hasattr(chunks, "__anext__") else self._read
            result._iterator = read(watch, key, result, chunks)
        return result

    def _served(self, watch: ClientWatch, key: object, recorded: Any) -> Any:
        """Returns a recorded result of the client. Its tokens were spent in the baseline."""
        is_stream = isinstance(recorded, RecordedStream)
        reply = recorded.reply(self.joined()) if is_stream else self.replied(recorded)
        if reply is not None:
            watch.replied(key, reply._replace(spent={}))
        return recorded.again() if is_stream else recorded

    def _read(self, watch: ClientWatch, key: object, stream: Any, chunks: Iterator[Any]) -> Iterator[Any]:
        reading = _Reading(watch, key, stream, self.joined())
        watch.opened(key, stream.close)
        with watch.streaming(key, reading.joined.reply):
            for chunk in chunks:
                reading.take(chunk)
                yield chunk
            watch.finished(key)
            reading.note_end()

    async def _aread(
        self, watch: ClientWatch, key: object, stream: Any, chunks: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        reading = _Reading(watch, key, stream, self.joined())
        with watch.streaming(key, reading.joined.reply):
            async for chunk in chunks:
                reading.take(chunk)
                yield chunk
            reading.note_end()


@dataclass(slots=True, eq=False)
class _Reading:
    """A ``_Reading`` records a streamed reply while the application reads it."""

    watch: ClientWatch
    key: object
    stream: Any
    joined: JoinedChunks
    _given: list[Any] = field(default_factory=list[Any])
    _is_noted: bool = False

    def take(self, chunk: Any) -> None:
        self.joined.take(chunk)
        self._given.append(chunk)
        if not self.joined.is_partial:
            # The application may stop reading here.
            self.note_end()
            self.watch.end_stream(self.key)

    def note_end(self) -> None:
        if not self._is_noted:
            self._is_noted, self.joined.is_partial = True, False
            note_reply(
                self.key, RecordedStream(self.stream, tuple(self._given)), self.joined.reply().said
            )


@dataclass(frozen=True, slots=True)
class RecordedStream:
    """A ``RecordedStream`` is a stream that was read to its end. ``stream``: the client's object;
    ``chunks``: the chunks that it yielded."""

    stream: Any
    chunks: tuple[Any, ...]

    # The client's object cannot be copied deeply, and each reader gets copies of the chunks.
    def __deepcopy__(self, _: object) -> "RecordedStream":
        return self

    def reply(self, joined: JoinedChunks) -> ModelReply:
        """Returns the reply that consists of the chunks. ``joined``: joins them."""
        for chunk in self.chunks:
            joined.take(chunk)
        joined.is_partial = False
        return joined.reply()

    def again(self) -> Any:
        """Returns a stream of the client's class that yields the chunks once more."""
        stream, chunks = copy(self.stream), deepcopy(self.chunks)
        # Clients have no public way to make a stream of chunks.
        stream._iterator = _agiven(chunks) if hasattr(stream, "__anext__") else iter(chunks)
        return stream


async def _agiven(chunks: tuple[Any, ...]) -> AsyncIterator[Any]:
    for chunk in chunks:
        yield chunk


def _bound(request: Any, client: Any) -> Any:
    # Tracers may have replaced ``request`` by a wrapper that works only as a bound method, so it is bound
    # first.
    return request.__get__(client, type(client))
