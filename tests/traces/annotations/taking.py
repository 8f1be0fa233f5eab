"""Stand-ins of the APIs of tracing tools, on this machine: they take what the tools' own clients send,
and check it by the published form."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from typing_extensions import override

Answer = Callable[[str, bytes], "tuple[int, Any]"]
"""Gives the status and the JSON of the reply to what was posted to a path."""


@contextmanager
def taking(answer: Answer, location: str | None = None) -> Generator[str]:
    """Yields the address of a server. ``location``: where its replies lead."""

    class Taking(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say(*((200, {}) if location is None else answer(self.path, b"")))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                self._say(*answer(self.path, body))
            except (AssertionError, ValueError) as wrong:
                self._say(400, {"detail": str(wrong)})

        def _say(self, status: int, told: Any) -> None:
            body = json.dumps(told).encode()
            self.send_response(status)
            if location is not None:
                self.send_header("Location", location)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, format: str, *args: Any) -> None:
            return None

    with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
