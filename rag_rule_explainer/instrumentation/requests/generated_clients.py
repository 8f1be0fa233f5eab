"""This module records the requests and replies of model clients that were generated from the description
of an API.

Such a client sends every request by its method ``request(cast_to, options, …)``, and returns a stream as
an object that holds the iterator of its chunks. An integration describes the client by a
``GeneratedClient``, and replaces ``request`` during explanations. A context variable tells which run
sends a request.
"""

from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy, deepcopy
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, NamedTuple

from ..beginnings import ends_at_next_action, note_reply, recorded_reply
from .client_watch import ClientWatch, JoinedChunks, ModelReply, ModelRequest, current_watch
from .http_replies import ReplyByHttp
from .nested_calls import is_within_no_model

_client_sends: ContextVar[bool] = ContextVar("rag_rule_client_sends", default=False)


@contextmanager
def sent_by_client() -> Generator[None, None, None]:
    """Marks every HTTP request that is sent in the block as part of a request that was already recorded,
    so that it is not recorded a second time."""
    token = _client_sends.set(True)
    try:
        yield
    finally:
        _client_sends.reset(token)


def is_sent_by_client() -> bool:
    """Returns True iff an HTTP request that is sent now is part of a request to a model that was already
    recorded."""
    return _client_sends.get()


class _Asking(NamedTuple):
    """An ``_Asking`` is a request that is about to be sent. ``options``: its options, without omitted
    sources. ``served``: the recorded result that the application gets instead of an answer of the model;
    None if the request is really sent."""

    watch: ClientWatch
    key: object
    options: Any
    served: Any


@dataclass(frozen=True, slots=True)
class GeneratedClient:
    """A ``GeneratedClient`` reads the requests and replies of one kind of client. The *options* of a
    request are the object by which the client describes the request.

    ``asks_a_model``: returns True for the options of a request to a model. ``asked``: reads the request
    from its options. ``edited``: returns the options, for a client, without the sources that the
    current replay omits. ``replied``: reads the reply from the client's result; None if only the
    application may read it. ``joined``: makes an object that joins the chunks of one stream.
    """

    asks_a_model: Callable[[Any], bool]
    asked: Callable[[Any], ModelRequest]
    edited: Callable[[object, Any], Any]
    replied: Callable[[Any], ModelReply | None]
    joined: Callable[[], JoinedChunks]

    def sending(self, _: str, request: Any) -> Any:
        """Returns the replacement of a client's method ``request``."""

        @wraps(request)
        def sent(client: Any, cast_to: Any, options: Any, *args: Any, **kwargs: Any) -> Any:
            asking = self._asking(client, options)
            if asking is None:
                return _bound(request, client)(cast_to, options, *args, **kwargs)
            if asking.served is not None:
                return self._served(asking)
            with asking.watch.failing(), sent_by_client():
                result = _bound(request, client)(cast_to, asking.options, *args, **kwargs)
            return self._answered(asking, result, is_async=False)

        return sent

    def asending(self, _: str, request: Any) -> Any:
        """Returns the replacement of an async client's method ``request``."""

        @wraps(request)
        async def sent(client: Any, cast_to: Any, options: Any, *args: Any, **kwargs: Any) -> Any:
            asking = self._asking(client, options)
            if asking is None:
                return await _bound(request, client)(cast_to, options, *args, **kwargs)
            if asking.served is not None:
                return self._served(asking)
            with asking.watch.failing(), sent_by_client():
                result = await _bound(request, client)(cast_to, asking.options, *args, **kwargs)
            return self._answered(asking, result, is_async=True)

        return sent

    def _asking(self, client: object, options: Any) -> _Asking | None:
        """Records the request with these options, and returns it. Returns None, and records nothing, in
        three cases: outside of runs; for a request that asks no model; and inside another call that is
        already recorded, such as a call of a framework's model."""
        watch = current_watch()
        inside = is_sent_by_client() or not is_within_no_model()
        if watch is None or inside or not self.asks_a_model(options):
            return None
        options = self.edited(client, options)
        key = watch.asked(self.asked(options))
        return _Asking(watch, key, options, recorded_reply(key))

    def _answered(self, asking: _Asking, result: Any, *, is_async: bool) -> Any:
        """Returns the client's result. Records the reply that the result contains.

        A streamed reply is recorded while the application reads it.
        """
        chunks = getattr(result, "_iterator", None)
        if chunks is None:
            reply = self.replied(result)
            if reply is not None:
                note_reply(asking.key, result, reply.said)
                asking.watch.replied(asking.key, reply)
            elif hasattr(result, "http_response"):  # this is a raw response, whose body is not yet read
                unread = ReplyByHttp(asking.watch, asking.key, self.joined(), self.replied)
                unread.follow(result.http_response, is_async=is_async)
        else:
            # Clients have no public hook for the chunks of a stream, so a private attribute is replaced.
            read = self._aread if is_async else self._read
            asking.watch.streams.hold(asking.key, result.close, is_async=is_async)
            result._iterator = read(_Reading(asking, result, self.joined()), chunks)
        return result

    def _served(self, asking: _Asking) -> Any:
        """Returns the recorded result that the application gets instead of sending the request. The
        tokens of the recorded reply are not counted again, because the baseline spent them."""
        recorded = asking.served
        is_stream = isinstance(recorded, RecordedStream)
        reply = recorded.reply(self.joined()) if is_stream else self.replied(recorded)
        if reply is not None:
            asking.watch.replied(asking.key, reply._replace(spent={}))
        return recorded.again() if is_stream else recorded

    @staticmethod
    def _read(reading: "_Reading", chunks: Iterator[Any]) -> Iterator[Any]:
        with reading.asking.watch.streaming(reading.asking.key, reading):
            if ends_at_next_action():
                chunks = iter([reading.taken(each) for each in chunks])
                reading.end()
            for chunk in chunks:
                yield reading.taken(chunk)
            reading.end()

    @staticmethod
    async def _aread(reading: "_Reading", chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        with reading.asking.watch.streaming(reading.asking.key, reading):
            if ends_at_next_action():
                chunks = _agiven(tuple([reading.taken(each) async for each in chunks]))
                reading.end()
            async for chunk in chunks:
                yield reading.taken(chunk)
            reading.end()


@dataclass(slots=True, eq=False)
class _Reading:
    """A ``_Reading`` records a streamed reply while the application reads it."""

    asking: _Asking
    stream: Any
    joined: JoinedChunks
    _given: list[Any] = field(default_factory=list[Any])
    _has_ended: bool = False

    @property
    def arguments(self) -> Sequence[str]:
        return self.joined.arguments

    def reply(self) -> ModelReply:
        return self.joined.reply()

    def taken(self, chunk: Any) -> Any:
        """Records the next chunk, and returns it. Chunks after the one that completes the reply are not
        recorded."""
        if self._has_ended:
            return chunk
        self.joined.take(chunk)
        self._given.append(chunk)
        self.asking.watch.arrived(self.asking.key, self)
        if not self.joined.is_partial:
            self._note_end()  # the application may stop reading here
        return chunk

    def end(self) -> None:
        """Records that the stream was read to its end."""
        self.asking.watch.streams.release(self.asking.key)
        if not self._has_ended:
            self.joined.is_partial = False
            self._note_end()

    def note_left(self) -> None:
        self._note(is_whole=False)

    def _note_end(self) -> None:
        self._has_ended = True
        self._note(is_whole=True)
        self.asking.watch.end_stream(self.asking.key, self)

    def _note(self, *, is_whole: bool) -> None:
        recorded = RecordedStream(self.stream, tuple(self._given), is_whole)
        note_reply(self.asking.key, recorded, self.joined.reply().said)


@dataclass(frozen=True, slots=True)
class RecordedStream:
    """A ``RecordedStream`` holds the part of a stream that the application has read. ``stream``: the
    client's object; ``chunks``: the chunks that it yielded; ``is_whole``: True iff the stream was read to
    its end."""

    stream: Any
    chunks: tuple[Any, ...]
    is_whole: bool

    # A deep copy returns this object itself, because the client's object cannot be copied deeply. Sharing
    # it is safe: ``again`` copies the chunks before the application reads them.
    def __deepcopy__(self, _: object) -> "RecordedStream":
        return self

    def reply(self, joined: JoinedChunks) -> ModelReply:
        """Returns the reply that consists of the chunks. ``joined``: joins them."""
        for chunk in self.chunks:
            joined.take(chunk)
        joined.is_partial = not self.is_whole
        return joined.reply()

    def again(self) -> Any:
        """Returns a stream of the client's class that yields the chunks once more."""
        stream, chunks = copy(self.stream), deepcopy(self.chunks)
        # Clients have no public way to make a stream of given chunks, so a private attribute is set.
        stream._iterator = _agiven(chunks) if hasattr(stream, "__anext__") else iter(chunks)
        return stream


async def _agiven(chunks: tuple[Any, ...]) -> AsyncIterator[Any]:
    for chunk in chunks:
        yield chunk


def _bound(request: Any, client: Any) -> Any:
    # Tracers may have replaced ``request`` by a wrapper that works only as a bound method. So ``request``
    # is bound here.
    return request.__get__(client, type(client))
