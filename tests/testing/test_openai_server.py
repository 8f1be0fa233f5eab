"""The server of the tests: what it answers, and that nothing a client does breaks it."""

import itertools
import json
import socket
import threading
import time
from contextlib import closing
from http.client import HTTPConnection
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from rag_rule_explainer.testing.prompts import qa_prompt
from tests.support.openai_server import OpenAIServer
from tests.testing.counting import begun_since, running

pytestmark = pytest.mark.waits

PATH = "/v1/chat/completions"
PROMPT = qa_prompt("Where was Mira Tolland born?", ["Mira Tolland was born in Kelvick."])


def connected(server: OpenAIServer) -> HTTPConnection:
    return HTTPConnection(urlsplit(server.base_url).netloc, timeout=60)


def posted(connection: HTTPConnection, body: object, path: str = PATH) -> Any:
    connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body))
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def asked(server: OpenAIServer, body: object, path: str = PATH) -> Any:
    with closing(connected(server)) as connection:
        return posted(connection, body, path)


def raw(server: OpenAIServer, request: bytes) -> bytes:
    where = urlsplit(server.base_url)
    with socket.create_connection(("127.0.0.1", where.port or 0), timeout=60) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65536):
            received += part
    return received


def asking(*contents: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": each} for each in contents]}


def test_the_offline_reader_answers_the_messages_as_one_prompt() -> None:
    with OpenAIServer() as server:
        head, tail = PROMPT.split("\n\n", 1)
        _, answer = asked(server, asking(head, [{"type": "text", "text": tail}]))
    assert answer["choices"][0]["message"] == {
        "role": "assistant",
        "content": "Kelvick",
        "refusal": None,
    }
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["model"] == "m"


def test_a_script_answers_in_its_place_and_words_are_counted() -> None:
    with OpenAIServer(lambda body: f"{len(body['messages'])} it is") as server:
        _, answer = asked(server, asking("one two", "three"))
        assert [body["model"] for body in server.requests] == ["m"]
    assert answer["choices"][0]["message"]["content"] == "2 it is"
    assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}


def test_a_connection_is_kept_for_the_next_request() -> None:
    with OpenAIServer(lambda _: "yes") as server, closing(connected(server)) as connection:
        posted(connection, asking("one"))
        first = connection.sock
        posted(connection, asking("two"))
        assert first is not None
        assert connection.sock is first


def test_the_peak_is_how_many_requests_were_in_progress_at_once() -> None:
    # These wait for each other; who comes afterwards waits for nobody.
    numbers, together = itertools.count(1), threading.Barrier(5)

    def script(_body: dict[str, Any]) -> str:
        if next(numbers) <= 5:
            together.wait(120)
        return "yes"

    with OpenAIServer(script) as server:
        clients = [Thread(target=asked, args=(server, asking("?"))) for _ in range(5)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        asked(server, asking("?"))
        assert server.peak == 5


@pytest.mark.parametrize(
    ("body", "path", "status"),
    [
        (b"{", PATH, 400),
        (b"\xff", PATH, 400),
        (b"[" * 100_000, PATH, 400),
        (b"[]", PATH, 400),
        (b'{"messages": "hello"}', PATH, 400),
        (b'{"messages": []}', PATH, 400),
        (b'{"messages": [1, null, {"content": 5}, {"content": [7]}]}', PATH, 400),
        (b"{}", "/v1/models", 404),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_in_openais_words(
    body: bytes, path: str, status: int
) -> None:
    with OpenAIServer() as server:
        got, answer = asked(server, body, path)
        assert got == status
        assert answer["error"]["message"]
        assert asked(server, asking(PROMPT))[0] == 200


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        (b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n", b"411"),
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"411"),
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"413"),
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 50\r\n\r\n{}", b"400"),
        (b"GET /v1/chat/completions HTTP/1.1\r\n\r\n", b"404"),
        (b"\x00\xff nonsense\r\n\r\n", b"400"),
        (b"", b""),
    ],
)
def test_hostile_requests_leave_the_server_going(
    request_head: bytes, status: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    with OpenAIServer() as server:
        assert status in raw(server, request_head)
        assert server.requests == []
        assert asked(server, asking(PROMPT))[0] == 200
    assert capfd.readouterr() == ("", "")


def test_a_script_that_raises_is_an_error_of_the_server() -> None:
    def script(body: dict[str, Any]) -> str:
        raise KeyError("lost")

    with OpenAIServer(script) as server:
        status, answer = asked(server, asking("?"))
    assert (status, answer["error"]["message"]) == (500, "KeyError: 'lost'")


def test_with_stream_the_answer_comes_as_events() -> None:
    with OpenAIServer(lambda _: "yes indeed") as server, closing(connected(server)) as connection:
        connection.request("POST", PATH, json.dumps({**asking("?"), "stream": True}))
        events = connection.getresponse().read().decode().split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(event.removeprefix("data: ")) for event in events[:-2]]
    assert [chunk["choices"][0]["delta"].get("content") for chunk in chunks[:2]] == ["yes indeed", None]
    assert chunks[1]["choices"][0]["finish_reason"] == "stop"
    assert chunks[2]["usage"]["completion_tokens"] == 2


def test_its_end_waits_neither_for_latency_nor_for_kept_connections_and_leaves_no_thread() -> None:
    before = running()
    started = time.monotonic()
    with OpenAIServer(lambda _: "yes", latency=600) as server:
        idle, busy = connected(server), connected(server)
        idle.connect()
        busy.request("POST", PATH, json.dumps(asking("?")))
        while not server.requests and time.monotonic() - started < 60:
            time.sleep(0.01)
    assert not begun_since(before)
    assert time.monotonic() - started < 120
    idle.close()
    busy.close()
