"""The server's HTTP: what leaves it, in full, in part or not at all; no connection outlives it."""

import socket
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from typing_extensions import override

from tests.support.faults import Fault
from tests.support.ledger import Ledger
from tests.support.responses import Refused, Response

_PATH = "/v1/chat/completions"
_MOST_BYTES = 16 * 1024 * 1024
_PATIENCE = 30.0
"""Seconds a silent connection is kept."""
_AT_ONCE = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
"""Closing lingers for no second, which resets the connection."""


class Listener(ThreadingHTTPServer):
    """Knows its connections, so that none of them outlives it."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, respond: Callable[[bytes], Response], ledger: Ledger) -> None:
        self.respond = respond
        self.ledger = ledger
        self._connections: set[socket.socket] = set()
        self._ended = False
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def opened(self, connection: socket.socket) -> None:
        """From now on, the server's end is the connection's."""
        with self._lock:
            self._connections.add(connection)
            if self._ended:
                _end(connection)

    def closed(self, connection: socket.socket) -> None:
        """The server leaves it alone."""
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

    @property
    def _listener(self) -> Listener:
        return cast("Listener", self.server)

    @override
    def setup(self) -> None:
        super().setup()
        self._listener.opened(self.connection)

    @override
    def finish(self) -> None:
        try:
            super().finish()
        finally:
            self._listener.closed(self.connection)

    def do_POST(self) -> None:
        """Answers, or says what is wrong and hangs up: what is left unread is no next request."""
        try:
            content = self._content()
        except Refused as refused:
            self.close_connection = True
            self._send(Response.refusing(refused.status, str(refused)))
            return
        self._send(self._listener.respond(content))

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
        with self._listener.ledger.sending(response):
            if response.fault is Fault.HANG:
                self._hang()
            elif response.fault is Fault.RESET:
                self._reset()
            else:
                self._write(response)

    def _write(self, response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(len(response.content) + response.missing))
        if response.retry_after is not None:
            self.send_header("Retry-After", str(response.retry_after))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(response.content)
        self.wfile.flush()
        self.close_connection |= response.missing > 0

    def _hang(self) -> None:
        """Until there is nobody left to send to, or the server ends the connection."""
        self.close_connection = True
        self.connection.settimeout(None)
        with self._listener.ledger.in_progress():
            while self.connection.recv(65536):
                pass

    def _reset(self) -> None:
        self.close_connection = True
        self._listener.closed(self.connection)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        # Otherwise the server would say goodbye first, and the reader's and writer's hold keep it open.
        socket.close(self.connection.detach())

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""
