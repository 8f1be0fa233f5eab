"""Every fault as it looks on the wire, and which requests it befalls."""

import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPResponse, IncompleteRead
from typing import Any

import pytest

from rag_rule_explainer.errors import InvalidInput
from tests.support.completions import Completion
from tests.support.faults import Fault, Faults
from tests.support.messages import read_offline
from tests.support.openai_server import OpenAIServer
from tests.testing.counting import begun_since, running
from tests.testing.test_openai_server import PATH, PROMPT, asked, asking, connected

pytestmark = pytest.mark.waits

TEXT = "The answer is no."
HALF = "The answe"


def failing(fault: Fault, **settings: Any) -> OpenAIServer:
    return OpenAIServer(lambda _: Completion(TEXT, fault=fault), **settings)


def received(fault: Fault, *, stream: bool, **settings: Any) -> tuple[HTTPResponse, bytes]:
    with failing(fault, **settings) as server, closing(connected(server)) as connection:
        connection.request("POST", PATH, json.dumps({**asking("?"), "stream": stream}))
        response = connection.getresponse()
        return response, response.read()


def per_message(body: dict[str, Any]) -> float:
    return len(body["messages"]) + 1.5


def chunks(content: bytes) -> list[Any]:
    *events, done, end = content.decode().split("\n\n")
    assert (done, end) == ("data: [DONE]", "")
    return [json.loads(event.removeprefix("data: ")) for event in events]


@pytest.mark.parametrize("stream", [False, True])
class TestOnTheWire:
    def test_a_429_says_when_to_come_back(self, stream: bool) -> None:
        response, content = received(Fault.RATE_LIMITED, stream=stream, retry_after=0.25)
        assert (response.status, response.headers["Retry-After"]) == (429, "0.25")
        error = json.loads(content)["error"]
        assert (error["type"], error["code"]) == ("requests", "rate_limit_exceeded")

    def test_or_does_not_or_says_it_for_a_body(self, stream: bool) -> None:
        silent, _ = received(Fault.RATE_LIMITED, stream=stream, retry_after=None)
        assert "Retry-After" not in silent.headers
        later, _ = received(Fault.RATE_LIMITED, stream=stream, retry_after=per_message)
        assert later.headers["Retry-After"] == "2.5"

    def test_a_500_has_an_error_like_openais(self, stream: bool) -> None:
        response, content = received(Fault.SERVER_ERROR, stream=stream)
        assert (response.status, json.loads(content)["error"]["type"]) == (500, "server_error")

    def test_malformed_json_says_that_it_is_json(self, stream: bool) -> None:
        response, content = received(Fault.MALFORMED_JSON, stream=stream)
        assert (response.status, response.headers["Content-Type"]) == (200, "application/json")
        assert content
        with pytest.raises(json.JSONDecodeError):
            json.loads(content)

    def test_what_is_cut_short_is_shorter_than_announced(self, stream: bool) -> None:
        with pytest.raises(IncompleteRead) as short:
            received(Fault.BROKEN_STREAM, stream=stream)
        partial, missing = short.value.partial, short.value.expected or 0
        assert partial
        assert missing > 0
        if stream:
            event, _, cut = partial.decode().partition("\n\n")
            delta = json.loads(event.removeprefix("data: "))["choices"][0]["delta"]
            assert delta["content"] == HALF
            assert cut.startswith("data: ")
            assert "\n\n" not in cut

    def test_a_reset_comes_without_a_goodbye(self, stream: bool) -> None:
        with pytest.raises(ConnectionResetError) as reset:
            received(Fault.RESET, stream=stream)
        # http.client has a class of its own, a subclass, for what ends without a response.
        assert reset.type is ConnectionResetError

    def test_a_hang_sends_nothing(self, stream: bool) -> None:
        with failing(Fault.HANG) as server, closing(connected(server)) as connection:
            connection.timeout = 0.1
            connection.request("POST", PATH, json.dumps({**asking("?"), "stream": stream}))
            with pytest.raises(TimeoutError):
                connection.getresponse()
            until(lambda: server.outcomes == [Fault.HANG])


@pytest.mark.parametrize(
    ("fault", "text", "reason"),
    [
        (Fault.HALF_STREAM, HALF, None),
        (Fault.NULL_CONTENT, None, "stop"),
        (Fault.EMPTY_TEXT, "", "stop"),
        (Fault.CUT_OFF, HALF, "length"),
    ],
)
def test_some_replies_are_whole_and_say_less(fault: Fault, text: str | None, reason: str | None) -> None:
    (choice,) = json.loads(received(fault, stream=False)[1])["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == (text, reason)
    first, *rest = chunks(received(fault, stream=True)[1])
    assert first["choices"][0]["delta"]["content"] == text
    reasons = [choice["finish_reason"] for chunk in rest for choice in chunk["choices"]]
    assert reasons == ([reason] if reason else [])


def test_a_reply_may_have_no_choices() -> None:
    answer = json.loads(received(Fault.NO_CHOICES, stream=False)[1])
    assert (answer["choices"], answer["usage"]["completion_tokens"]) == ([], 0)
    assert all(chunk["choices"] == [] for chunk in chunks(received(Fault.NO_CHOICES, stream=True)[1]))


def test_a_script_makes_one_request_fail_whenever_it_comes() -> None:
    def script(body: dict[str, Any]) -> str | Fault:
        return Fault.SERVER_ERROR if "blog-17" in str(body["messages"]) else read_offline(body)

    with OpenAIServer(script) as server:
        assert [asked(server, asking(text))[0] for text in ("blog-17", PROMPT, "blog-17")] == [
            500,
            200,
            500,
        ]
        assert server.outcomes == [Fault.SERVER_ERROR, 200, Fault.SERVER_ERROR]


TELLABLE = (Fault.RATE_LIMITED, Fault.SERVER_ERROR, Fault.NULL_CONTENT, Fault.CUT_OFF)


def befallen(faults: Faults, texts: list[str], *, clients: int) -> Counter[str]:
    """What three tries of each text lead to, however they are spread over the clients."""

    def thrice(text: str) -> str:
        answers = [asked(server, asking(text)) for _ in range(3)]
        told = [[c["message"]["content"] for c in answer.get("choices", ())] for _, answer in answers]
        return f"{text}: {[status for status, _ in answers]} {told}"

    with OpenAIServer(lambda _: TEXT, faults=faults) as server, ThreadPoolExecutor(clients) as pool:
        return Counter(pool.map(thrice, texts))


def test_the_same_requests_fail_in_the_same_places_whatever_the_order() -> None:
    texts = [f"question {n}" for n in range(40)]
    faults = Faults(0.5, seed=3, kinds=TELLABLE)
    alone = befallen(faults, texts, clients=1)
    assert befallen(faults, texts[::-1], clients=16) == alone
    assert befallen(Faults(0.5, seed=4, kinds=TELLABLE), texts, clients=1) != alone
    # Retries have new luck: three tries of one text do not all end alike.
    assert any("200" in told and ("429" in told or "500" in told) for told in alone)


def test_a_share_of_the_requests_fails_in_all_kinds_alike() -> None:
    faults = Faults(0.2, seed=1)
    drawn = Counter(faults.draw(asking(n), before) for n in range(1000) for before in range(20))
    assert drawn[None] == pytest.approx(16_000, rel=0.02)
    assert set(drawn) == {None, *Fault}
    assert all(drawn[fault] == pytest.approx(4000 / len(Fault), rel=0.2) for fault in Fault)


@pytest.mark.parametrize(("share", "ends"), [(0, {200}), (1, {Fault.EMPTY_TEXT})])
def test_none_or_all_of_them_fail(share: float, ends: set[object]) -> None:
    with OpenAIServer(lambda _: TEXT, faults=Faults(share, kinds=(Fault.EMPTY_TEXT,))) as server:
        for number in range(20):
            asked(server, asking(number))
        assert set(server.outcomes) == ends


def test_the_script_is_not_asked_what_fails_before_the_model() -> None:
    told: list[str] = []

    def script(body: dict[str, Any]) -> str:
        told.append("asked")
        return TEXT

    with OpenAIServer(script, faults=Faults(1, kinds=(Fault.SERVER_ERROR,))) as server:
        assert asked(server, asking("?"))[0] == 500
    assert told == []


@pytest.mark.parametrize("settings", [{"share": 1.1}, {"share": -0.1}, {"share": 0.1, "kinds": ()}])
def test_faults_that_make_no_sense_are_refused(settings: Any) -> None:
    with pytest.raises(InvalidInput, match="give"):
        Faults(**settings)


def test_a_client_that_goes_away_frees_the_thread_that_hangs() -> None:
    with failing(Fault.HANG) as server:
        idle = running()
        clients = [connected(server) for _ in range(8)]
        for client in clients:
            client.request("POST", PATH, json.dumps(asking("?")))
        until(lambda: server.peak == len(server.outcomes) == 8)
        assert len(begun_since(idle)) == 8
        for client in clients:
            client.close()
        until(lambda: not begun_since(idle))


def test_its_end_does_not_wait_for_what_hangs_and_leaves_no_thread() -> None:
    before = running()
    with failing(Fault.HANG) as server:
        clients = [connected(server) for _ in range(32)]
        for client in clients:
            client.request("POST", PATH, json.dumps(asking("?")))
        until(lambda: len(server.outcomes) == 32)
        started = time.monotonic()
    assert time.monotonic() - started < 60
    assert not begun_since(before)
    for client in clients:
        client.close()


def until(happened: Any) -> None:
    """Returns as soon as it has; raises AssertionError if it does not."""
    patience = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < patience
        time.sleep(0.01)
