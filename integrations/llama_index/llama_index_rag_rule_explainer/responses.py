"""This module reads the reply, its finish reason and its tokens from the response of a model."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from pydantic import BaseModel

from rag_rule_explainer import ToolCall
from rag_rule_explainer.instrumentation.clients.fields import mapping_in
from rag_rule_explainer.instrumentation.engine import Said, reason_in

_COUNTS = {
    "input_tokens": ("prompt_tokens", "input_tokens"),
    "output_tokens": ("completion_tokens", "output_tokens"),
    "total_tokens": ("total_tokens",),
}

_EMPTY = "Empty Response"
"""The text that LlamaIndex uses in place of an empty reply."""


class RecordedReply(NamedTuple):
    """A ``RecordedReply`` is a model's reply that replays may get in place of a request to the model.
    ``reason``: the finish reason of a streamed reply, if a chunk before the last one reported it; None
    otherwise."""

    response: ChatResponse | CompletionResponse
    reason: str | None


def reply_text(response: ChatResponse | CompletionResponse | None) -> str:
    """Returns the text of a reply; an empty text if there is no response."""
    if response is None:
        return ""
    return message_text(response.message) if isinstance(response, ChatResponse) else response.text


def reply_with_role(response: ChatResponse | CompletionResponse | None) -> str:
    """Returns a chat reply with its role and tool calls, or the text of a completion."""
    return (
        message_with_role(response.message)
        if isinstance(response, ChatResponse)
        else reply_text(response)
    )


def message_with_role(message: ChatMessage) -> str:
    """Returns the text of a message with its role and its tool calls."""
    calls = message.additional_kwargs.get("tool_calls")
    return f"{message.role.value}:\n{message_text(message)}" + (f"\n{calls}" if calls else "")


def message_text(message: ChatMessage) -> str:
    """Returns all strings in a message's blocks, including those of tool results."""
    return "\n".join(text for block in message.blocks for text in _texts(block.model_dump()))


def _texts(said: Any) -> Iterable[str]:
    if isinstance(said, str):
        yield said
    elif isinstance(said, Mapping):
        for key, value in cast("Mapping[Any, Any]", said).items():
            if key != "block_type":
                yield from _texts(value)
    elif isinstance(said, (list, tuple)):
        for value in cast("Iterable[Any]", said):
            yield from _texts(value)


def said_in(response: ChatResponse | CompletionResponse | None, reason: str | None = None) -> Said:
    """Returns the reply in a response.

    ``reason``: the finish reason that an earlier chunk of the stream reported; None if no chunk reported
    one.
    """
    if response is None:
        return Said("", reason)
    extra, kinds, text = [response.additional_kwargs], set[str](), ""
    if isinstance(response, ChatResponse):
        extra.append(response.message.additional_kwargs)
        kinds = {block.block_type for block in response.message.blocks}
        text = response.message.content or ""
    else:
        text = response.text

    raw = _raw(response)

    def has(*names: str) -> bool:
        return any(each.get(name) for each in extra for name in names)

    def says(name: str) -> bool:
        return any(name in each for each in (raw, *extra))

    return Said(
        text,
        stop_reason_of(response) or reason,
        calls="tool_call" in kinds or has("tool_calls", "function_call"),
        refuses=has("refusal") or is_refusal(response),
        more=has("audio") or not kinds <= {"text", "thinking", "tool_call"},
        reports=says("stop_reason") or says("finish_reason") or _always_reports(raw),
        shown_as="" if text.strip() else _EMPTY,
        called=called_in(response),
    )


def called_in(response: ChatResponse | CompletionResponse) -> tuple[ToolCall, ...]:
    """Returns the tool calls of a response: those in the message's blocks or, if there are none, those in
    its ``additional_kwargs``."""
    if not isinstance(response, ChatResponse):
        return ()
    # Releases of llama-index-core before 0.14 have no blocks for tool calls.
    blocks: list[Any] = [each for each in response.message.blocks if each.block_type == "tool_call"]
    if blocks:
        return tuple(ToolCall.written(each.tool_name, each.tool_kwargs) for each in blocks)
    beside: Any = response.message.additional_kwargs.get("tool_calls") or ()
    former: Any = response.message.additional_kwargs.get("function_call")
    named = map(_named_call, [*(cast("list[Any]", beside)), *([former] if former else [])])
    return tuple(ToolCall.written(*each) for each in named if each is not None)


def _named_call(call: Any) -> tuple[object, object] | None:
    """Returns the name and the arguments of a provider's tool call, which is an object or a dict. Returns
    None for any other value, and for a call without a name."""
    if isinstance(call, BaseModel):
        call = call.model_dump(warnings=False)
    if not isinstance(call, Mapping):
        return None
    entries = cast("Mapping[str, Any]", call)
    inner: Any = entries.get("function")
    entries = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else entries
    given = (entries[key] for key in ("arguments", "args", "input") if entries.get(key) is not None)
    return None if entries.get("name") is None else (entries["name"], next(given, None))


def is_refusal(response: ChatResponse | CompletionResponse) -> bool:
    """Returns True iff a reply in OpenAI's protocol, or a chunk of such a reply, is a refusal. The
    refusal is read from the raw response, because LlamaIndex does not report refusals."""
    messages = (each.get("message") or each.get("delta") for each in _choices(_raw(response)))
    return any(
        cast("Mapping[str, Any]", each).get("refusal") for each in messages if isinstance(each, Mapping)
    )


def _raw(response: ChatResponse | CompletionResponse | None) -> Mapping[str, Any]:
    """Returns the raw response of the provider's client as a mapping; an empty mapping if there is
    none."""
    raw: Any = None if response is None else response.raw
    if isinstance(raw, BaseModel):
        raw = raw.model_dump(warnings=False)
    return mapping_in(raw)


_EVENTS_OF_BEDROCK = ({"contentBlockDelta"}, {"contentBlockStart"}, {"metadata"})
"""The keys of those events of Bedrock's streams that LlamaIndex passes on."""


def _always_reports(raw: Mapping[str, Any]) -> bool:
    """Returns True iff the reply is in one of OpenAI's protocols or of Bedrock. Complete replies of these
    providers always have a finish reason, so a reply without one was cut off."""
    if set(raw) in _EVENTS_OF_BEDROCK or {"ResponseMetadata", "output"} <= raw.keys():
        return True
    return "choices" in raw or str(raw.get("type")).startswith("response.")


def _choices(raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed: Any = raw.get("choices")
    several = cast("list[Any]", listed) if isinstance(listed, list) else []
    return [cast("Mapping[str, Any]", each) for each in several if isinstance(each, Mapping)]


def stop_reason_of(response: ChatResponse | CompletionResponse) -> str | None:
    """Returns the finish reason that a response reports; None if it reports none."""
    message = response.message.additional_kwargs if isinstance(response, ChatResponse) else None
    return reason_in(response.raw, response.additional_kwargs, message)


def model_of(response: ChatResponse | CompletionResponse | None) -> str:
    """Returns the name of the model that a response reports; an empty text if it reports none."""
    named = _raw(response).get("model")
    return named if isinstance(named, str) else ""


def usage_in(response: ChatResponse | CompletionResponse | None) -> dict[str, int]:
    """Returns the numbers of input, output, total and cached tokens that a response reports; an empty
    dict if it reports none."""
    if response is None:
        return {}
    reported = mapping_in(_raw(response).get("usage"))
    places: list[Mapping[str, Any]] = [reported, response.additional_kwargs]
    spent = {
        kind: next((each[name] for each in places for name in names if type(each.get(name)) is int), 0)
        for kind, names in _COUNTS.items()
    }
    details = (reported.get(name) for name in ("prompt_tokens_details", "input_tokens_details"))
    cached = [each.get("cached_tokens") for each in details if isinstance(each, Mapping)]
    if cached and type(cached[0]) is int and cached[0]:
        spent["cached_input_tokens"] = cached[0]
    return spent if any(spent.values()) else {}


def spent_on(response: ChatResponse | CompletionResponse) -> dict[str, dict[str, int]]:
    """Returns the numbers of tokens that a response reports, by kind, under the name of the model; an
    empty dict if it reports none."""
    usage = usage_in(response)
    return {model_of(response): usage} if usage else {}
