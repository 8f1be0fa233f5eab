"""This module reads messages of chats, in all forms in which tracers write them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from .bounds import as_data
from .spans import TracedMessage

_ROLES = {
    "human": "user",
    "humanmessage": "user",
    "user": "user",
    "ai": "assistant",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "assistant": "assistant",
    "chatbot": "assistant",
    "model": "assistant",
    "system": "system",
    "systemmessage": "system",
    "developer": "system",
    "tool": "tool",
    "toolmessage": "tool",
    "function": "tool",
}
_CONTENT = ("content", "contents", "parts", "blocks", "text")
_DEEPEST = 6


def message_in(given: Any, depth: int = 0) -> TracedMessage | None:
    """Returns the role and the text of a message; None for any other value.

    The message may be a dict with a role, LangChain's serialised message, OpenInference's ``message``, or
    a pair such as ["human", "text"]. ``depth``: how deeply ``given`` is nested in the value that is read.
    """
    if isinstance(given, (list, tuple)):
        pair = cast("Sequence[Any]", given)
        role = _role(pair[0]) if len(pair) == 2 else None
        return (role, pair[1]) if role and isinstance(pair[1], str) else None
    if depth > _DEEPEST or not isinstance(given, Mapping):
        return None
    fields = cast("Mapping[str, Any]", given)
    inside = fields.get("message")
    if isinstance(inside, Mapping) and "role" not in fields:
        return message_in(inside, depth + 1)
    for key in ("kwargs", "data"):
        inside = fields.get(key)
        if isinstance(inside, Mapping) and "content" in inside:
            named = _role(_last(fields.get("id"))) or _role(fields.get("type"))
            return message_in({"type": named, **cast("Mapping[str, Any]", inside)}, depth + 1)
    role = _role(fields.get("role")) or _role(fields.get("type"))
    if role is None:
        return None
    text = next((said for key in _CONTENT if (said := content_text(fields.get(key))) is not None), "")
    return role, text


def content_text(content: Any) -> str | None:
    """Returns the text of a message. ``content``: the content of the message, which is a text, or a list
    of parts whose texts are joined. Returns None for any other value."""
    if isinstance(content, str):
        return content
    items = numbered_items(content)
    if items is not None:
        parts = [content_text(each) for each in items]
        found = [each for each in parts if each is not None]
        return "\n".join(found) if found or not items else None
    if isinstance(content, Mapping):
        given = cast("Mapping[str, Any]", content)
        texts = [given.get(key) for key in ("text", "content")]
        inside = given.get("message_content")
        plain = next((each for each in texts if isinstance(each, str)), None)
        return content_text(inside) if plain is None and isinstance(inside, Mapping) else plain
    return None


def numbered_items(given: Any) -> list[Any] | None:
    """Returns the items of a list, also if it is written as an object whose keys are numbers, as
    OpenInference's attributes are; None for any other value."""
    if isinstance(given, (list, tuple)):
        return list(cast("Sequence[Any]", given))
    if not isinstance(given, Mapping) or not given:
        return None
    fields = {str(key): value for key, value in cast("Mapping[Any, Any]", given).items()}
    if not all(key.isascii() and key.isdigit() and len(key) < 9 for key in fields):
        return None
    return [fields[key] for key in sorted(fields, key=int)]


def messages_in(given: Any) -> tuple[TracedMessage, ...]:
    """Returns the messages in a list of messages, or in a list whose only item is such a list. Returns
    none for any other value, and if an item of the list is no message."""
    given = as_data(given)
    if not isinstance(given, (list, tuple)):
        return ()
    items = cast("Sequence[Any]", given)
    if len(items) == 1 and isinstance(items[0], (list, tuple)) and not message_in(items[0]):
        items = cast("Sequence[Any]", items[0])
    found = [message_in(each) for each in items]
    return tuple(each for each in found if each is not None) if all(found) else ()


def turn_begins_at(messages: Sequence[TracedMessage]) -> int:
    """Returns the index (from 0) of the first message after the assistant's last one; 0 if there is no
    message of the assistant. The messages before it are the earlier conversation."""
    return max((place for place, (role, _) in enumerate(messages, 1) if role == "assistant"), default=0)


def has_calls(given: Any) -> bool:
    """Returns True iff any message in a list calls a tool, or is the result of one."""
    return any(role == "tool" for role, _ in messages_in(given)) or any(_calls(as_data(given), 0))


def _calls(given: Any, depth: int) -> Iterator[bool]:
    if depth > _DEEPEST:
        return
    if isinstance(given, Mapping):
        for key, value in cast("Mapping[str, Any]", given).items():
            yield key in {"tool_calls", "function_call", "tool_call"} and bool(value)
            yield from _calls(value, depth + 1)
    elif isinstance(given, (list, tuple)):
        for each in cast("Sequence[Any]", given):
            yield from _calls(each, depth + 1)


def traced_reply(given: Any) -> str | None:
    """Returns the text of a model's reply in the output of its span; None if it cannot be read. If the
    output is a text, this text is the reply, even if it is JSON."""
    for _ in range(_DEEPEST):
        if isinstance(given, str):
            return given
        if isinstance(given, (list, tuple)):
            items = cast("Sequence[Any]", given)
            given = items[0] if len(items) == 1 else None
            continue
        message = message_in(given)
        if message is not None:
            return message[1]
        if not isinstance(given, Mapping):
            return None
        fields = cast("Mapping[str, Any]", given)
        keys = (
            "generations",
            "choices",
            "message",
            "messages",
            "output",
            "text",
            "content",
            "completion",
        )
        given = next((fields[key] for key in keys if fields.get(key) is not None), None)
    return None


def _role(given: Any) -> str | None:
    return _ROLES.get(given.casefold()) if isinstance(given, str) else None


def _last(given: Any) -> Any:
    return cast("Sequence[Any]", given)[-1] if isinstance(given, list) and given else cast("Any", given)
