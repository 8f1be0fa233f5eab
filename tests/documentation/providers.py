"""The providers of the world on one port of this machine: whoever asks is told by variables alone."""

import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typing_extensions import override

from tests.support.messages import read_offline, understood
from tests.support.openai_server import OpenAIServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    openai: OpenAIServer

    def do_POST(self) -> None:
        """Answers as OpenAI, Azure or Anthropic would, by the path that is asked."""
        content = self.rfile.read(int(self.headers["Content-Length"]))
        path = self.path.partition("?")[0]
        if path.endswith("/chat/completions"):
            self._send(self.openai.respond(content).content)
        elif path.endswith("/v1/messages"):
            self._send(json.dumps(_message(content)).encode())
        else:
            self.send_error(404)

    def _send(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is written about requests."""


def _message(content: bytes) -> Mapping[str, object]:
    """A message as Anthropic writes it."""
    body = understood(content)
    text = read_offline(body)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": len(text.split())},
    }


@contextmanager
def providers() -> Generator[Mapping[str, str], None, None]:
    """The variables by which every client finds its provider here."""
    handler = type("Handler", (_Handler,), {"openai": OpenAIServer()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        root = f"http://127.0.0.1:{server.server_address[1]}"
        key = "of no use elsewhere"
        yield {
            "OPENAI_API_KEY": key,
            "OPENAI_BASE_URL": f"{root}/v1",
            "AZURE_OPENAI_API_KEY": key,
            "AZURE_OPENAI_ENDPOINT": root,
            "OPENAI_API_VERSION": "2024-10-21",
            "ANTHROPIC_API_KEY": key,
            "ANTHROPIC_BASE_URL": root,
        }
        server.shutdown()
