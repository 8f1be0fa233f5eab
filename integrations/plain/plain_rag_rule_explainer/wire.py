"""What requests of OpenAI's protocols and their replies say: chat completions and responses."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from rag_rule_explainer.instrumentation.copies.copying import described
from rag_rule_explainer.instrumentation.engine import Said, reason_in
from rag_rule_explainer.instrumentation.requests.client_watch import Asked, Called, Reply

_SHOWN = ("instructions", "prompt", "messages", "input")
"""What of a request's body a model is shown; all else says how it is to reply."""
_OF_TRANSPORT = frozenset({"stream", "stream_options", *_SHOWN})
_NO_TEXT = frozenset(
    {"role", "type", "id", "call_id", "tool_call_id", "name", "status", "arguments", "tool_calls"}
)
_COUNTS = {
    "input_tokens": ("prompt_tokens", "input_tokens"),
    "output_tokens": ("completion_tokens", "output_tokens"),
    "total_tokens": ("total_tokens",),
}
Entries = Mapping[str, Any]


def asked_in(body: Entries) -> Asked:
    """Returns what the body of a request asks."""
    items = [plain(each) for key in _SHOWN for each in _several(body.get(key))]
    parameters = described({key: each for key, each in body.items() if key not in _OF_TRANSPORT})
    # A reader of conversations finds the parameters after the last blank line.
    sent = "\n\n".join([*map(_spoken, items), parameters])
    results = ((_call_id(each), "\n".join(_texts(each))) for each in items if _call_id(each))
    return Asked("\n\n".join(text for each in items for text in _texts(each)), sent, tuple(results))


def reply_in(told: Entries, *, is_left: bool = False) -> Reply:
    """Returns what a reply says. ``is_left``: nobody read its stream to the end."""
    choices = [_entries(each) for each in _several(told.get("choices"))]
    messages = [_entries(each.get("message") or each) for each in choices] or [
        _entries(each) for each in _several(told.get("output"))
    ]
    several = [_answer_of(each) for each in messages]
    # Of several choices, applications take the first; of several items of a response, all that are text.
    text = several[0] if choices else "".join(several)
    calls = tuple(call for each in messages for call in _calls(each))
    said = Said(
        text,
        reason_in(told),
        calls=bool(calls),
        refuses=any(map(_refuses, messages)),
        more=any(each.get("audio") or "image" in str(each.get("type")) for each in messages),
        reports=not is_left,
    )
    named = [described((call.name, call.arguments)) for call in calls]
    model = told.get("model")
    return Reply(
        said, "\n".join(["assistant:", text, *named]), calls, str(model or ""), _spent(told.get("usage"))
    )


def plain(given: Any) -> Any:
    """Returns an object of the client's as JSON-like data: a raw response's body, a model's fields."""
    http = getattr(given, "http_response", None)
    if http is not None:
        with suppress(Exception):  # its body may be a stream, which is the application's to read
            return http.json()
    dump = getattr(given, "model_dump", None)
    return given if dump is None else dump(warnings=False)


@dataclass(slots=True)
class Streamed:
    """This class puts the chunks of a streamed reply together. ``is_left``: not read to its end."""

    is_left: bool = True

    _whole: dict[str, Any] = field(default_factory=dict[str, Any])
    _texts: dict[str, str] = field(default_factory=dict[str, str])
    _calls: dict[int, dict[str, str]] = field(default_factory=dict[int, dict[str, str]])
    _reason: str | None = None

    def take(self, chunk: Any) -> str:
        """Takes the next chunk, and returns the text that it brings."""
        told = _entries(plain(chunk))
        if "type" in told:
            # Events of the Responses API: the first one and the last ones bring all that is known.
            self._whole.update(_entries(told.get("response")))
            return str(told["delta"]) if told["type"] == "response.output_text.delta" else ""
        self._whole.update({key: told[key] for key in ("model", "usage") if told.get(key)})
        choices = map(_entries, _several(told.get("choices")))
        first = next((each for each in choices if not each.get("index")), _entries(None))
        self._reason = first.get("finish_reason") or self._reason
        delta = _entries(first.get("delta") or {"content": first.get("text")})
        for key in ("content", "refusal"):
            self._texts[key] = self._texts.get(key, "") + (delta.get(key) or "")
        for call in _several(delta.get("tool_calls")):
            known = self._calls.setdefault(
                call.get("index") or 0, {"id": "", "name": "", "arguments": ""}
            )
            told = {"id": call.get("id"), **_entries(call.get("function"))}
            known.update({key: known[key] + (told.get(key) or "") for key in known})
        return delta.get("content") or ""

    def reply(self) -> Reply:
        """Returns all that came by now, as a reply that came at once."""
        return reply_in(self._as_one(), is_left=self.is_left)

    def _as_one(self) -> Entries:
        if not self._texts:
            return self._whole
        calls = [{"id": each["id"], "function": each} for each in self._calls.values()]
        message = {**self._texts, "tool_calls": calls}
        return {**self._whole, "choices": [{"message": message, "finish_reason": self._reason}]}


def _several(given: Any) -> list[Any]:
    return cast("list[Any]", given) if isinstance(given, list) else [] if given is None else [given]


def _entries(given: Any) -> Entries:
    return cast("Entries", given) if isinstance(given, Mapping) else {}


def _texts(given: Any) -> Iterator[str]:
    """Yields every text in a message, however its parts are nested; not what a model wrote in calls."""
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
    told = _entries(item)
    calls = (described((call.name, call.arguments)) for call in _calls(told))
    head = " ".join(filter(None, (told.get("role") or told.get("type"), told.get("name"))))
    return "\n".join([f"{head or 'user'}:", *_texts(item), *calls])


def _calls(message: Entries) -> Iterator[Called]:
    is_item = str(message.get("type")).endswith(("function_call", "custom_tool_call"))
    for call in [message] if is_item else _several(message.get("tool_calls")):
        told = {**call, **_entries(call.get("function") or call.get("custom"))}
        arguments = told.get("arguments") or told.get("input") or ""
        yield Called(str(call.get("call_id") or call.get("id")), str(told.get("name")), str(arguments))


def _call_id(item: Any) -> str:
    """Returns the id of the call whose result an item is; empty for any other item."""
    told = _entries(item)
    is_output = str(told.get("type")).endswith("call_output")
    return str(told.get("tool_call_id") or (told.get("call_id") if is_output else "") or "")


def _answer_of(message: Entries) -> str:
    """Returns the text of a reply's message; nothing for reasoning and calls."""
    if message.get("type") not in {None, "message"}:
        return ""
    content = message.get("content") or message.get("text") or ""
    parts = (_entries(each) for each in _several(content) if not isinstance(each, str))
    return content if isinstance(content, str) else "".join(str(each.get("text") or "") for each in parts)


def _refuses(message: Entries) -> bool:
    parts = [_entries(each) for each in _several(message.get("content"))]
    return bool(message.get("refusal")) or any(each.get("refusal") for each in parts)


def _spent(usage: Any) -> dict[str, int]:
    told = _entries(usage)
    spent = {
        kind: next((told[name] for name in names if told.get(name)), 0) for kind, names in _COUNTS.items()
    }
    details = (_entries(told.get(name)) for name in ("prompt_tokens_details", "input_tokens_details"))
    cached = next((each["cached_tokens"] for each in details if each.get("cached_tokens")), 0)
    spent |= {"cached_input_tokens": cached} if cached else {}
    return spent if any(spent.values()) else {}
