"""Chat completions as OpenAI writes them, whole and spoilt."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tests.support.faults import Fault
from tests.support.messages import Body, entries, prompt
from tests.support.responses import Response, Tokens


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply as it is to be sent, faults and all.

    ``text``: None is sent as null. ``finish_reason``: None ends a stream after the text, cleanly and in
    the middle, as a proxy does whose connection broke. ``tool_calls``: as OpenAI writes them, such as
    ``{"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}``. ``fault``:
    what befalls it. ``refusal``: what the model says instead of an answer.
    """

    text: str | None
    finish_reason: str | None = "stop"
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    fault: Fault | None = None
    refusal: str | None = None

    @classmethod
    def of(cls, said: "str | Completion | Fault") -> "Completion":
        """What a script says, as a completion; a fault befalls a sentence."""
        if isinstance(said, Fault):
            return cls("This sentence was to arrive in full.", fault=said)
        return cls(said) if isinstance(said, str) else said


Script: TypeAlias = Callable[[Body], "str | Completion | Fault"]
"""What is answered to a request, given as its parsed JSON body."""


def completion(body: Body, said: Completion, number: int, cached: int | None) -> Response:
    """The response that says so; tokens are counted as words apart by white space.

    ``cached``: how many of the prompt were held in a cache; None leaves the usage without such details.
    """
    spoil = _SPOILT.get(said.fault) if said.fault else None
    reply = spoil(said) if spoil else said
    tokens = Tokens(len(prompt(body).split()), len((reply.text or "").split()), cached or 0)
    identity = {
        "id": f"chatcmpl-{number}",
        "created": int(time.time()),
        "model": str(body.get("model", "")),
    }
    usage = _usage(tokens, detailed=cached is not None)
    if not body.get("stream") or reply.fault is Fault.MALFORMED_JSON:
        return _sent("application/json", [_whole(identity, reply, usage)], reply, tokens)
    asked_for = entries(body.get("stream_options")).get("include_usage") is not False
    events = _events(identity, reply, {"usage": usage} if asked_for else None)
    pieces = [f"data: {event}\n\n" for event in events]
    return _sent("text/event-stream", pieces, reply, tokens)


def _usage(tokens: Tokens, *, detailed: bool) -> Mapping[str, Any]:
    asked, told = tokens.prompt, tokens.completion
    usage = {"prompt_tokens": asked, "completion_tokens": told, "total_tokens": asked + told}
    details = {"prompt_tokens_details": {"cached_tokens": tokens.cached, "audio_tokens": 0}}
    return usage | details if detailed else usage


def _whole(identity: Mapping[str, Any], reply: Completion, usage: Mapping[str, Any]) -> str:
    message: Body = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.tool_calls:
        message["tool_calls"] = list(reply.tool_calls)
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason, "logprobs": None}
    choices = [] if reply.fault is Fault.NO_CHOICES else [choice]
    return json.dumps({**identity, "object": "chat.completion", "choices": choices, "usage": usage})


def _events(identity: Mapping[str, Any], reply: Completion, usage: Mapping[str, Any] | None) -> list[str]:
    def chunk(*deltas: tuple[Mapping[str, Any], str | None], **more: Any) -> str:
        told = () if reply.fault is Fault.NO_CHOICES else deltas
        choices = [{"index": 0, "delta": delta, "finish_reason": why} for delta, why in told]
        return json.dumps({**identity, "object": "chat.completion.chunk", "choices": choices, **more})

    delta: Body = {"role": "assistant", "content": reply.text}
    if reply.refusal is not None:
        delta["refusal"] = reply.refusal
    if reply.tool_calls:
        delta["tool_calls"] = [{"index": place, **call} for place, call in enumerate(reply.tool_calls)]
    events = [chunk((delta, None))]
    if reply.finish_reason:
        events.append(chunk(({}, reply.finish_reason)))
        events += [chunk(**usage)] if usage else []
    return [*events, "[DONE]"]


def _sent(kind: str, pieces: Sequence[str], reply: Completion, tokens: Tokens) -> Response:
    """The pieces, of which no more than half of the second arrives where they are to break."""
    content = "".join(pieces).encode()
    *before, broken = pieces[:2]
    kept = sum(map(len, before)) + len(broken) // 2
    if reply.fault is Fault.MALFORMED_JSON:
        return Response(200, kind, content[:kept], fault=reply.fault)
    if reply.fault is Fault.BROKEN_STREAM:
        return Response(200, kind, content[:kept], missing=len(content) - kept, fault=reply.fault)
    full = tokens if reply.finish_reason else None
    return Response(200, kind, content, tokens=full, fault=reply.fault)


def _half(text: str | None) -> str | None:
    return text and text[: (len(text) + 1) // 2]


_SPOILT: Mapping[Fault, Callable[[Completion], Completion]] = {
    Fault.HALF_STREAM: lambda said: replace(said, text=_half(said.text), finish_reason=None),
    Fault.BROKEN_STREAM: lambda said: replace(said, text=_half(said.text)),
    Fault.NULL_CONTENT: lambda said: Completion(None, fault=said.fault),
    Fault.EMPTY_TEXT: lambda said: Completion("", fault=said.fault),
    Fault.CUT_OFF: lambda said: replace(said, text=_half(said.text), finish_reason="length"),
    Fault.NO_CHOICES: lambda said: Completion(None, fault=said.fault),
}
"""What becomes of the reply; the other faults befall its bytes, or come before it."""
