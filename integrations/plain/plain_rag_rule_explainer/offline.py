"""This module makes an OpenAI client that needs no API key and no network, for demos and tests."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from openai_rag_rule_explainer.wire import asked_in

from rag_rule_explainer.instrumentation.engine import MissingExtra
from rag_rule_explainer.instrumentation.offline import offline_answer, word_by_word

if TYPE_CHECKING:
    from openai import OpenAI


def _read(body: Mapping[str, Any]) -> str:
    return offline_answer(asked_in(body).text)


_STREAMED = {"content-type": "text/event-stream"}


def _events(message: Mapping[str, Any], end: str) -> Iterator[str]:
    """Yields the server-sent events that stream a message word by word. ``end``: the finish reason of
    the message."""
    text, calls = str(message.get("content") or ""), message.get("tool_calls") or ()
    deltas: list[dict[str, Any]] = [
        {"role": "assistant"},
        *({"content": piece} for piece in word_by_word(text)),
        *({"tool_calls": [{"index": place, **call}]} for place, call in enumerate(calls)),
    ]
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": delta, "finish_reason": None} for delta in deltas
    ]
    choices.append({"index": 0, "delta": {}, "finish_reason": end})
    for choice in choices:
        yield f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"
    yield "data: [DONE]\n\n"


def offline_client(says: Callable[[Mapping[str, Any]], str | Mapping[str, Any]] = _read) -> "OpenAI":
    """Returns an OpenAI client that sends nothing. Its chat completions are computed in this process.

    ``says``: a function that gets the body of a request, and returns the text of the reply or a message
    with tool calls. By default the reply consists of words from the passages that ``parse_prompt`` of
    ``rag_rule_explainer.testing.prompts`` finds in the request, or it is "N/A". Replies can be streamed.
    Raises MissingExtra if the ``openai`` package is not installed.
    """
    try:
        import httpx  # these packages are imported only here, because explanations do not need them
        from openai import OpenAI
    except ImportError as error:
        raise MissingExtra.naming("plain", "offline_client") from error

    def completion(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        reply = says(body)
        message = {"role": "assistant", **({"content": reply} if isinstance(reply, str) else reply)}
        end = "tool_calls" if message.get("tool_calls") else "stop"
        if body.get("stream"):
            return httpx.Response(200, headers=_STREAMED, text="".join(_events(message, end)))
        choice = {"index": 0, "message": message, "finish_reason": end}
        return httpx.Response(200, json={"object": "chat.completion", "choices": [choice]})

    http = httpx.Client(transport=httpx.MockTransport(completion))
    return OpenAI(base_url="http://offline.invalid", api_key="none", max_retries=0, http_client=http)
