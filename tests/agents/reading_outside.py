"""This module holds agents with a tool that writes outside of this process, to a service or by another
program, and one that reads there. What the first run wrote is still there in replays."""

import itertools
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import httpx

from tests.agents.reading import Omitted
from tests.agents.reading_agents import guilty, innocent
from tests.agents.reading_notes import NOTE, agent_with_notes

_SERVING = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
notes = {}
class Answering(BaseHTTPRequestHandler):
    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.answer(notes.get(self.path, b""))
    def do_POST(self):
        notes[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(b"ok")
    def log_message(self, *args):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
print(server.server_port, flush=True)
server.serve_forever()
"""
SERVERS: list[subprocess.Popen[str]] = []
_number = itertools.count()
_WRITING = "import sys; open('notes.txt', 'a').write(sys.argv[1])"


@cache
def _server(number: int) -> str:
    """Returns the address of a server in a process of its own, which the test ends."""
    command = [sys.executable, "-c", _SERVING]
    SERVERS.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    assert SERVERS[-1].stdout is not None
    return f"http://127.0.0.1:{SERVERS[-1].stdout.readline().strip()}"


def end_servers() -> None:
    _server.cache_clear()
    while SERVERS:
        process = SERVERS.pop()
        process.kill()
        process.communicate()


def service(number: int = 0, **notes: str) -> str:
    """Returns the address of a service that has these notes. ``number``: that of its server."""
    address = f"{_server(number)}/{next(_number)}"
    for name, text in notes.items():
        posted(f"{address}/{name}", text)
    return address


def got(address: str) -> str:
    with urlopen(address) as reply:  # noqa: S310 -- it is the address of a server above
        return reply.read().decode()


def posted(address: str, text: str) -> str:
    request = Request(address, data=text.encode(), method="POST")  # noqa: S310 -- as above
    with urlopen(request) as reply:  # noqa: S310 -- as above
        return reply.read().decode()


@guilty
def notes_in_a_service(omitted: Omitted) -> Any:
    address = service()
    return agent_with_notes(
        omitted, lambda text: posted(f"{address}/notes", text), lambda: got(f"{address}/notes")
    )


@guilty
def notes_in_a_service_by_one_client(omitted: Omitted) -> Any:
    client = httpx.Client(base_url=service())
    return agent_with_notes(
        omitted, lambda text: client.post("/notes", content=text), lambda: client.get("/notes").text
    )


def run_by(*command: str) -> str:
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


@guilty
def notes_by_programs(omitted: Omitted) -> Any:
    Path("notes.txt").write_text("", encoding="utf-8")
    return agent_with_notes(
        omitted,
        lambda text: run_by(sys.executable, "-c", _WRITING, text),
        lambda: run_by("cat", "notes.txt"),
    )


@guilty
def notes_that_a_program_reads(omitted: Omitted) -> Any:
    path = Path("notes.txt").resolve()
    path.write_text("", encoding="utf-8")
    return agent_with_notes(
        omitted, lambda text: path.write_text(text, encoding="utf-8"), lambda: run_by("cat", str(path))
    )


@guilty
def notes_that_a_program_writes(omitted: Omitted) -> Any:
    path = Path("notes.txt").resolve()
    path.write_text("", encoding="utf-8")
    return agent_with_notes(
        omitted,
        lambda text: run_by(sys.executable, "-c", _WRITING, text),
        lambda: path.read_text(encoding="utf-8"),
    )


@innocent
def a_service_that_no_tool_changes(omitted: Omitted) -> Any:
    address = service(policies=NOTE, greeting="hello")
    return agent_with_notes(
        omitted, lambda _: got(f"{address}/greeting"), lambda: got(f"{address}/policies")
    )


@innocent
def two_services(omitted: Omitted) -> Any:
    one, other = service(0), service(1, policies=NOTE)
    return agent_with_notes(
        omitted, lambda text: posted(f"{one}/notes", text), lambda: got(f"{other}/policies")
    )


@innocent
def programs_that_only_read(omitted: Omitted) -> Any:
    Path("policies.txt").write_text(NOTE, encoding="utf-8")
    return agent_with_notes(omitted, lambda _: run_by("ls"), lambda: run_by("cat", "policies.txt"))
