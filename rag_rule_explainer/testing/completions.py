"""Chat completions as OpenAI writes them: from the parsed body of a request to that of a response."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from ..reader import parse_prompt, read

Body: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply as it is to be sent, faults and all.

    ``text``: None is sent as null. ``finish_reason``: None ends a stream after the text, cleanly and in
    the middle, as a proxy does whose connection broke. ``tool_calls``: as OpenAI writes them, such as
    ``{"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}``.
    """

    text: str | None
    finish_reason: str | None = "stop"
    tool_calls: tuple[Mapping[str, Any], ...] = ()


Script: TypeAlias = Callable[[Body], "str | Completion"]
"""What is answered to a request, given as its parsed JSON body."""


@dataclass(frozen=True, slots=True)
class Response:
    """What goes back over the wire."""

    status: int
    content_type: str
    content: bytes

    @classmethod
    def of(cls, payload: Mapping[str, Any], status: int = 200) -> "Response":
        """The payload as JSON."""
        return cls(status, "application/json", json.dumps(payload).encode())

    @classmethod
    def refusing(cls, status: int, why: str) -> "Response":
        """An error."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        return cls.of({"error": {"message": why, "type": kind, "param": None, "code": None}}, status)


class Refused(Exception):
    """A request that is not answered: with which HTTP status, and why."""

    def __init__(self, status: int, why: str) -> None:
        self.status = status
        super().__init__(why)


def understood(content: bytes) -> Body:
    """The body of a request. Raises Refused for what is no JSON object with a list of messages."""
    try:
        body: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"not JSON: {type(error).__name__}") from error
    if not isinstance(body, dict) or not isinstance(cast("Body", body).get("messages"), list):
        raise Refused(400, "not an object with a list of messages")
    return cast("Body", body)


def read_offline(body: Body) -> str:
    """The offline reader's answer to all messages as one prompt. Raises Refused if nothing is asked."""
    try:
        task = parse_prompt(_prompt(body))
    except ValueError as error:
        raise Refused(400, str(error)) from error
    return read(task.question, task.passages)


def completion(body: Body, said: str | Completion, number: int) -> Response:
    """The response that says so; tokens are counted as words apart by white space."""
    reply = Completion(said) if isinstance(said, str) else said
    asked, told = len(_prompt(body).split()), len((reply.text or "").split())
    usage = {"prompt_tokens": asked, "completion_tokens": told, "total_tokens": asked + told}
    identity = {
        "id": f"chatcmpl-{number}",
        "created": int(time.time()),
        "model": str(body.get("model", "")),
    }
    if body.get("stream"):
        return _streamed(identity, reply, usage)
    message: Body = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.tool_calls:
        message["tool_calls"] = list(reply.tool_calls)
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason, "logprobs": None}
    return Response.of({**identity, "object": "chat.completion", "choices": [choice], "usage": usage})


def _streamed(identity: Mapping[str, Any], reply: Completion, usage: Mapping[str, int]) -> Response:
    def chunk(*deltas: tuple[Mapping[str, Any], str | None], **more: Any) -> str:
        choices = [{"index": 0, "delta": delta, "finish_reason": why} for delta, why in deltas]
        return json.dumps({**identity, "object": "chat.completion.chunk", "choices": choices, **more})

    delta: Body = {"role": "assistant", "content": reply.text}
    if reply.tool_calls:
        delta["tool_calls"] = [{"index": place, **call} for place, call in enumerate(reply.tool_calls)]
    said = chunk((delta, None))
    rest = (chunk(({}, reply.finish_reason)), chunk(usage=usage)) if reply.finish_reason else ()
    events = (said, *rest, "[DONE]")
    return Response(200, "text/event-stream", "".join(f"data: {each}\n\n" for each in events).encode())


def _prompt(body: Body) -> str:
    return "\n\n".join(part for message in body["messages"] for part in _texts(message))


def _texts(message: object) -> Iterator[str]:
    """The text of a message, or of the parts that it consists of; nothing for anything else."""
    content: object = _entries(message).get("content")
    parts = cast("list[object]", content) if isinstance(content, list) else [{"text": content}]
    texts = (_entries(part).get("text") for part in parts)
    return (text for text in texts if isinstance(text, str))


def _entries(given: object) -> Body:
    return cast("Body", given) if isinstance(given, dict) else {}
