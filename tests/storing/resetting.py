"""A way to a PostgreSQL server on which connections are reset, in the midst of whatever goes over it."""

import contextlib
import random
import select
import socket
import struct
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf

_AT_ONCE = struct.pack("ii", 1, 0)
"""What makes closing a socket a reset: nothing that is on its way arrives."""


@dataclass
class Way:
    """Leads from a port of this machine to a server's socket file.

    Each connection is reset after a number of bytes, drawn anew for both directions, as long as there are
    ``resets`` left. Bytes up to it arrive, the others do not.
    """

    server: str
    draw: random.Random
    resets: int
    done: int = 0
    _listening: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def port(self) -> int:
        return self._listening.getsockname()[1]

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                server = socket.socket(socket.AF_UNIX)
                server.connect(self.server)
                threading.Thread(target=self._lead, args=(client, server), daemon=True).start()

    def close(self) -> None:
        # Closing alone would not wake who accepts.
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _lead(self, client: socket.socket, server: socket.socket) -> None:
        # One thread for both directions: a socket that another one reads from stays open.
        left: dict[socket.socket, float] = {client: inf, server: inf}
        most = self.draw.choice((600, 4_000, 12_000, 20_000, None))
        if self.resets > 0 and most is not None:
            # Some while connecting, some while the tables are made, most later on.
            left[self.draw.choice((client, server))] = self.draw.randrange(most)
        other = {client: server, server: client}
        with client, server, contextlib.suppress(OSError):
            while True:
                for source in select.select([client, server], [], [])[0]:
                    content = source.recv(1 << 16)
                    if not content:
                        return
                    if len(content) > left[source]:
                        other[source].sendall(content[: int(left[source])])
                        self._reset(client)
                        return
                    left[source] -= len(content)
                    other[source].sendall(content)

    def _reset(self, client: socket.socket) -> None:
        with self._lock:
            self.resets -= 1
            self.done += 1
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)


@contextmanager
def resetting(server: str, seed: int, resets: int) -> Generator[Way, None, None]:
    """Such a way for as long as the block runs."""
    way = Way(server, random.Random(seed), resets)
    thread = threading.Thread(target=way.serve, daemon=True)
    thread.start()
    try:
        yield way
    finally:
        way.close()
        thread.join()
