"""Endpoints of OpenAI and Azure whose replies are cut off, for the real clients of both frameworks."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tests.integrations import responses_server
from tests.integrations.endings import Cutting, half
from tests.integrations.known import shown_in
from tests.support.completions import Completion
from tests.support.openai_server import OpenAIServer
from tests.support.responses import Refused

CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CHAT = (
    "length",
    "content_filter",
    "tool_calls",
    "function_call",
    "half",
    "refusal",
    "refusal after half",
    "empty",
    "wobbly",
)
"""How replies of chat completions end, and one that nobody knows; Azure cuts off with the second."""
FILTERED_PROMPT = "400"
"""Azure's answer to a prompt that it filters. Nobody asks it again."""


@contextmanager
def chat_completions(cutting: Cutting) -> Generator[str]:
    """The base URL of an endpoint whose replies are cut off so."""

    def script(body: dict[str, Any]) -> Completion:
        shown = shown_in("\n".join(str(each.get("content")) for each in body["messages"]))
        return _completion(cutting.case.answer(shown), cutting.end(shown))

    with OpenAIServer(script) as server:
        yield server.base_url


@contextmanager
def responses(cutting: Cutting) -> Generator[str]:
    """The same for the Responses API."""

    def says(prompt: str) -> tuple[str, str]:
        shown = shown_in(prompt)
        text, end = cutting.case.answer(shown), cutting.end(shown)
        return (text, "completed") if end is None else (half(text), end)

    with responses_server.responses_server(says) as base_url:
        yield base_url


def _completion(text: str, end: str | None) -> Completion:
    if end == FILTERED_PROMPT:
        why = "The prompt triggered Azure OpenAI's content management policy. Please modify your prompt"
        raise Refused(400, why, "content_filter")
    special = {
        None: Completion(text),
        "half": Completion(half(text), finish_reason=None),
        "refusal": Completion(None, refusal="I cannot help with that."),
        "refusal after half": Completion(half(text), refusal="I cannot go on with that."),
        "empty": Completion(""),
        "tool_calls": Completion(half(text), "tool_calls", (CALL,)),
    }
    return special.get(end) or Completion(half(text), end)


ENDPOINTS = {"chat": (chat_completions, CHAT), "responses": (responses, responses_server.ENDS)}
