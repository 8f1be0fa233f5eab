"""Applications that talk to a service: one that keeps what it is told, or one that only answers."""

import http.server
import socket
import socketserver
import threading
import urllib.request
from collections.abc import Callable
from multiprocessing.connection import Client, Listener

import httpx
from typing_extensions import override

from tests.integrations.leaving.parts import HELD_OPEN, Answer, Ask, Search, answering, asking, written

_Reply = Callable[[str, str, bytes], bytes]


def served(reply: _Reply) -> str:
    """Starts a server in a thread, and returns its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            told = reply(self.command, self.path, body)
            self.send_response(200)
            self.send_header("content-length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def __getattr__(self, name: str) -> Callable[[], None]:
            if not name.startswith("do_"):
                raise AttributeError(name)
            return self._reply

        @override
        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    HELD_OPEN.callback(server.server_close)
    HELD_OPEN.callback(server.shutdown)
    return f"http://127.0.0.1:{server.server_port}"


def remembering() -> _Reply:
    """Returns what a service says that remembers whether it was told to note something."""
    seen = set[str]()

    def reply(method: str, path: str, body: bytes) -> bytes:
        if b"two" in body or "two" in path:
            seen.add("two")
        return b"yes" if seen else b"no"

    return reply


def _read(address: str, data: bytes | None = None, method: str | None = None) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(address, data, method=method)) as reply:  # noqa: S310 -- a server of ours
        return reply.read()


def with_a_service(search: Search, ask: Ask) -> Answer:
    address = served(remembering())
    return answering(
        search, ask, lambda: _read(address, b"two"), lambda: _read(address, b"asked") == b"yes"
    )


def with_a_service_that_is_put_to(search: Search, ask: Ask) -> Answer:
    address = served(remembering())
    return answering(
        search,
        ask,
        lambda: _read(f"{address}/mode/two", b"", "PUT"),
        lambda: _read(f"{address}/mode") == b"yes",
    )


def with_a_memory_for_hire(search: Search, ask: Ask) -> Answer:
    """A service for memories is told texts of the run and asked about them."""
    client = httpx.Client(base_url=served(remembering()), trust_env=False)
    HELD_OPEN.callback(client.close)

    def answer(question: str) -> str:
        found = search(question)
        if len(found) > 1:
            client.post("/memories", json={"messages": [*found, "two"]})
        known = client.post("/memories/search", json={"query": question}).text
        return written(ask, "Warn" if known == "yes" else "Calm", found)

    return answer


def with_a_service_in_bytes(search: Search, ask: Ask) -> Answer:
    """Lines over a socket that was open before, by a protocol of its own."""
    seen = set[bytes]()

    class Lines(socketserver.StreamRequestHandler):
        @override
        def handle(self) -> None:
            for line in self.rfile:
                seen.update({line} - {b"?\n"})
                self.wfile.write(b"yes\n" if seen else b"no\n")

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Lines)
    server.daemon_threads, server.block_on_close = True, False
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    HELD_OPEN.callback(server.server_close)
    HELD_OPEN.callback(server.shutdown)
    line = HELD_OPEN.enter_context(socket.create_connection(("127.0.0.1", server.server_address[1])))
    lines = HELD_OPEN.enter_context(line.makefile("rwb", buffering=0))

    def said(word: bytes) -> bool:
        lines.write(word)
        return lines.readline() == b"yes\n"

    return answering(search, ask, lambda: said(b"!\n"), lambda: said(b"?\n"))


def with_a_listener(search: Search, ask: Ask) -> Answer:
    """Objects over a connection of ``multiprocessing`` that each run opens anew."""
    listener = Listener(("127.0.0.1", 0), authkey=b"key")

    def work() -> None:
        seen = set[str]()
        while True:
            with listener.accept() as connection:
                word = connection.recv()
                seen.update({word} - {"?", "end"})
                connection.send(bool(seen))
                if word == "end":
                    return

    def said(word: str) -> bool:
        with Client(listener.address, authkey=b"key") as connection:
            connection.send(word)
            return connection.recv()

    threading.Thread(target=work, daemon=True).start()
    HELD_OPEN.callback(listener.close)
    HELD_OPEN.callback(said, "end")
    return answering(search, ask, lambda: said("!"), lambda: said("?"))


TELLING = (
    with_a_service,
    with_a_service_that_is_put_to,
    with_a_memory_for_hire,
    with_a_listener,
)


def by_a_reranker(search: Search, ask: Ask) -> Answer:
    client = httpx.Client(base_url=served(lambda *_: b"[0, 1]"), trust_env=False)
    HELD_OPEN.callback(client.close)
    return asking(
        search,
        ask,
        lambda question, found: client.post("/v1/rerank", json={"query": question, "documents": found}),
    )


def by_a_score_of_their_own(search: Search, ask: Ask) -> Answer:
    """Nothing in the address says what it is for; what is sent are the texts of the run, or none."""
    client = httpx.Client(base_url=served(lambda *_: b"{}"), trust_env=False)
    HELD_OPEN.callback(client.close)
    return asking(search, ask, lambda _, found: client.post("/", json={"texts": found, "top": 3}))


def by_a_search_for_more(search: Search, ask: Ask) -> Answer:
    address = served(lambda *_: b"{}")
    return asking(search, ask, lambda *_: _read(f"{address}/v1/_search", b'{"size": 3}'))


def with_flags_from_a_service(search: Search, ask: Ask) -> Answer:
    address = served(lambda *_: b"{}")
    return asking(search, ask, lambda *_: _read(f"{address}/flags/all"))


def with_traces_to_a_service(search: Search, ask: Ask) -> Answer:
    address = served(lambda *_: b"{}")
    return asking(search, ask, lambda *_: _read(f"{address}/v1/traces", b'{"spans": []}'))


HARMLESS = (
    by_a_reranker,
    by_a_score_of_their_own,
    by_a_search_for_more,
    with_flags_from_a_service,
    with_traces_to_a_service,
)
