"""What the server knows of what it sent, to whom that may have gone away."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import IncompleteRead
from typing import Any

import pytest

from tests.support.completions import Completion
from tests.support.faults import Fault, Faults
from tests.support.openai_server import OpenAIServer
from tests.support.prefix_cache import PrefixCache
from tests.support.responses import Tokens
from tests.testing.counting import begun_since, running
from tests.testing.test_faults import TELLABLE, TEXT, until
from tests.testing.test_openai_server import PATH, asked, asking, connected

pytestmark = pytest.mark.waits

UNPAID = (
    Fault.RATE_LIMITED,
    Fault.SERVER_ERROR,
    Fault.MALFORMED_JSON,
    Fault.HALF_STREAM,
    Fault.BROKEN_STREAM,
    Fault.RESET,
)


def streamed(server: OpenAIServer, body: dict[str, Any]) -> list[Any]:
    with closing(connected(server)) as connection:
        connection.request("POST", PATH, json.dumps({**body, "stream": True}))
        events = connection.getresponse().read().decode().split("\n\n")
    return [json.loads(event.removeprefix("data: ")) for event in events[:-2]]


def cached(answer: dict[str, Any]) -> int:
    return answer["usage"]["prompt_tokens_details"]["cached_tokens"]


def test_a_prompt_is_cached_as_far_as_one_before_began_alike() -> None:
    with OpenAIServer(lambda _: TEXT, cache=PrefixCache(100)) as server:
        said = [asked(server, asking(*texts))[1] for texts in (("a b", "c"), ("a b", "d"), ("a b c d",))]
        assert [cached(answer) for answer in said] == [0, 2, 3]
        *_, last = streamed(server, asking("a b c d e"))
        assert (last["choices"], cached(last)) == ([], 4)
        assert server.tokens == Tokens(prompt=15, completion=16, cached=9)


def test_what_fails_before_the_model_is_not_cached() -> None:
    cache = PrefixCache(100)
    with OpenAIServer(lambda _: Fault.SERVER_ERROR, cache=cache) as server:
        asked(server, asking("a b c"))
    assert cache.held == 0


def test_a_stream_has_its_usage_unless_it_is_not_wanted() -> None:
    def usages(**more: Any) -> list[Any]:
        return [chunk["usage"] for chunk in streamed(server, asking("?") | more) if "usage" in chunk]

    with OpenAIServer(lambda _: TEXT) as server:
        assert len(usages()) == len(usages(stream_options={"include_usage": True})) == 1
        assert usages(stream_options={"include_usage": False}) == []
        assert server.paid == 3


def test_the_outcomes_are_in_order_and_the_faults_counted() -> None:
    said = iter([TEXT, Fault.RATE_LIMITED, Completion(None), Fault.CUT_OFF, Fault.RATE_LIMITED])
    with OpenAIServer(lambda _: next(said)) as server:
        for _ in range(5):
            asked(server, asking("a b"))
        assert asked(server, b"{")[0] == 400
        assert asked(server, asking("a b"))[0] == 500
        limited = Fault.RATE_LIMITED
        assert server.outcomes == [200, limited, 200, Fault.CUT_OFF, limited, 400, 500]
        assert server.faults_sent == {limited: 2, Fault.CUT_OFF: 1}
        assert len(server.requests) == 6
        assert (server.paid, server.tokens) == (3, Tokens(prompt=6, completion=7))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.HANG])
def test_a_completion_is_paid_if_it_was_sent_in_full(fault: Fault, stream: bool) -> None:
    with OpenAIServer(lambda _: fault) as server, closing(connected(server)) as connection:
        with suppress(ConnectionResetError, IncompleteRead):
            connection.request("POST", PATH, json.dumps({**asking("?"), "stream": stream}))
            connection.getresponse().read()
        assert server.outcomes == [fault]
        assert server.paid == (fault not in UNPAID)


def test_a_completion_that_nobody_takes_is_not_paid() -> None:
    with OpenAIServer(lambda _: "x" * 20_000_000) as server:
        connection = connected(server)
        connection.request("POST", PATH, json.dumps(asking("?")))
        until(lambda: server.outcomes)
        connection.close()
        until(lambda: server.paid == 0)
        assert server.outcomes == [200]


def test_many_clients_at_once_on_connections_that_are_kept(capfd: pytest.CaptureFixture[str]) -> None:
    clients, rounds = 128, 4

    def ask(number: int) -> list[int]:
        with closing(connected(server)) as connection:
            statuses: list[int] = []
            for turn in range(rounds):
                connection.request("POST", PATH, json.dumps(asking(f"{number} {turn}")))
                response = connection.getresponse()
                response.read()
                statuses.append(response.status)
        return statuses

    before = running()
    faults = Faults(0.25, kinds=TELLABLE)
    with (
        OpenAIServer(lambda _: TEXT, latency=0.05, faults=faults, cache=PrefixCache(50)) as server,
        ThreadPoolExecutor(clients) as pool,
    ):
        statuses = sum(pool.map(ask, range(clients)), start=list[int]())
        asked_for = clients * rounds
        assert len(server.requests) == len(server.outcomes) == len(statuses) == asked_for
        assert statuses.count(200) == server.paid
        assert server.tokens.prompt == 2 * server.paid
        assert 0 < server.faults_sent.total() < asked_for / 2
        assert server.peak <= clients
    assert not begun_since(before)
    assert capfd.readouterr() == ("", "")


def test_clients_that_vanish_leave_nothing_behind(capfd: pytest.CaptureFixture[str]) -> None:
    before = running()
    faults = Faults(0.5, kinds=(Fault.HANG, Fault.RESET, Fault.BROKEN_STREAM, Fault.HALF_STREAM))
    with OpenAIServer(lambda _: TEXT, latency=0.05, faults=faults) as server:
        idle = running()
        for number in range(64):
            connection = connected(server)
            connection.request("POST", PATH, json.dumps({**asking(number), "stream": True}))
            connection.close()
        until(lambda: len(server.outcomes) == 64 and not begun_since(idle))
        started = time.monotonic()
    assert time.monotonic() - started < 60
    assert not begun_since(before)
    assert capfd.readouterr() == ("", "")
