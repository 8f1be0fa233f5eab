"""Servers in a thread of this process, and what changes behind them."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.isolation import handing
from rag_rule_explainer.instrumentation.rewinding.own_servers import OwnServers


class Answering(BaseHTTPRequestHandler):
    """Sets an attribute of a class of a library under a name that it computes, and begins a thread."""

    said = "nothing"

    def do_GET(self) -> None:
        setattr(threading.Thread, "mark_of_" + self.path.strip("/"), self.said)
        threading.Thread(target=print).start()


@pytest.fixture
def own_servers() -> Iterator[OwnServers]:
    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield OwnServers()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.waits
def test_patches_of_this_package_are_no_change(
    own_servers: OwnServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    start: Any = threading.Thread.start
    (patch,) = [each for each in handing.INTERCEPTIONS if each.root() is threading.Thread]
    monkeypatch.setattr(threading.Thread, "start", patch.wrapping("start", start))
    assert not list(own_servers.left("127.0.0.1:80"))


@pytest.mark.waits
def test_what_a_server_changes_is_found(own_servers: OwnServers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Answering, "said", "something")
    (left,) = own_servers.left("127.0.0.1:80")
    assert left.place == "said"
