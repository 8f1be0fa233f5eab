"""Applications that ask a model by a library for HTTP, and those that read the body of a response."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import requests

from tests.integrations.plain.models import NO_CERTIFICATES, Models
from tests.integrations.plain.zoo.shapes import Built, Index, Shape, live, shown, user


def url_of(models: Models) -> str:
    return f"{models.client.base_url}chat/completions"


def body_of(content: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": user(content), **more}


def text_in(line: str) -> str:
    """The text of one event of a stream."""
    if not line.startswith("data: {"):
        return ""
    choices = json.loads(line[len("data: ") :])["choices"]
    return str(choices[0]["delta"].get("content") or "") if choices else ""


def by_requests(models: Models) -> Built:
    index = Index()

    def answer(question: str) -> str:
        body = body_of(shown(index.search(question), question))
        reply = requests.post(
            url_of(models), json=body, headers={"Authorization": "Bearer none"}, timeout=9
        )
        reply.raise_for_status()
        return reply.json()["choices"][0]["message"]["content"]

    return Built(answer, live(index))


def by_requests_streamed(models: Models) -> Built:
    index, session = Index(), requests.Session()

    def answer(question: str) -> Iterator[str]:
        body = body_of(shown(index.search(question), question), stream=True)
        with session.post(url_of(models), json=body, stream=True, timeout=9) as reply:
            for line in reply.iter_lines(decode_unicode=True):
                if line == "data: [DONE]":
                    break
                yield text_in(str(line))

    return Built(answer, live(index))


def by_httpx(models: Models) -> Built:
    index = Index()

    def answer(question: str) -> str:
        body = body_of(shown(index.search(question), question))
        with httpx.Client(verify=NO_CERTIFICATES) as http:
            reply = http.post(url_of(models), json=body).raise_for_status()
        return reply.json()["choices"][0]["message"]["content"]

    return Built(answer, live(index))


def by_httpx_awaited_and_streamed(models: Models) -> Built:
    index = Index()

    async def answer(question: str) -> str:
        body = body_of(shown(index.search(question), question), stream=True)
        async with (
            httpx.AsyncClient(verify=NO_CERTIFICATES) as http,
            http.stream("POST", url_of(models), json=body) as reply,
        ):
            return "".join([text_in(line) async for line in reply.aiter_lines()])

    return Built(answer, live(index))


def body_read_late(models: Models) -> Built:
    index = Index()

    def answer(question: str) -> str:
        asking = models.client.chat.completions.with_streaming_response
        with asking.create(model="m", messages=user(shown(index.search(question)))) as reply:
            return reply.parse().choices[0].message.content or ""

    return Built(answer, live(index))


@dataclass
class Usage:
    """What was spent so far, as most applications count it."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


def counting_what_is_spent(models: Models) -> Built:
    index, usage = Index(), Usage()

    def answer(question: str) -> str:
        messages = user(shown(index.search(question)))
        reply: Any = models.client.chat.completions.create(model="m", messages=messages)
        usage.prompt_tokens += reply.usage.prompt_tokens
        usage.completion_tokens += getattr(reply.usage, "completion_tokens", 0)
        return reply.choices[0].message.content

    return Built(answer, live(index))


SHAPES = (
    Shape("requests, without the client", by_requests),
    Shape("requests, streamed by lines", by_requests_streamed),
    Shape("httpx, a client for each run", by_httpx),
    Shape("httpx, awaited and streamed", by_httpx_awaited_and_streamed),
    Shape("a response whose body is read late", body_read_late),
    Shape("counts of tokens that nothing reads", counting_what_is_spent),
)
