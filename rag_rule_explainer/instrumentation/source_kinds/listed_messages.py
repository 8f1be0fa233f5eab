"""This module reads the messages of a conversation in a list of any application. Messages may be those of
frameworks, dicts, tuples of a role and a text, pairs of a question and its reply, or single texts."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, cast

_ROLES = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "assistant": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "function_call": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "function_call_output": "tool",
}
TEXTS = ("content", "text", "output", "blocks")
"""The fields of a message that may hold its text."""
_PAIR = ("user", "assistant")


class Spoken(NamedTuple):
    """A ``Spoken`` is a message in a list. ``role``: "user", "assistant", "system" or "tool", whatever
    the framework calls it; empty if the list does not say who wrote the message. ``text``: the text of
    the message without spaces and line ends, because frameworks join the parts of a text differently."""

    role: str
    text: str

    def is_like(self, other: "Spoken") -> bool:
        """Returns True iff this message and ``other`` may be the same message: their texts are equal, and
        their roles are equal too, or the role of this message is unknown."""
        return self.text == other.text and (not self.role or self.role == other.role)


def as_spoken(role: str, text: str) -> Spoken:
    """Returns the message with this role and text as a ``Spoken``, so that it can be compared with the
    messages in a list."""
    return Spoken(_ROLES.get(role.lower(), role.lower()), "".join(text.split()))


def spoken_in(element: Any) -> tuple[Spoken, ...]:
    """Returns the messages in one element of a list: one message, or two in a pair of a question and its
    reply. Returns an empty tuple for any other element."""
    if isinstance(element, str):
        return (Spoken("", "".join(element.split())),)
    pair = _texts_of_a_pair(element)
    if pair is not None:
        if pair[0].lower() in _ROLES and not isinstance(element, Mapping):
            return (as_spoken(*pair),)
        return tuple(as_spoken(role, text) for role, text in zip(_PAIR, pair, strict=True))
    role, text = _field(element, "role") or _field(element, "type"), _text_of(element)
    role = getattr(role, "value", role)
    return (as_spoken(role, text),) if isinstance(role, str) and text is not None else ()


def without_text(element: Any) -> Any:
    """Returns a copy of a list's element with empty texts; None if no such copy can be made."""
    if isinstance(element, str):
        return ""
    pair = _texts_of_a_pair(element)
    if isinstance(element, Mapping):
        fields = cast("Mapping[Any, Any]", element)
        names = [*fields] if pair is not None else [each for each in TEXTS if each in fields]
        return {**fields, **dict.fromkeys(names, "")}
    if pair is not None:
        kept = pair[0] if pair[0].lower() in _ROLES else ""
        return type(element)((kept, ""))
    return with_text(element, "")


def with_text(element: Any, text: str) -> Any:
    """Returns a copy of a message with another text; None if no such copy can be made."""
    if isinstance(element, Mapping):
        fields = cast("Mapping[Any, Any]", element)
        name = next((each for each in TEXTS if each in fields), None)
        return None if name is None else {**fields, name: text}
    pair = _texts_of_a_pair(element)
    if pair is not None:
        return type(element)((pair[0], text))
    try:
        made = copy(element)
        made.content = text
    except Exception:  # the application's own class may raise any error here
        return None
    return made if _text_of(made) == text and _text_of(element) is not None else None


def listed_text(element: Any) -> str:
    """Returns the text of a message, unchanged; empty if the message has no text."""
    pair = _texts_of_a_pair(element)
    return (pair[1] if pair is not None else _text_of(element)) or ""


def _texts_of_a_pair(element: Any) -> tuple[str, str] | None:
    """Returns the two texts of an element that consists of two texts, such as ``("Hi", "Hello")``; None
    for any other element."""
    given: Any = element
    if isinstance(element, Mapping):
        fields = cast("Mapping[Any, Any]", element)
        given = () if {"role", "type"} & set(fields) else tuple(fields.values())
    if isinstance(given, (tuple, list)):
        parts = cast("Sequence[Any]", given)
        if len(parts) == len(_PAIR) and all(isinstance(each, str) for each in parts):
            return parts[0], parts[1]
    return None


def _text_of(element: Any) -> str | None:
    for name in TEXTS:
        content = _field(element, name)
        if isinstance(content, str):
            return content
        if isinstance(content, (list, tuple)):
            parts = cast("Sequence[Any]", content)
            texts = (each if isinstance(each, str) else _field(each, "text") for each in parts)
            return "".join(each for each in texts if isinstance(each, str))
    is_call = _field(element, "type") == "function_call" or bool(_field(element, "tool_calls"))
    return "" if is_call else None


def _field(element: Any, name: str) -> Any:
    if isinstance(element, Mapping):
        return cast("Mapping[Any, Any]", element).get(name)
    return None if isinstance(element, (str, int, float, type)) else getattr(element, name, None)
