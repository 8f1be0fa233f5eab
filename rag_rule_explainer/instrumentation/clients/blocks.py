"""Content blocks of a tool, and structured content that says the same once more."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from ...errors import InvalidInput
from ...given import Given
from .reading import changed, field_of, is_listed, mapping_in, read_fields

CANNOT_BE_CUT = (
    "the structured content of a tool's result is not about its content blocks one by one, so it cannot "
    "be cut as they are. Gate the function that makes documents of it, or pass gate(call, "
    "items_of=ItemsOf(take_apart, put_together)) from rag_rule_explainer.instrumentation.clients"
)


class Block(NamedTuple):
    """This class represents a content block. ``structured``: what structured content says of it, if it
    does."""

    block: Any
    structured: Any = None


def paired(blocks: Sequence[Any], structured: Any) -> list[Block]:
    """Returns each block with what is structured of it.

    Raises InvalidInput where structured content is not about the blocks, one by one.
    """
    key = _list_of(len(blocks), structured)
    if key is not None:
        return [Block(*pair) for pair in zip(blocks, structured[key], strict=True)]
    if structured is not None and len(blocks) > 1:
        raise InvalidInput(CANNOT_BE_CUT)
    return [Block(block, structured) for block in blocks]


def structured_of(row: Sequence[Block], blocks: Sequence[Any], structured: Any) -> tuple[list[Any], Any]:
    """Returns blocks, and what is structured of them, in the form of others.

    What structured content says beside its list stays as it is.
    """
    own = [each.block for each in row]
    key = _list_of(len(blocks), structured)
    if key is not None:
        return own, {**structured, key: [each.structured for each in row]}
    if row or not _is_one_text(structured) or not blocks:
        return own, row[0].structured if row else None
    # A tool that returns one text has none to return.
    return [changed(blocks[0], text="")], dict.fromkeys(structured, "")


def read_block(block: Any) -> Given | None:
    """Returns the text of a content block, an object or a dict, or what a link says of a resource."""
    if isinstance(block, str):
        return Given(block, None, {})
    inside = field_of(block, "resource")
    holder = block if inside is None else inside
    uri = field_of(holder, "uri") or field_of(holder, "url")
    text = field_of(holder, "text")
    if text is None and uri is not None and field_of(holder, "blob") is None:
        told = (field_of(holder, name) for name in ("description", "title", "name"))
        text = next((each for each in told if each), str(uri))
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
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, Any]", told) if isinstance(told, dict) else None


def _list_of(size: int, structured: Any) -> str | None:
    """Returns the key of the only list of this many; None where there is none."""
    if not isinstance(structured, Mapping) or not size:
        return None
    told = cast("Mapping[str, Any]", structured)
    keys = [key for key, each in told.items() if is_listed(each) and len(each) == size]
    return keys[0] if len(keys) == 1 else None


def _is_one_text(structured: Any) -> bool:
    if not isinstance(structured, Mapping):
        return False
    told = cast("Mapping[str, Any]", structured)
    return len(told) == 1 and all(isinstance(each, str) for each in told.values())
