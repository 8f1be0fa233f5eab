"""This module records the requests that an application sends to models by a library for HTTP, and the
replies: by ``requests`` or ``httpx``, without a client of the model's provider.

An integration describes the protocols that it can read by an ``HttpProtocols``, and replaces the method
``send`` of the libraries' classes during explanations.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..copies.patching import Interception, Wrapping
from .client_watch import ClientWatch, JoinedChunks, ModelReply, ModelRequest, current_watch
from .generated_clients import is_sent_by_client, sent_by_client
from .http_replies import ReplyByHttp, object_in
from .nested_calls import is_within_no_model

_ADDED_ALONE = re.compile("(?!)")
"""A pattern that matches no name. A subclass that defines its own ``send`` keeps it, because that method
calls the replaced ``send`` of the root class."""
_BOTH = ("httpx", "httpx2")
_FAILED = 400
_LONGEST = 200


class _Asking(NamedTuple):
    watch: ClientWatch
    key: object
    request: Any


@dataclass(frozen=True, slots=True)
class HttpProtocols:
    """An ``HttpProtocols`` reads requests to models, and replies, from the bodies of HTTP messages.

    ``asks_a_model``: takes the path of a URL and the body of a request, and returns True iff it asks a
    model. ``asked``: reads the request from its body. ``edited``: returns the body without the sources
    that the current replay omits. ``replied``: reads the reply from the body of a response; None if it
    is no reply of a model. ``joined``: makes an object that joins the JSON values of one stream.
    """

    asks_a_model: Callable[[str, Mapping[str, Any]], bool]
    asked: Callable[[Mapping[str, Any]], ModelRequest]
    edited: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    replied: Callable[[Mapping[str, Any]], ModelReply | None]
    joined: Callable[[], JoinedChunks]

    @property
    def interceptions(self) -> list[Interception]:
        """Returns the interceptions that replace ``send`` of ``requests.Session`` and of the clients of
        ``httpx``. These libraries send every request by this method."""
        return [
            self._interception("requests", "Session", self._sending),
            *(self._interception(name, "Client", self._sending) for name in _BOTH),
            *(self._interception(name, "AsyncClient", self._asending) for name in _BOTH),
        ]

    @staticmethod
    def _interception(module: str, owner: str, wrapping: Wrapping) -> Interception:
        return Interception(module, owner, _ADDED_ALONE, wrapping, added=("send",))

    def _sending(self, _: str, send: Any) -> Any:
        @wraps(send)
        def sent(client: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
            asking = self._asking(request)
            if asking is None:
                return send(client, request, *args, **kwargs)
            with asking.watch.failing(), sent_by_client():
                response = send(client, asking.request, *args, **kwargs)
            return self._answered(asking, response, streams=kwargs.get("stream"), is_async=False)

        return sent

    def _asending(self, _: str, send: Any) -> Any:
        @wraps(send)
        async def sent(client: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
            asking = self._asking(request)
            if asking is None:
                return await send(client, request, *args, **kwargs)
            with asking.watch.failing(), sent_by_client():
                response = await send(client, asking.request, *args, **kwargs)
            return self._answered(asking, response, streams=kwargs.get("stream"), is_async=True)

        return sent

    def _asking(self, request: Any) -> _Asking | None:
        """Records a request to a model, and returns it. Returns None, and records nothing, in three
        cases: outside of runs; for a request that asks no model; and if a client such as OpenAI's sends
        the request, because the request was then already recorded."""
        watch = current_watch()
        if watch is None or is_sent_by_client() or not is_within_no_model():
            return None
        body = _body_of(request)
        if body is None or not self.asks_a_model(urlsplit(str(request.url)).path.rstrip("/"), body):
            return None
        edited = self.edited(body)
        key = watch.asked(self.asked(edited))
        return _Asking(watch, key, request if edited is body else _with_body(request, edited))

    def _answered(self, asking: _Asking, response: Any, *, streams: Any, is_async: bool) -> Any:
        """Returns the response, and records the model's reply in it. If the response is a stream, the
        reply is recorded while the application reads the stream."""
        if response.status_code >= _FAILED:
            said = "" if streams else response.text[:_LONGEST]
            asking.watch.failures.append(f"HTTP {response.status_code} {said}".strip())
            return response
        reply = ReplyByHttp(asking.watch, asking.key, self.joined(), self.replied)
        if streams:
            reply.follow(response, is_async=is_async)
        else:
            reply.take(response.content)
            reply.end()
        return response


def _body_of(request: Any) -> Mapping[str, Any] | None:
    """Returns the JSON object that a request posts; None if it posts none."""
    if request.method.upper() != "POST":
        return None
    # The body of a streamed request can be read only once, so reading it here raises an error.
    with suppress(Exception):
        return object_in(request.content if hasattr(request, "content") else request.body)
    return None


def _with_body(request: Any, body: Mapping[str, Any]) -> Any:
    content = json.dumps(body).encode()
    if hasattr(request, "prepare_body"):
        changed = request.copy()
        changed.prepare_body(content, None)
        return changed
    headers = [each for each in request.headers.multi_items() if each[0].lower() != "content-length"]
    return type(request)(
        request.method, request.url, headers=headers, content=content, extensions=request.extensions
    )
