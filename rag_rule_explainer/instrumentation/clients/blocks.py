"""This module handles the two forms in which a tool returns its result: content blocks, and structured
content with the same facts. It finds the item of the structured content that belongs to each block."""

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
    """A ``Block`` holds a content block of a tool's result. ``structured``: the item of the result's
    structured content that belongs to this block; None if the result has no structured content."""

    block: Any
    structured: Any = None


def paired(blocks: Sequence[Any], structured: Any) -> list[Block]:
    """Returns each content block with the item of the structured content that belongs to it.

    ``structured``: the structured content. A list in it with one item for each block is divided among the
    blocks. A single block gets all of it. Raises InvalidInput if several blocks have no such list.
    """
    key = _list_of(len(blocks), structured)
    if key is not None:
        return [Block(*pair) for pair in zip(blocks, structured[key], strict=True)]
    if structured is not None and len(blocks) > 1:
        raise InvalidInput(CANNOT_BE_CUT)
    return [Block(block, structured) for block in blocks]


def structured_of(row: Sequence[Block], blocks: Sequence[Any], structured: Any) -> tuple[list[Any], Any]:
    """Returns the blocks of ``row`` and the structured content that belongs to them.

    ``row``: the retained blocks. ``blocks``, ``structured``: the blocks and the structured content of the
    original response. The new structured content has the same fields as the original one. Only the list
    that has one item for each block is shortened.
    """
    own = [each.block for each in row]
    key = _list_of(len(blocks), structured)
    if key is not None:
        return own, {**structured, key: [each.structured for each in row]}
    if row or not _is_one_text(structured) or not blocks:
        return own, row[0].structured if row else None
    # ``row`` is empty. The structured content of such a tool must hold a text, so the empty result has an
    # empty text in both forms.
    return [with_fields(blocks[0], text="")], dict.fromkeys(structured, "")


def read_block(block: Any) -> Given | None:
    """Returns the text of a content block, which is an object or a dict. The text of a link to a
    resource is the resource's description, title or name."""
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
