"""An OpenAI-compatible chat endpoint on this machine, for tests of what talks to a real one."""

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, cast

from typing_extensions import override

from .completions import Body, Refused, Response, Script, completion, read_offline, understood

_PATH = "/v1/chat/completions"
_MOST_BYTES = 16 * 1024 * 1024
_PATIENCE = 30.0
"""Seconds a silent connection is kept."""


class OpenAIServer:
    """Answers ``POST /v1/chat/completions`` on a port of 127.0.0.1, between ``with`` and its end.

    The text is ``script(body)``; by default it is the offline reader's answer to all messages as one
    prompt. A script may return a ``Completion``, to reply with a fault. ``latency``: seconds each answer
    takes. Tokens are counted as words apart by white space. With ``"stream": true`` the same comes as
    server-sent events.

    ``requests`` holds the parsed body of every request that was understood, in order of arrival;
    ``peak`` is the most of them that were in progress at once. A request that cannot be read, or that
    the script raises on, gets an error status and an error body like OpenAI's, and the server goes on.
    """

    def __init__(self, script: Script | None = None, *, latency: float = 0.0) -> None:
        self.requests: list[Body] = []
        self.peak = 0
        self._script = script or read_offline
        self._latency = latency
        self._running = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        """What a client is given as its base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "OpenAIServer":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.close_connections()
        self._server.server_close()
        self._thread.join()

    def respond(self, content: bytes) -> Response:
        """The response to a request's body, after ``latency`` seconds."""
        try:
            body = understood(content)
            with self._in_progress(body) as number:
                self._closing.wait(self._latency)
                return completion(body, self._script(body), number)
        except Refused as refused:
            return Response.refusing(refused.status, str(refused))
        except Exception as error:
            return Response.refusing(500, f"{type(error).__name__}: {error}")

    @contextmanager
    def _in_progress(self, body: Body) -> Generator[int, None, None]:
        with self._lock:
            self.requests.append(body)
            number = len(self.requests)
            self._running += 1
            self.peak = max(self.peak, self._running)
        try:
            yield number
        finally:
            with self._lock:
                self._running -= 1


class _Server(ThreadingHTTPServer):
    """Knows its connections, so that none of them outlives it."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, endpoint: OpenAIServer) -> None:
        self.endpoint = endpoint
        self._connections: set[socket.socket] = set()
        self._ended = False
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def opened(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.add(connection)
            if self._ended:
                _end(connection)

    def closed(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)

    def close_connections(self) -> None:
        """Ends what clients keep alive: whoever reads from it sees the end of the stream."""
        with self._lock:
            self._ended = True
            for connection in self._connections:
                _end(connection)

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may go away whenever they like; nothing is printed about it."""


def _end(connection: socket.socket) -> None:
    with suppress(OSError):  # the client was faster
        connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE
    # Headers and content leave in one packet: two small writes would wait for each other.
    wbufsize = -1
    disable_nagle_algorithm = True

    @override
    def setup(self) -> None:
        super().setup()
        cast("_Server", self.server).opened(self.connection)

    @override
    def finish(self) -> None:
        try:
            super().finish()
        finally:
            cast("_Server", self.server).closed(self.connection)

    def do_POST(self) -> None:
        """Answers, or says what is wrong and hangs up: what is left unread is no next request."""
        try:
            content = self._content()
        except Refused as refused:
            self.close_connection = True
            self._send(Response.refusing(refused.status, str(refused)))
            return
        self._send(cast("_Server", self.server).endpoint.respond(content))

    def do_GET(self) -> None:
        """There is nothing to get."""
        self.close_connection = True
        self._send(Response.refusing(404, f"nothing here; POST to {_PATH}"))

    def _content(self) -> bytes:
        if self.path.partition("?")[0] != _PATH:
            raise Refused(404, f"nothing here; POST to {_PATH}")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise Refused(411, "a Content-Length is needed")
        if len(length) > len(str(_MOST_BYTES)) or int(length) > _MOST_BYTES:
            raise Refused(413, f"more than {_MOST_BYTES} bytes")
        return self.rfile.read(int(length))

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(len(response.content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(response.content)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""
