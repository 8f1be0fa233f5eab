"""What LangSmith is to its client: it takes runs, on this machine, and has them looked at."""

import json
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from langsmith import Client
from typing_extensions import override


class LangSmith(ThreadingHTTPServer):
    """Keeps the runs it is sent, by id, each as what was said of it last.

    Unless it ``answers``, it does not say that it is there before it is closed, but takes runs.
    """

    daemon_threads = True

    def __init__(self, *, answers: bool = True) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.runs: dict[str, dict[str, Any]] = {}
        self.may_answer = Event()
        if answers:
            self.may_answer.set()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def take(self, said: dict[str, Any]) -> None:
        known = self.runs.setdefault(said["id"], {})
        known.update({key: value for key, value in said.items() if value is not None})

    @property
    def roots(self) -> list[str]:
        return [run["name"] for run in self.runs.values() if not run.get("parent_run_id")]

    def named(self, name: str) -> list[dict[str, Any]]:
        return [run for run in self.runs.values() if run["name"] == name]

    @property
    def replays(self) -> list[dict[str, Any]]:
        """All runs of all replays, with what runs inside them."""
        return [run for run in self.runs.values() if "rag-rule-replay" in run["tags"]]


class _Taking(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, LangSmith)
        server.may_answer.wait()
        with suppress(OSError):  # whoever asked has gone
            self._say({"version": "1", "batch_ingest_config": _BY_BATCHES})

    def do_POST(self) -> None:
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        assert isinstance(server, LangSmith)
        for said in (
            [*told.get("post", ()), *told.get("patch", ())] if told.keys() & {"post", "patch"} else [told]
        ):
            server.take({"id": self.path.rpartition("/")[2], **said})
        self._say({})

    def do_PATCH(self) -> None:
        self.do_POST()

    def _say(self, told: object) -> None:
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        return None


_BY_BATCHES = {
    "use_multipart_endpoint": False,
    "size_limit": 100,
    "size_limit_bytes": 20_000_000,
    "scale_up_nthreads_limit": 1,
    "scale_up_qsize_trigger": 1000,
    "scale_down_nempty_trigger": 4,
}


@contextmanager
def langsmith(*, answers: bool = True) -> Generator[tuple[LangSmith, Client], None, None]:
    """A server, and a client of it; ``client.flush()`` waits until it has everything."""
    with LangSmith(answers=answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        client = Client(api_url=server.url, api_key="none", auto_batch_tracing=answers)
        yield server, client
        client.close()
        server.may_answer.set()
        server.shutdown()


@contextmanager
def mute() -> Generator[tuple[str, list[socket.socket]], None, None]:
    """An endpoint that takes requests and never answers, and the connections made to it."""
    connected: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def take() -> None:
            with suppress(OSError):  # closed by then
                while True:
                    connected.append(listening.accept()[0])

        taking = Thread(target=take, daemon=True)
        taking.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", connected
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            taking.join()
            for each in connected:
                each.close()


def closed_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
