"""This module reads a model's reply from the body of an HTTP response, while the application reads it."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ..beginnings import note_reply
from .client_watch import ClientWatch, JoinedChunks, ModelReply

_ENDS = b"[DONE]"
"""The data of the last event of a stream."""


@dataclass(slots=True, eq=False)
class ReplyByHttp:
    """A ``ReplyByHttp`` records a reply while the application reads it: one JSON value, or a stream of
    server-sent events or of lines of JSON.

    ``watch``: the ``ClientWatch`` that recorded the request; ``key``: the key that it gave the request.
    ``joined``: joins the JSON values of a stream. ``replied``: reads the reply from a single JSON value;
    None if it is no reply.
    """

    watch: ClientWatch
    key: object
    joined: JoinedChunks
    replied: Callable[[Mapping[str, Any]], ModelReply | None]
    _given: bytearray = field(default_factory=bytearray)
    _read: int = 0
    _whole: ModelReply | None = None
    _has_ended: bool = False

    @property
    def arguments(self) -> Sequence[str]:
        """Returns the arguments of the reply's tool calls, each as the text that the model wrote."""
        return self.joined.arguments

    def reply(self) -> ModelReply:
        """Returns the part of the reply that has arrived."""
        return self._whole or self.joined.reply()

    def take(self, piece: Any) -> None:
        """Records the next bytes of the reply, or its next text."""
        self._given += piece.encode() if isinstance(piece, str) else piece
        if self._has_ended:
            return
        end = self._given.rfind(b"\n") + 1
        if end > self._read:
            self._take_lines(bytes(self._given[self._read : end]))
            self._read = end
            self.watch.arrived(self.key, self)
        if not self.joined.is_partial:
            self.end()  # the application may stop reading here

    def _take_lines(self, lines: bytes) -> None:
        for line in lines.splitlines():
            written = line.strip().removeprefix(b"data:").strip()
            if written == _ENDS:
                self.joined.is_partial = False
            body = object_in(written)
            if body is not None:
                self.joined.take(body)

    def end(self) -> None:
        """Records that the reply was read to its end."""
        if self._has_ended:
            return
        self._has_ended = True
        body = object_in(bytes(self._given))
        if body is None:
            self._take_lines(bytes(self._given[self._read :]))
            self.joined.is_partial = False
        else:
            self._whole = self.replied(body)
            if self._whole is None:  # The reply of another service, whose URL looks like that of a model
                self.watch.streams.end(self.key)
                return
        self.note_left()
        self.watch.end_stream(self.key, self)

    def note_left(self) -> None:
        """Records the reply's text and tool calls for the explanation. The reply itself is not recorded,
        so no replay can get it in place of a request."""
        note_reply(self.key, None, self.reply().said)

    def follow(self, response: Any, *, is_async: bool) -> None:
        """Replaces the method by which the application reads the body of a response. The replacement
        records each part that the application reads. The body must not have been read yet."""
        name = "aiter_bytes" if is_async else "iter_bytes"
        name = name if hasattr(response, name) else "iter_content"
        pieces = getattr(response, name)

        def read(*args: Any, **kwargs: Any) -> Iterator[Any]:
            with self.watch.streaming(self.key, self):
                for piece in pieces(*args, **kwargs):
                    self.take(piece)
                    yield piece
                self.end()
                self.watch.streams.release(self.key)

        async def aread(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            with self.watch.streaming(self.key, self):
                async for piece in pieces(*args, **kwargs):
                    self.take(piece)
                    yield piece
                self.end()
                self.watch.streams.release(self.key)

        setattr(response, name, aread if is_async else read)
        close = response.aclose if is_async else response.close
        self.watch.streams.hold(self.key, close, is_async=is_async)


def object_in(written: Any) -> Mapping[str, Any] | None:
    """Returns the JSON object that a text or bytes consist of; None if they are anything else."""
    if not isinstance(written, (str, bytes)) or written.strip()[:1] not in {"{", b"{"}:
        return None
    try:
        found: object = json.loads(written)
    except ValueError:
        return None
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else None
