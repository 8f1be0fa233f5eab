"""This module records the requests and replies of the official OpenAI client in each run.

During explanations, it replaces the method ``request``, by which the client sends every request. A
context variable identifies the run that sends a request.
"""

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, cast
from urllib.parse import urlsplit

from rag_rule_explainer.instrumentation.beginnings import note_reply, recorded_reply
from rag_rule_explainer.instrumentation.copies.patching import Interception, Patches
from rag_rule_explainer.instrumentation.isolation import handing
from rag_rule_explainer.instrumentation.requests.client_watch import ClientWatch, current_watch
from rag_rule_explainer.instrumentation.services import connections

from .prompts import edited
from .recorded_streams import RecordedStream, given_again
from .wire import Streamed, asked_in, plain, reply_in

_MODELS = ("/completions", "/responses")
"""The ends of the URL paths of requests to a model. Requests to other paths, such as those for
embeddings, are not recorded."""

_LAST = frozenset({"response.completed", "response.incomplete"})
"""The types of the events with which a streamed response ends."""


def _asks_a_model(options: Any) -> bool:
    path = urlsplit(str(options.url)).path.rstrip("/")
    return options.method.lower() == "post" and path.endswith(_MODELS)


def _begun(watch: ClientWatch, options: Any) -> object:
    return watch.asked(asked_in({**(options.json_data or {}), **(options.extra_json or {})}))


def _answered(watch: ClientWatch, key: object, result: Any) -> Any:
    """Returns the client's result. Records in ``watch`` the reply that the result contains.

    A streamed reply is recorded while the application reads it.
    """
    chunks = getattr(result, "_iterator", None)
    if chunks is None:
        body: Any = plain(result)
        # The body of a raw response that is streamed is no mapping. Only the application may read it, so
        # nothing is recorded.
        if isinstance(body, Mapping):
            reply = reply_in(cast("Mapping[str, Any]", body))
            note_reply(key, result, reply.said)
            watch.replied(key, reply)
    else:
        # The client has no public hook for the chunks of a stream, so a private attribute is replaced.
        read = _aread if hasattr(chunks, "__anext__") else _read
        result._iterator = read(watch, key, result, chunks)
    return result


def _served(watch: ClientWatch, key: object, result: Any) -> Any:
    """Returns a recorded result of the client. Its tokens were spent in the baseline."""
    reply = result.reply if isinstance(result, RecordedStream) else reply_in(plain(result))
    watch.replied(key, reply._replace(spent={}))
    return given_again(result)


@dataclass(slots=True, eq=False)
class _TakenStream:
    """A ``_TakenStream`` records a streamed reply while the application reads it. Of the Responses API,
    the last event ends the reply: applications need not read on."""

    watch: ClientWatch
    key: object
    stream: Any
    streamed: Streamed = field(default_factory=Streamed)
    _given: list[Any] = field(default_factory=list[Any])

    def take(self, chunk: Any) -> None:
        self.streamed.take(chunk)
        self._given.append(chunk)
        if getattr(chunk, "type", None) in _LAST:
            self.note_end()
            self.watch.end_stream(self.key)

    def note_end(self) -> None:
        if self.streamed.is_partial:
            self.streamed.is_partial = False
            recorded = RecordedStream(self.stream, tuple(self._given))
            note_reply(self.key, recorded, self.streamed.reply().said)


def _read(watch: ClientWatch, key: object, stream: Any, chunks: Iterator[Any]) -> Iterator[Any]:
    taken = _TakenStream(watch, key, stream)
    with watch.streaming(key, taken.streamed.reply):
        for chunk in chunks:
            taken.take(chunk)
            yield chunk
        taken.note_end()


async def _aread(
    watch: ClientWatch, key: object, stream: Any, chunks: AsyncIterator[Any]
) -> AsyncIterator[Any]:
    taken = _TakenStream(watch, key, stream)
    with watch.streaming(key, taken.streamed.reply):
        async for chunk in chunks:
            taken.take(chunk)
            yield chunk
        taken.note_end()


def _bound(request: Any, client: Any) -> Any:
    # Tracers may have replaced ``request`` by a wrapper that works only as a bound method, so it is bound
    # first.
    return request.__get__(client, type(client))


def _sending(_: str, request: Any) -> Any:
    @wraps(request)
    def sent(self: Any, cast_to: Any, options: Any, *args: Any, **kwargs: Any) -> Any:
        watch = current_watch()
        if watch is None or not _asks_a_model(options):
            return _bound(request, self)(cast_to, options, *args, **kwargs)
        options = edited(options)
        key = _begun(watch, options)
        served = recorded_reply(key)
        if served is not None:
            return _served(watch, key, served)
        with watch.failing():
            result = _bound(request, self)(cast_to, options, *args, **kwargs)
        return _answered(watch, key, result)

    return sent


def _asending(_: str, request: Any) -> Any:
    @wraps(request)
    async def sent(self: Any, cast_to: Any, options: Any, *args: Any, **kwargs: Any) -> Any:
        watch = current_watch()
        if watch is None or not _asks_a_model(options):
            return await _bound(request, self)(cast_to, options, *args, **kwargs)
        options = edited(options)
        key = _begun(watch, options)
        served = recorded_reply(key)
        if served is not None:
            return _served(watch, key, served)
        with watch.failing():
            result = await _bound(request, self)(cast_to, options, *args, **kwargs)
        return _answered(watch, key, result)

    return sent


_ADDED_ALONE = re.compile("(?!)")
"""The pattern for the names of other methods to replace. It matches no name, because only ``request`` is
replaced. Subclasses inherit ``request``, so this method is replaced on the client's class alone."""
interception = Patches(
    [
        Interception("openai", "OpenAI", _ADDED_ALONE, _sending, added=("request",)),
        Interception("openai", "AsyncOpenAI", _ADDED_ALONE, _asending, added=("request",)),
        *handing.INTERCEPTIONS,
        *connections.INTERCEPTIONS,
    ]
)
