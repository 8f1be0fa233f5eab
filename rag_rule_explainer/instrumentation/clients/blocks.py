"""This module pairs the content blocks of a tool's result with its structured content."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from ...errors import InvalidInput
from ...given import Given
from .reading import field_of, is_listed, mapping_in, read_fields, with_fields

CANNOT_BE_CUT = (
    "the structured content of a tool's result is not about its content blocks one by one, so it cannot "
    "be cut as they are. Gate the function that makes documents of it, or pass gate(call, "
    "items_of=ItemsOf(take_apart, put_together)) from rag_rule_explainer.instrumentation.clients"
)


class Block(NamedTuple):
    """A ``Block`` holds a content block. ``structured``: its part of the structured content, or None."""

    block: Any
    structured: Any = None


def paired(blocks: Sequence[Any], structured: Any) -> list[Block]:
    """Returns each block with its part of the structured content.

    Raises InvalidInput if the structured content has no part for each block.
    """
    key = _list_of(len(blocks), structured)
    if key is not None:
        return [Block(*pair) for pair in zip(blocks, structured[key], strict=True)]
    if structured is not None and len(blocks) > 1:
        raise InvalidInput(CANNOT_BE_CUT)
    return [Block(block, structured) for block in blocks]


def structured_of(row: Sequence[Block], blocks: Sequence[Any], structured: Any) -> tuple[list[Any], Any]:
    """Returns the blocks of ``row`` and their structured content, in the form of ``structured``.

    ``blocks``, ``structured``: those of the original response. Fields beside the list of parts stay.
    """
    own = [each.block for each in row]
    key = _list_of(len(blocks), structured)
    if key is not None:
        return own, {**structured, key: [each.structured for each in row]}
    if row or not _is_one_text(structured) or not blocks:
        return own, row[0].structured if row else None
    # The structured content of such a tool needs a text, so an empty result is an empty text.
    return [with_fields(blocks[0], text="")], dict.fromkeys(structured, "")


def read_block(block: Any) -> Given | None:
    """Returns the text of a content block, which is an object or a dict. A link to a resource has the
    words that describe the resource."""
    if isinstance(block, str):
        return Given(block, None, {})
    inside = field_of(block, "resource")
    holder = block if inside is None else inside
    uri = field_of(holder, "uri") or field_of(holder, "url")
    text = field_of(holder, "text")
    if text is None and uri is not None and field_of(holder, "blob") is None:
        words = (field_of(holder, name) for name in ("description", "title", "name"))
        text = next((each for each in words if each), str(uri))
    fields = _object_in(text)
    read = None if fields is None else read_fields(fields)
    if read is not None and isinstance(read.text, str):
        return read
    metadata = mapping_in(field_of(block, "meta") or field_of(block, "_meta"))
    named = metadata.get("id") or (field_of(block, "id") if uri is None else str(uri))
    return Given(text, named, metadata)


def _object_in(text: object) -> Mapping[str, Any] | None:
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, Any]", parsed) if isinstance(parsed, dict) else None


def _list_of(size: int, structured: Any) -> str | None:
    """Returns the key of the only list with ``size`` items; None if there is not exactly one."""
    if not isinstance(structured, Mapping) or not size:
        return None
    fields = cast("Mapping[str, Any]", structured)
    keys = [key for key, each in fields.items() if is_listed(each) and len(each) == size]
    return keys[0] if len(keys) == 1 else None


def _is_one_text(structured: Any) -> bool:
    if not isinstance(structured, Mapping):
        return False
    fields = cast("Mapping[str, Any]", structured)
    return len(fields) == 1 and all(isinstance(each, str) for each in fields.values())
