"""This module finds what a recorded request to a model holds beside its texts. A replay sends texts
alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from .bounds import as_data
from .messages import content_text, numbered_items

_CALLS = frozenset({"tool_calls", "function_call", "tool_call"})
_OFFERED = frozenset({"tools", "functions"})
_PARTS = frozenset({"content", "contents", "parts", "blocks"})
_TEXTS = frozenset({"text", "input_text", "output_text"})
_DEEPEST = 12


def besides_texts(given: Any) -> str:
    """Returns what a request holds that is no text, in words; empty if there is nothing of that kind."""
    return next(_unread(as_data(given), 0), "")


def _unread(given: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(given, Mapping):
        for key, value in cast("Mapping[str, Any]", given).items():
            if key in _CALLS and value:
                yield "calls of tools"
            if key in _OFFERED and value:
                yield "tools that the model could call"
            if key in _PARTS and not all(_is_text(each) for each in numbered_items(value) or ()):
                yield "parts that are no texts, such as pictures"
            yield from _unread(value, depth + 1)
    elif isinstance(given, (list, tuple)):
        for each in cast("Sequence[Any]", given):
            yield from _unread(each, depth + 1)


def _is_text(part: Any) -> bool:
    if isinstance(part, Mapping):
        fields = cast("Mapping[str, Any]", part)
        inside = fields.get("message_content")
        if isinstance(inside, Mapping):
            return _is_text(inside)
        kind = fields.get("type", fields.get("block_type", "text"))
        if not isinstance(kind, str) or kind.casefold() not in _TEXTS:
            return False
    return content_text(part) is not None
