"""What the clients in use make of each fault; two of them come out as ordinary answers."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tests.support.faults import Fault
from tests.support.openai_server import OpenAIServer
from tests.support.prefix_cache import PrefixCache
from tests.testing.test_faults import HALF, TEXT, failing, until

pytestmark = pytest.mark.waits

PATIENCE = 10.0
SHORT = 0.2
"""Seconds until a client gives up: what nobody answers need not be waited for."""

FAILING: list[tuple[Fault, bool, type[Exception]]] = [
    (Fault.RATE_LIMITED, False, openai.RateLimitError),
    (Fault.RATE_LIMITED, True, openai.RateLimitError),
    (Fault.SERVER_ERROR, False, openai.InternalServerError),
    (Fault.SERVER_ERROR, True, openai.InternalServerError),
    (Fault.MALFORMED_JSON, False, json.JSONDecodeError),
    (Fault.MALFORMED_JSON, True, ValueError),
    (Fault.BROKEN_STREAM, False, openai.APIConnectionError),
    (Fault.BROKEN_STREAM, True, httpx.RemoteProtocolError),
    (Fault.NO_CHOICES, False, IndexError),
    (Fault.RESET, False, openai.APIConnectionError),
    (Fault.RESET, True, openai.APIConnectionError),
    (Fault.HANG, False, openai.APITimeoutError),
    (Fault.HANG, True, openai.APITimeoutError),
]
"""What ChatOpenAI raises, by the fault and whether it streams."""

ANSWERED: list[tuple[Fault, bool, str, str | None]] = [
    (Fault.HALF_STREAM, False, HALF, None),
    (Fault.HALF_STREAM, True, HALF, None),
    (Fault.NULL_CONTENT, False, "", "stop"),
    (Fault.NULL_CONTENT, True, "", "stop"),
    (Fault.EMPTY_TEXT, False, "", "stop"),
    (Fault.EMPTY_TEXT, True, "", "stop"),
    (Fault.CUT_OFF, False, HALF, "length"),
    (Fault.CUT_OFF, True, HALF, "length"),
    (Fault.NO_CHOICES, True, "", None),
]
"""The text and finish_reason that ChatOpenAI returns."""


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    """One for all: each would read the certificates of this machine anew. It keeps no connection."""
    with httpx.Client(limits=httpx.Limits(max_keepalive_connections=0)) as client:
        yield client


def chat_model(
    server: OpenAIServer, http: httpx.Client, *, streaming: bool, timeout: float = PATIENCE
) -> ChatOpenAI:
    return ChatOpenAI(
        model="m",
        base_url=server.base_url,
        api_key=SecretStr("x"),
        max_retries=0,
        timeout=timeout,
        streaming=streaming,
        http_client=http,
    )


def openai_client(server: OpenAIServer, http: httpx.Client, *, retries: int = 0) -> openai.OpenAI:
    return openai.OpenAI(
        base_url=server.base_url,
        api_key="x",
        max_retries=retries,
        timeout=PATIENCE,
        http_client=http,
    )


def create(client: openai.OpenAI, *, stream: bool = False) -> Any:
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
    return client.chat.completions.create(**body, stream=stream)


def test_every_fault_is_here() -> None:
    seen = {(fault, streaming) for fault, streaming, *_ in [*FAILING, *ANSWERED]}
    assert seen == {(fault, streaming) for fault in Fault for streaming in (False, True)}


@pytest.mark.parametrize(("fault", "streaming", "error"), FAILING)
def test_chat_openai_raises(
    http: httpx.Client, fault: Fault, streaming: bool, error: type[Exception]
) -> None:
    timeout = SHORT if fault is Fault.HANG else PATIENCE
    with failing(fault) as server:
        with pytest.raises(error) as raised:
            chat_model(server, http, streaming=streaming, timeout=timeout).invoke("?")
        until(lambda: server.outcomes == [fault])
    # ChatOpenAI raises subclasses of openai's errors; a ValueError is to be nothing else.
    assert error is not ValueError or raised.type is ValueError


@pytest.mark.parametrize(("fault", "streaming", "text", "reason"), ANSWERED)
def test_chat_openai_takes_it_for_an_answer(
    http: httpx.Client, fault: Fault, streaming: bool, text: str, reason: str | None
) -> None:
    with failing(fault) as server:
        answer = chat_model(server, http, streaming=streaming).invoke("?")
    assert answer.text == text
    assert answer.response_metadata.get("finish_reason") == reason


def test_half_a_stream_that_ends_cleanly_is_an_ordinary_text_whoever_reads_it(
    http: httpx.Client,
) -> None:
    with failing(Fault.HALF_STREAM) as server:
        chunks = list(chat_model(server, http, streaming=True).stream("?"))
        events = [event.choices[0] for event in create(openai_client(server, http), stream=True)]
    assert "".join(chunk.text for chunk in chunks) == HALF
    assert not any("finish_reason" in chunk.response_metadata for chunk in chunks)
    assert [(event.delta.content, event.finish_reason) for event in events] == [(HALF, None)]


def test_half_a_stream_that_breaks_gives_its_half_and_then_an_error_that_is_not_openais(
    http: httpx.Client,
) -> None:
    with failing(Fault.BROKEN_STREAM) as server:
        stream = chat_model(server, http, streaming=True).stream("?")
        assert next(stream).text == HALF
        with pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"):
            next(stream)
        events = iter(create(openai_client(server, http), stream=True))
        assert next(events).choices[0].delta.content == HALF
        with pytest.raises(httpx.RemoteProtocolError):
            next(events)


@pytest.mark.parametrize("streaming", [False, True])
def test_the_seconds_to_wait_can_be_read(http: httpx.Client, streaming: bool) -> None:
    def waits(ask: Callable[[], object]) -> float:
        with pytest.raises(openai.RateLimitError) as raised:
            ask()
        return float(raised.value.response.headers["retry-after"])

    with failing(Fault.RATE_LIMITED, retry_after=0.25) as server:
        model, client = chat_model(server, http, streaming=streaming), openai_client(server, http)
        assert waits(lambda: model.invoke("?")) == 0.25
        assert waits(lambda: list(model.stream("?"))) == 0.25
        assert waits(lambda: create(client, stream=streaming)) == 0.25


def test_openais_client_gives_null_and_no_choices_as_they_are_and_for_malformed_json_no_stream(
    http: httpx.Client,
) -> None:
    with failing(Fault.NULL_CONTENT) as server:
        assert create(openai_client(server, http)).choices[0].message.content is None
    with failing(Fault.NO_CHOICES) as server:
        assert create(openai_client(server, http)).choices == []
    with failing(Fault.MALFORMED_JSON) as server:
        assert list(create(openai_client(server, http), stream=True)) == []
        with pytest.raises(json.JSONDecodeError):
            create(openai_client(server, http))


def test_openais_client_retries_what_passes(http: httpx.Client) -> None:
    faults = iter([Fault.RATE_LIMITED, Fault.RESET])

    def script(_body: object) -> str | Fault:
        return next(faults, TEXT)

    with OpenAIServer(script, retry_after=0.01) as server:
        answer = create(openai_client(server, http, retries=2))
        assert server.outcomes == [Fault.RATE_LIMITED, Fault.RESET, 200]
    assert answer.choices[0].message.content == TEXT


@pytest.mark.parametrize("streaming", [False, True])
def test_cached_tokens_arrive_in_the_usage_of_chat_openai(http: httpx.Client, streaming: bool) -> None:
    with OpenAIServer(lambda _: TEXT, cache=PrefixCache(100)) as server:
        model = chat_model(server, http, streaming=streaming)
        answers = [model.invoke(question) for question in ("one two three", "one two four")]
    usages: list[Any] = [answer.usage_metadata for answer in answers]
    assert [usage["input_tokens"] for usage in usages] == [3, 3]
    assert [usage["input_token_details"]["cache_read"] for usage in usages] == [0, 2]
