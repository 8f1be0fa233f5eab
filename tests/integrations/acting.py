"""This module does what a tool may do beside its search: acts, each of which leaves something in a world
of files and a server, and things that do no harm."""

import logging
import os
import smtplib
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from typing_extensions import override

Doing = Callable[[], object]
LOG = logging.getLogger(__name__)


class World:
    """A folder, and a server that takes requests by HTTP, and mails; it counts what arrives."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.lines = folder, list[str]()
        (folder / "old.txt").write_text("old", encoding="utf-8")
        with closing(sqlite3.connect(folder / "sent.db")) as connection:
            connection.execute("create table sent (what text)")
            connection.commit()
        self.descriptor = os.open(folder / "raw.txt", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        self.port = self.mail_port = 0
        self.connection: Any = None

    @contextmanager
    def served(self) -> Generator["World"]:
        lines = self.lines

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                lines.append(f"{self.command} {self.path}")
                self.rfile.read(int(self.headers.get("content-length") or 0))
                self.send_response(200)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            @override
            def log_message(self, format: str, *args: Any) -> None:
                pass

        with (
            ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server,
            socket.create_server(("127.0.0.1", 0)) as mails,
        ):
            self.port, self.mail_port = server.server_port, mails.getsockname()[1]
            threading.Thread(target=server.serve_forever, daemon=True).start()
            threading.Thread(target=self._take_mails, args=(mails,), daemon=True).start()
            self.connection = socket.create_connection(("127.0.0.1", self.mail_port))
            yield self
            self.connection.close()
            server.shutdown()
        os.close(self.descriptor)

    def _take_mails(self, mails: socket.socket) -> None:
        with suppress(OSError):
            while True:
                taken, _ = mails.accept()
                threading.Thread(target=self._take, args=(taken,), daemon=True).start()

    def _take(self, taken: socket.socket) -> None:
        with taken, taken.makefile("rb") as lines:
            taken.sendall(b"220 ready\r\n")
            with suppress(OSError):
                for line in lines:
                    self.lines.append(line.decode().strip())
                    taken.sendall(b"221 bye\r\n" if line.lower().startswith(b"quit") else b"250 fine\r\n")

    def state(self) -> object:
        """Returns the files that are there now, with their contents, and what the server got."""
        files = {
            each.name: each.read_bytes()
            for each in self.folder.iterdir()
            if not each.name.endswith("-journal")
        }
        return files, [each for each in self.lines if not each.startswith("GET")]

    def asks(self, method: str, path: str) -> None:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method)
        if method == "POST":
            request.data = b'{"to": "ann"}'
        urllib.request.urlopen(request).read()  # noqa: S310 -- the server is on this machine

    def mails(self) -> None:
        with smtplib.SMTP("127.0.0.1", self.mail_port) as server:
            server.noop()

    def inserts(self) -> None:
        with closing(sqlite3.connect(self.folder / "sent.db")) as connection:
            connection.execute("insert into sent values ('mail')")
            connection.commit()

    def writes(self) -> None:
        with (self.folder / "sent.txt").open("a", encoding="utf-8") as file:
            file.write("sent\n")


def acts_of(world: World) -> dict[str, tuple[Doing, str]]:
    """Acts, each with what the error says of it."""
    shell = f"echo sent >> {world.folder}/shell.txt"
    code = f"open({str(world.folder / 'process.txt')!r}, 'a').write('sent')"
    return {
        "a file": (world.writes, "writes the file"),
        "a file that goes": (
            lambda: (world.folder / "old.txt").unlink(missing_ok=True),
            "removes",
        ),
        "a process": (
            lambda: subprocess.run([sys.executable, "-c", code], check=True),
            "starts the process",
        ),
        "a shell": (lambda: subprocess.run(["/bin/sh", "-c", shell], check=True), "starts the process"),
        "a request": (lambda: world.asks("POST", "/mails"), "sends POST /mails to 127.0.0.1"),
        "a message": (lambda: world.asks("POST", "/api/chat.postMessage"), "sends POST /api/chat"),
        "a mail": (world.mails, "sends bytes to 127.0.0.1"),
        "an open socket": (lambda: world.connection.sendall(b"MAIL FROM ann\r\n"), "sends bytes to"),
        "an open file": (lambda: os.write(world.descriptor, b"sent\n"), "calls os.write"),
        "a database": (world.inserts, "writes the database"),
    }


def harmless_of(world: World, kept: list[str]) -> dict[str, Doing]:
    """Returns, by name, what a tool that searches may do again without harm."""
    old, database, port = str(world.folder / "old.txt"), str(world.folder / "sent.db"), world.port

    def asks(method: str, path: str) -> None:
        given = b"{}" if method == "POST" else None
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", given, method=method)
        urllib.request.urlopen(request).read()  # noqa: S310 -- the server is on this machine

    def reads_rows() -> None:
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("select * from sent").fetchall()

    def works_in_a_temporary_folder() -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "page.txt").write_text("page", encoding="utf-8")

    return {
        "nothing": lambda: None,
        "a list": lambda: kept.append("found"),
        "a log": lambda: LOG.warning("found"),
        "a file that it reads": lambda: Path(old).read_text(encoding="utf-8"),
        "a request that reads": lambda: asks("GET", "/articles/1"),
        "a request that ranks": lambda: asks("POST", "/v1/rerank"),
        "a command that reads": lambda: subprocess.run(["/bin/cat", old], check=True),
        "rows": reads_rows,
        "a temporary folder": works_in_a_temporary_folder,
    }
