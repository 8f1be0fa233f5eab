"""This module reads requests and replies in OpenAI's protocols: chat completions and responses."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from rag_rule_explainer.instrumentation.copies.copying import described
from rag_rule_explainer.instrumentation.engine import Said, ToolCall, reason_in
from rag_rule_explainer.instrumentation.requests.client_watch import Called, ModelReply, ModelRequest
from rag_rule_explainer.instrumentation.requests.provider_calls import built_in_call
from rag_rule_explainer.instrumentation.requests.provider_usage import tokens_in

_LAST = frozenset({"response.completed", "response.incomplete"})
"""The types of the events with which a streamed response ends. Applications need not read on."""
_SHOWN = ("instructions", "prompt", "messages", "input")
"""Keys of a request's body whose content the model reads. The other keys hold parameters."""
_OF_TRANSPORT = frozenset({"stream", "stream_options", *_SHOWN})
_NO_TEXT = frozenset(
    {"role", "type", "id", "call_id", "tool_call_id", "name", "status", "arguments", "tool_calls"}
)
Entries = Mapping[str, Any]


def asked_in(body: Entries) -> ModelRequest:
    """Returns the texts, the parameters and the tool results in the body of a request."""
    items = [plain(each) for key in _SHOWN for each in _several(body.get(key))]
    parameters = described({key: each for key, each in body.items() if key not in _OF_TRANSPORT})
    # The parameters come last, after a blank line, because the code that compares requests expects this.
    sent = "\n\n".join([*map(_spoken, items), parameters])
    results = ((_call_id(each), "\n".join(_texts(each))) for each in items if _call_id(each))
    return ModelRequest(
        "\n\n".join(text for each in items for text in _texts(each)), sent, tuple(results)
    )


def reply_in(body: Entries, *, is_partial: bool = False) -> ModelReply:
    """Returns the content of a reply. ``is_partial``: True if the stream of the reply was not read to
    its end."""
    choices = [_entries(each) for each in _several(body.get("choices"))]
    messages = [_entries(each.get("message") or each) for each in choices] or [
        _entries(each) for each in _several(body.get("output"))
    ]
    several = [_answer_of(each) for each in messages]
    # Applications use the first of several choices. Of a response (in the Responses API), they use all
    # text items.
    text = several[0] if choices else "".join(several)
    calls = tuple(call for each in messages for call in _calls(each))
    said = Said(
        text,
        reason_in(body),
        calls=not all(each.by_provider for each in calls),
        refuses=any(map(_refuses, messages)),
        more=any(each.get("audio") or "image" in str(each.get("type")) for each in messages),
        reports=not is_partial,
        called=tuple(each.call for each in calls),
        run_elsewhere=tuple(each.call for each in calls if each.by_provider),
    )
    named = [_described(each) for each in calls]
    model = body.get("model")
    return ModelReply(
        said,
        "\n".join(["assistant:", text, *named]),
        calls,
        str(model or ""),
        tokens_in(body.get("usage")),
    )


def plain(given: Any) -> Any:
    """Returns the body of a raw response, or the fields of an object of the client, as JSON-like data.

    Any other object is returned unchanged.
    """
    http = getattr(given, "http_response", None)
    if http is not None:
        # The body of a stream cannot be read as JSON; only the application may read it.
        with suppress(Exception):
            return http.json()
    dump = getattr(given, "model_dump", None)
    return given if dump is None else dump(warnings=False)


@dataclass(slots=True)
class Streamed:
    """This class joins the chunks of a streamed reply.

    ``is_partial``: True until the stream is read to its end, or to an event after which nothing comes.
    """

    is_partial: bool = True

    _whole: dict[str, Any] = field(default_factory=dict[str, Any])
    _texts: dict[str, str] = field(default_factory=dict[str, str])
    _calls: dict[int, dict[str, str]] = field(default_factory=dict[int, dict[str, str]])
    _items: dict[int, Any] = field(default_factory=dict[int, Any])
    _reason: str | None = None

    @property
    def arguments(self) -> list[str]:
        """Returns the arguments of the tool calls so far, as the model wrote them."""
        listed = [*self._calls.values(), *map(_entries, self._items.values())]
        return [str(each["arguments"]) for each in listed if "arguments" in each]

    def take(self, chunk: Any) -> str:
        """Adds the next chunk, and returns the text in the chunk."""
        body = _entries(plain(chunk))
        if "type" in body:
            # In the Responses API, some events, such as the first and the last, contain the whole
            # response up to that moment.
            self._whole.update(_entries(body.get("response")))
            if body.get("item") is not None:
                self._items[body.get("output_index") or 0] = body["item"]
            self.is_partial = self.is_partial and body["type"] not in _LAST
            return str(body["delta"]) if body["type"] == "response.output_text.delta" else ""
        self._whole.update({key: body[key] for key in ("model", "usage") if body.get(key)})
        choices = map(_entries, _several(body.get("choices")))
        first = next((each for each in choices if not each.get("index")), _entries(None))
        self._reason = first.get("finish_reason") or self._reason
        delta = _entries(first.get("delta") or {"content": first.get("text")})
        for key in ("content", "refusal"):
            self._texts[key] = self._texts.get(key, "") + (delta.get(key) or "")
        former = [{"function": each} for each in _several(delta.get("function_call"))]
        for call in [*_several(delta.get("tool_calls")), *former]:
            known = self._calls.setdefault(
                call.get("index") or 0, {"id": "", "name": "", "arguments": ""}
            )
            custom = _entries(call.get("custom"))
            parts = {"id": call.get("id"), "arguments": custom.get("input"), **custom}
            parts.update(_entries(call.get("function")))
            known.update({key: known[key] + (parts.get(key) or "") for key in known})
        return delta.get("content") or ""

    def reply(self) -> ModelReply:
        """Returns the reply that consists of the chunks added so far."""
        return reply_in(self._joined(), is_partial=self.is_partial)

    def _joined(self) -> Entries:
        if not self._texts:
            status = None if self.is_partial else self._whole.get("status")
            output = self._whole.get("output") or [*self._items.values()]
            return {**self._whole, "output": output, "status": status}
        calls = [{"id": each["id"], "function": each} for each in self._calls.values()]
        message = {**self._texts, "tool_calls": calls}
        return {**self._whole, "choices": [{"message": message, "finish_reason": self._reason}]}


def _several(given: Any) -> list[Any]:
    return cast("list[Any]", given) if isinstance(given, list) else [] if given is None else [given]


def _entries(given: Any) -> Entries:
    return cast("Entries", given) if isinstance(given, Mapping) else {}


def _texts(given: Any) -> Iterator[str]:
    """Yields every text in a message, at any depth. Ids, names and the arguments of tool calls are
    left out."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for key, value in cast("Entries", given).items():
            if key not in _NO_TEXT:
                yield from _texts(value)
    elif isinstance(given, list):
        for value in cast("list[Any]", given):
            yield from _texts(value)


def _spoken(item: Any) -> str:
    entries = _entries(item)
    calls = map(_described, _calls(entries))
    head = " ".join(filter(None, (entries.get("role") or entries.get("type"), entries.get("name"))))
    return "\n".join([f"{head or 'user'}:", *_texts(item), *calls])


def _calls(message: Entries) -> Iterator[Called]:
    built_in = built_in_call(message)
    if built_in is not None:
        yield Called(*built_in)
        return
    is_item = str(message.get("type")).endswith(("function_call", "custom_tool_call"))
    former = [{"function": each} for each in _several(message.get("function_call"))]
    for call in [message] if is_item else [*_several(message.get("tool_calls")), *former]:
        entries = {**call, **_entries(call.get("function") or call.get("custom"))}
        arguments = entries.get("arguments") or entries.get("input") or ""
        identity = str(call.get("call_id") or call.get("id") or "")
        yield Called(identity, ToolCall.written(entries.get("name"), arguments))


def _described(called: Called) -> str:
    return described((called.call.name, called.call.arguments))


def _call_id(item: Any) -> str:
    """Returns the id of the tool call of which the item is the result; an empty text for other items."""
    entries = _entries(item)
    is_output = str(entries.get("type")).endswith("call_output")
    return str(entries.get("tool_call_id") or (entries.get("call_id") if is_output else "") or "")


def _answer_of(message: Entries) -> str:
    """Returns the text of one item of a reply; an empty text if the item is a model's reasoning or a tool
    call."""
    if message.get("type") not in {None, "message"}:
        return ""
    content = message.get("content") or message.get("text") or ""
    parts = (_entries(each) for each in _several(content) if not isinstance(each, str))
    return content if isinstance(content, str) else "".join(str(each.get("text") or "") for each in parts)


def _refuses(message: Entries) -> bool:
    parts = [_entries(each) for each in _several(message.get("content"))]
    return bool(message.get("refusal")) or any(each.get("refusal") for each in parts)
