"""What a call to a service may do is read from its bytes; what cannot be told counts as telling it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.services.calls import Effects, ServiceCall, influencing_call
from rag_rule_explainer.instrumentation.services.services import Services
from rag_rule_explainer.instrumentation.services.wording import (
    Purpose,
    form_apart_from,
    is_about,
    phrases_of,
    purpose_of,
)

PHRASES = phrases_of(["why?", "The release is postponed to May."])


def http(method: str, path: str, body: object = None, headers: str = "") -> bytes:
    data = json.dumps(body).encode() if body is not None else b""
    return f"{method} {path} HTTP/1.1\r\nHost: service:80\r\n{headers}\r\n".encode() + data


def redis(*words: str) -> bytes:
    parts = (f"${len(each)}\r\n{each}\r\n" for each in words)
    return f"*{len(words)}\r\n{''.join(parts)}".encode()


def told(*requests: bytes) -> str:
    """Returns the request that makes a service suspicious; empty if none does."""
    return influencing_call(_effects(each) for each in requests)


def _effects(request: bytes) -> Effects:
    call = ServiceCall("host:1")
    call.add(request)
    return call.effects(PHRASES)


@pytest.mark.parametrize(
    ("method", "path", "purpose"),
    [
        ("GET", "/flags/all", Purpose.READS),
        ("GET", "/set?key=two", Purpose.WRITES),
        ("POST", "/v1/rerank", Purpose.READS),
        ("POST", "/v1/models/reranker:predict", Purpose.READS),
        ("POST", "/memories/search", Purpose.READS),
        ("POST", "/memories", Purpose.WRITES),
        ("GET", "/memories", Purpose.READS),
        ("DELETE", "/search", Purpose.WRITES),
        ("POST", "/v1/messages", Purpose.READS),
        ("POST", "/api/public/ingestion", Purpose.WATCHES),
        ("PATCH", "/runs/3fa85f64-5717-4562-b3fc-2c963f66afa6", Purpose.WATCHES),
        ("POST", "/", Purpose.UNKNOWN),
        ("POST", "GetItem", Purpose.READS),
        ("POST", "PutItem", Purpose.WRITES),
    ],
)
def test_an_address_says_what_a_request_is_for(method: str, path: str, purpose: Purpose) -> None:
    assert purpose_of(method, path) is purpose


@pytest.mark.parametrize(
    ("requests", "name"),
    [
        ([redis("GET", "a")], ""),
        ([redis("SET", "a", "1")], ""),  # nothing is asked
        ([redis("SET", "a", "1"), redis("GET", "a")], "SET"),
        ([redis("INCR", "a")], "INCR"),
        ([redis("CLIENT", "SETINFO", "LIB-NAME", "x"), redis("HGETALL", "a")], ""),
        ([b"Q\0\0\0\x1fselect mode from modes\0"], ""),
        ([b"Q\0\0\0\x1fselect mode from modes\0", b"Q\0insert into modes values (1)\0"], "SQL"),
        ([b"\0\0\x02find\0\x06\0\0\0notes\0"], ""),
        ([b"\0\0\x02find\0\x06\0\0\0notes\0", b"\0\x02insert\0\x06\0\0\0notes\0"], "insert"),
        ([http("POST", "/graphql", {"query": "{ docs { text } }"})], ""),
        ([http("POST", "/graphql", {"query": "mutation { add }"})], "POST /graphql"),
        ([http("POST", "/mcp", {"jsonrpc": "2.0", "method": "initialize"})], ""),
        ([http("POST", "/", {}, "X-Amz-Target: Db_1.GetItem\r\n")], ""),
        ([http("POST", "/", {}, "X-Amz-Target: Db_1.PutItem\r\n")], "POST / PutItem"),
        ([http("POST", "/", {"q": "why?"})], ""),
        ([http("POST", "/", {"q": "the RELEASE is"})], ""),
        ([http("POST", "/", {"v": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]})], ""),
        ([http("POST", "/", {"op": "look"})], "POST /"),
        # A run without documents asks the same.
        ([http("POST", "/", {"t": ["release is"], "k": 3}), http("POST", "/", {"t": [], "k": 3})], ""),
        ([http("POST", "/", {"t": "why?", "k": 3}), http("POST", "/", {"t": "", "k": 4})], "POST /"),
        ([b"!two\n"], "bytes"),
        ([b"release is"], ""),
    ],
)  # fmt: skip
def test_a_service_that_is_told_something_and_asked_is_found(requests: list[bytes], name: str) -> None:
    assert told(*requests) == name


def test_texts_are_found_however_they_are_written() -> None:
    phrases = phrases_of(["für die Brücke"])
    assert is_about(json.dumps({"a": "x\nfür die"}), phrases)
    assert is_about("q=f%C3%BCr+die", phrases)
    assert not is_about("die für", phrases)
    assert form_apart_from('{"a": "für die", "b": "x"}', phrases) == form_apart_from(
        '{"a": "", "b": "x"}', phrases
    )


class Line:
    """A connection."""


@pytest.fixture
def sent() -> tuple[Services, Callable[..., None]]:
    services = Services()
    services.begin(["why?"])

    def send(line: object, data: bytes, run: int = 1, **more: Any) -> None:
        services.sent(line, run, ServiceCall("host:1", **more), data)

    return services, send


def test_what_follows_a_request_belongs_to_it(sent: tuple[Services, Callable[..., None]]) -> None:
    services, send = sent
    line = Line()
    send(line, http("POST", "/"))
    assert [left.place for left in services.left()] == ["service:80"]
    send(line, b'{"q": "why?"}')
    assert not [*services.left()]
    assert services.asked(lambda _: False) == "service:80"
    assert not services.asked(lambda name: name == "service:80")


def test_a_models_server_is_no_service(sent: tuple[Services, Callable[..., None]]) -> None:
    services, send = sent
    waiting = ("Context:\nEat fish.\nQuestion: why?",)
    send(Line(), http("POST", "/", {"content": waiting[0]}), waiting=waiting)
    send(Line(), http("PUT", "/anything"))
    assert not [*services.left()]
    assert not services.asked(lambda _: False)


@pytest.mark.parametrize(("shown", "asked"), [(3, ""), (1, "service:80")])
def test_a_models_server_is_known_by_a_request_of_several_messages(
    sent: tuple[Services, Callable[..., None]], shown: int, asked: str
) -> None:
    """Between the messages, other words are sent than the request has."""
    services, send = sent
    said = ("Hello.", "Eat fish.", "Why should we eat fish?")
    messages = [{"role": "user", "content": each} for each in said]
    body = {"messages": messages[:shown]}
    send(Line(), http("POST", "/v1/chat", body), waiting=("\n\n".join(said),))
    assert services.asked(lambda _: False) == asked


def test_encrypted_bytes_are_left_to_what_is_seen_before(
    sent: tuple[Services, Callable[..., None]],
) -> None:
    services, send = sent
    line = Line()
    send(line, b"\x16\x03\x01\x02\x00")
    send(line, b"anything")
    assert not [*services.left()]


def test_many_calls_are_read_before_the_end(sent: tuple[Services, Callable[..., None]]) -> None:
    services, send = sent
    send(Line(), redis("SET", "a", "1"))
    line = Line()
    for run in range(200):
        send(line, redis("GET", "a"), run)
    assert [left.place for left in services.left()] == ["host:1"]
