"""Models of applications without a framework: the real OpenAI client, and a server on this machine."""

import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from openai import AsyncOpenAI, OpenAI

from tests.integrations.known import shown_in
from tests.integrations.responses_server import responses_server
from tests.support.completions import Completion
from tests.support.messages import Body
from tests.support.openai_server import OpenAIServer

NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""To load those that there are takes longer than a test."""
BAD_NEWS, GOOD_NEWS = "There is bad news today.", "All of it is good."


@dataclass(frozen=True)
class Models:
    """Clients of chat completions, and one of responses; nothing of a server, as applications know it."""

    client: OpenAI
    aclient: AsyncOpenAI
    responses: OpenAI


@contextmanager
def served() -> Generator[Models]:
    """Models that say bad news where they are shown both b and d, and call what tools they are given."""
    # A connection that is kept would belong to the loop that it was opened in.
    once = httpx.Limits(max_keepalive_connections=0)
    with (
        OpenAIServer(replied) as server,
        responses_server(spoken) as base_url,
        client_of(server.base_url) as client,
    ):
        ahttp = httpx.AsyncClient(limits=once, verify=NO_CERTIFICATES)
        aclient = AsyncOpenAI(base_url=server.base_url, api_key="none", max_retries=0, http_client=ahttp)
        yield Models(client, aclient, client.with_options(base_url=base_url))


def client_of(base_url: str) -> OpenAI:
    """The real client; nothing leaves this machine."""
    http = httpx.Client(verify=NO_CERTIFICATES)
    return OpenAI(base_url=base_url, api_key="none", max_retries=0, http_client=http)


def news(shown: str) -> str:
    return BAD_NEWS if {"b", "d"} <= set(shown) else GOOD_NEWS


def spoken(prompt: str) -> tuple[str, str]:
    return news(shown_in(prompt)), "completed"


def replied(body: Body) -> str | Completion:
    """What a model says to messages: a call of each tool first, else what its first words ask for."""
    messages: list[dict[str, Any]] = body["messages"]
    text = "\n".join(str(each.get("content")) for each in messages)
    if body.get("tools") and not any(each["role"] == "tool" for each in messages):
        return Completion(None, "tool_calls", tuple(calls(body["tools"])))
    says = SAYING.get(next(iter(text.split()), ""), lambda text: news(shown_in(text)))(text)
    return f'{{"news": "{says}"}}' if "response_format" in body else says


SAYING: dict[str, Callable[[str], str]] = {
    "Rewrite:": lambda _: "what is known of these four things",
    "Note": lambda text: f"noted: {shown_in(text)}.",
    "Reduce": lambda text: news("".join(each for each in "abcd" if f"noted: {each}." in text)),
    "Rank": lambda _: "d, c, b, a",
}
"""What is said to messages that begin so."""


def calls(tools: list[dict[str, Any]]) -> Generator[dict[str, Any]]:
    for place, tool in enumerate(tools):
        function = {"name": tool["function"]["name"], "arguments": '{"query": "news"}'}
        yield {"id": f"call_{place}", "type": "function", "function": function}
