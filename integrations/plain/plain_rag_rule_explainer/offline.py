"""The offline reader behind the official OpenAI client, for demos and tests without a key."""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rag_rule_explainer.errors import MissingExtra
from rag_rule_explainer.testing.prompts import parse_prompt
from rag_rule_explainer.testing.reader import read_answer

from .wire import asked_in

if TYPE_CHECKING:
    from openai import OpenAI


def _read(body: Mapping[str, Any]) -> str:
    task = parse_prompt(asked_in(body).text)
    return read_answer(task.question, task.passages)


def offline_client(says: Callable[[Mapping[str, Any]], str | Mapping[str, Any]] = _read) -> "OpenAI":
    """Returns an OpenAI client whose chat completions come from this process, and never leave it.

    ``says``: the text of a reply, or its message with its tool calls, given the body of the request; by
    default a stretch of the passages in it, or "N/A", as ``parse_prompt`` of
    ``rag_rule_explainer.testing.prompts`` finds them. Raises MissingExtra without the client.
    """
    try:
        import httpx  # late, as whoever explains needs neither
        from openai import OpenAI
    except ImportError as error:
        raise MissingExtra.naming("plain", "offline_client") from error

    def completion(request: httpx.Request) -> httpx.Response:
        said = says(json.loads(request.content))
        message = {"role": "assistant", **({"content": said} if isinstance(said, str) else said)}
        end = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "message": message, "finish_reason": end}
        return httpx.Response(200, json={"object": "chat.completion", "choices": [choice]})

    http = httpx.Client(transport=httpx.MockTransport(completion))
    return OpenAI(base_url="http://offline.invalid", api_key="none", max_retries=0, http_client=http)
