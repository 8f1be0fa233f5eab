"""This module reads the text of a part of a tool's result, and makes parts with empty texts."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from typing import Any, cast

from ..clients.fields import fields_of, with_fields

PLAIN = (int, float, bool, type(None))
"""A list whose items all have these types is not divided into parts, because a single item, such as one
number of a vector, has no meaning alone."""
_COLLECTIONS: tuple[Callable[[], Any], ...] = (list, tuple, dict, set, frozenset, bytes)


def read_json(text: str) -> Any:
    """Returns the value that the text contains as JSON; None if the text is not JSON."""
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def text_block(item: Any) -> Mapping[str, Any] | None:
    """Returns the item if it is a block of text in a message's content, such as ``{"type": "text",
    "text": "hi"}``; None for any other item."""
    if not isinstance(item, Mapping):
        return None
    block = cast("Mapping[str, Any]", item)
    return block if block.get("type") == "text" and isinstance(block.get("text"), str) else None


def text_of_part(value: Any) -> str:
    """Returns the text of a part: the part itself if it is a text, the text in a block of text, or any
    other part as JSON."""
    if isinstance(value, str):
        return value
    block = text_block(value)
    return block["text"] if block is not None else _as_json_text(value)


def _as_json_text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return list(cast("set[Any]", value)) if isinstance(value, (set, frozenset)) else str(value)


def blanked(value: Any) -> Any:
    """Returns the value with the same keys or fields, but with empty values: ``{"to": "Ann", "n": 2}``
    becomes ``{"to": "", "n": None}``. A text that is a JSON object is blanked in the same way, and stays
    a text."""
    if isinstance(value, str):
        inner = read_json(value) if value.lstrip().startswith("{") else None
        return json.dumps(blanked(inner), ensure_ascii=False) if isinstance(inner, dict) else ""
    block = text_block(value)
    if block is not None:
        return {**block, "text": ""}
    if isinstance(value, Mapping):
        return {key: blanked(each) for key, each in cast("Mapping[Any, Any]", value).items()}
    kind = cast("Any", type(value))
    if hasattr(kind, "model_fields") or is_dataclass(kind):
        # A user's class may raise any error when an object of it is read or copied.
        with suppress(Exception):
            fields = fields_of(value) or {}
            if fields.get("type") == "text" and isinstance(fields.get("text"), str):
                return with_fields(value, text="")
            return with_fields(value, **{str(name): blanked(each) for name, each in fields.items()})
    return emptied(value) if not isinstance(value, PLAIN) else None


def emptied(value: Any) -> Any:
    """Returns an empty value of the same type, such as ``[]`` for a list, or "{}" for a text that is a
    JSON object. Returns an empty text if the type has no empty value."""
    if isinstance(value, str):
        is_object = value.lstrip().startswith("{") and isinstance(read_json(value), dict)
        return "{}" if is_object else ""
    return next((kind() for kind in _COLLECTIONS if type(value) is kind), "")
