"""This module reads requests and replies in OpenAI's protocols, chat completions and responses, and in
Ollama's."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from rag_rule_explainer.instrumentation.clients.fields import mapping_in
from rag_rule_explainer.instrumentation.copies.copying import described
from rag_rule_explainer.instrumentation.engine import Said, ToolCall, reason_in
from rag_rule_explainer.instrumentation.requests.built_in_calls import BuiltInTypes
from rag_rule_explainer.instrumentation.requests.client_watch import Called, ModelReply, ModelRequest
from rag_rule_explainer.instrumentation.requests.json_parts import items_of_list, texts_within
from rag_rule_explainer.instrumentation.requests.reported_tokens import reported_tokens

_LAST = frozenset({"response.completed", "response.incomplete"})
"""The types of the last event of a streamed response. A stream that was read up to such an event is
complete, even if the application does not read on."""
KEYS_SHOWN = dict.fromkeys(("instructions", "system", "prompt", "messages", "input")).keys()
"""Keys of a request's body whose content the model reads. The other keys hold parameters."""
_OF_TRANSPORT = frozenset({"stream", "stream_options", *KEYS_SHOWN})
_NO_TEXT = frozenset(
    {"role", "type", "id", "call_id", "tool_call_id", "name", "status", "arguments", "tool_calls"}
)
_BUILT_IN = BuiltInTypes(
    over_mcp=frozenset({"mcp_call"}),
    by_provider=frozenset(
        {"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
    ),
    by_application=frozenset({"computer_call", "local_shell_call", "shell_call", "apply_patch_call"}),
    told=("action", "operation", "query", "queries", "code"),
    untold=frozenset({"sources"}),
)
_TOKENS = {
    "input_tokens": ("prompt_tokens", "input_tokens"),
    "output_tokens": ("completion_tokens", "output_tokens"),
    "total_tokens": ("total_tokens",),
}
_CACHED = {
    "cached_input_tokens": tuple(f"{kind}_tokens_details.cached_tokens" for kind in ("prompt", "input"))
}
Entries = Mapping[str, Any]


def asked_in(body: Entries) -> ModelRequest:
    """Returns the texts, the parameters and the tool results in the body of a request."""
    items = [plain(each) for key in KEYS_SHOWN for each in items_of_list(body.get(key))]
    parameters = described({key: each for key, each in body.items() if key not in _OF_TRANSPORT})
    # The parameters come last, after a blank line, because the code that compares requests expects this.
    sent = "\n\n".join([*map(_spoken, items), parameters])
    results = (
        (_call_id(each), "\n".join(texts_within(each, _NO_TEXT))) for each in items if _call_id(each)
    )
    return ModelRequest(
        "\n\n".join(text for each in items for text in texts_within(each, _NO_TEXT)), sent, tuple(results)
    )


def reply_in(body: Entries, *, is_partial: bool = False) -> ModelReply:
    """Returns the content of a reply. ``is_partial``: True if the stream of the reply was not read to
    its end."""
    body = _as_choices(body)
    choices = [mapping_in(each) for each in items_of_list(body.get("choices"))]
    messages = [mapping_in(each.get("message") or each) for each in choices] or [
        mapping_in(each) for each in items_of_list(body.get("output"))
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
        reported_tokens(body.get("usage"), _TOKENS, _CACHED),
    )


def _as_choices(body: Entries) -> Entries:
    """Returns a reply or a chunk of Ollama in the form of a chat completion; others unchanged."""
    if "done" not in body:
        return body
    message = dict(mapping_in(body.get("message")) or {"content": body.get("response")})
    calls = enumerate(items_of_list(message.get("tool_calls")))
    message["tool_calls"] = [{**mapping_in(each), "index": place} for place, each in calls]
    # Older releases of Ollama send no ``done_reason``.
    reason = body.get("done_reason") or ("stop" if body["done"] else None)
    counts = {"prompt_tokens": body.get("prompt_eval_count"), "completion_tokens": body.get("eval_count")}
    choice = {"message": message, "delta": message, "finish_reason": reason}
    return {**body, "choices": [choice], "usage": {key: n for key, n in counts.items() if n}}


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
        listed = [*self._calls.values(), *map(mapping_in, self._items.values())]
        return [str(each["arguments"]) for each in listed if "arguments" in each]

    def take(self, chunk: Any) -> str:
        """Adds the next chunk, and returns the text in the chunk."""
        body = _as_choices(mapping_in(plain(chunk)))
        self.is_partial = self.is_partial and not body.get("done")
        if "type" in body:
            # In the Responses API, some events, such as the first and the last, contain the whole
            # response up to that moment.
            self._whole.update(mapping_in(body.get("response")))
            if body.get("item") is not None:
                self._items[body.get("output_index") or 0] = body["item"]
            self.is_partial = self.is_partial and body["type"] not in _LAST
            return str(body["delta"]) if body["type"] == "response.output_text.delta" else ""
        self._whole.update({key: body[key] for key in ("model", "usage") if body.get(key)})
        choices = map(mapping_in, items_of_list(body.get("choices")))
        first = next((each for each in choices if not each.get("index")), mapping_in(None))
        self._reason = first.get("finish_reason") or self._reason
        delta = mapping_in(first.get("delta") or {"content": first.get("text")})
        for key in ("content", "refusal"):
            self._texts[key] = self._texts.get(key, "") + (delta.get(key) or "")
        former = [{"function": each} for each in items_of_list(delta.get("function_call"))]
        for call in [*items_of_list(delta.get("tool_calls")), *former]:
            known = self._calls.setdefault(
                call.get("index") or 0, {"id": "", "name": "", "arguments": ""}
            )
            custom = mapping_in(call.get("custom"))
            parts = {"id": call.get("id"), "arguments": custom.get("input"), **custom}
            parts.update(mapping_in(call.get("function")))
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


def _spoken(item: Any) -> str:
    entries = mapping_in(item)
    calls = map(_described, _calls(entries))
    head = " ".join(filter(None, (entries.get("role") or entries.get("type"), entries.get("name"))))
    return "\n".join([f"{head or 'user'}:", *texts_within(item, _NO_TEXT), *calls])


def _calls(message: Entries) -> Iterator[Called]:
    built_in = _BUILT_IN.call_in(message)
    if built_in is not None:
        yield Called(*built_in)
        return
    is_item = str(message.get("type")).endswith(("function_call", "custom_tool_call"))
    former = [{"function": each} for each in items_of_list(message.get("function_call"))]
    for call in [message] if is_item else [*items_of_list(message.get("tool_calls")), *former]:
        entries = {**call, **mapping_in(call.get("function") or call.get("custom"))}
        arguments = entries.get("arguments") or entries.get("input") or ""
        identity = str(call.get("call_id") or call.get("id") or "")
        yield Called(identity, ToolCall.written(entries.get("name"), arguments))


def _described(called: Called) -> str:
    return described((called.call.name, called.call.arguments))


def _call_id(item: Any) -> str:
    """Returns the id of the tool call whose result the item is; an empty text if the item is no result of
    a tool."""
    entries = mapping_in(item)
    is_output = str(entries.get("type")).endswith("call_output")
    return str(entries.get("tool_call_id") or (entries.get("call_id") if is_output else "") or "")


def _answer_of(message: Entries) -> str:
    """Returns the text of one item of a reply; an empty text if the item is a model's reasoning or a tool
    call."""
    if message.get("type") not in {None, "message"}:
        return ""
    content = message.get("content") or message.get("text") or ""
    parts = (mapping_in(each) for each in items_of_list(content) if not isinstance(each, str))
    return content if isinstance(content, str) else "".join(str(each.get("text") or "") for each in parts)


def _refuses(message: Entries) -> bool:
    parts = [mapping_in(each) for each in items_of_list(message.get("content"))]
    return bool(message.get("refusal")) or any(each.get("refusal") for each in parts)
