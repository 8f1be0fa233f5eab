"""This module splits the results of tools that return the same data twice: as content blocks, and as
structured content. It finds the item of the structured content that belongs to each block."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from ...errors import InvalidInput
from ...sources.given import Given
from .fields import field_of, is_listed, mapping_in, with_fields
from .of_listing import listing, may_describe_results, with_results
from .of_text import json_listing
from .reading import read_fields
from .written import value_in_json, written_in

CANNOT_BE_CUT = (
    "the structured content of a tool's result is not about its content blocks one by one, so it cannot "
    "be cut as they are. Gate the function that makes documents of it, or pass gate(call, "
    "items_of=ItemsOf(take_apart, put_together)) from rag_rule_explainer.instrumentation.clients"
)
_LISTS_SEVERAL = (
    "a content block of a tool's result is JSON that lists several results, so it cannot be cut "
    "into documents. Have the tool return a list, which makes a block of each; or gate the function that "
    "makes documents of it, or pass gate(call, items_of=ItemsOf(take_apart, put_together)) from "
    "rag_rule_explainer.instrumentation.clients"
)


_ONE_TEXT = "result"
"""The key under which the structured content has a tool's return value if this value is no JSON object,
but for example a text."""


class Block(NamedTuple):
    """A ``Block`` holds a content block of a tool's result.

    ``structured``: the item of the result's structured content that belongs to this block; None if the
    result has no structured content.
    """

    block: Any
    structured: Any = None


def paired(blocks: Sequence[Any], structured: Any) -> list[Block]:
    """Returns each content block with the item of the structured content that belongs to it.

    ``structured``: the structured content. If it is None, each block gets None. If exactly one list in it
    has as many items as there are blocks, each block gets one item of this list. Otherwise, a single
    block gets the whole structured content, and InvalidInput is raised for several blocks.

    If the text of a single block is JSON that lists results, each result becomes a block. Raises
    InvalidInput if this JSON cannot be written again with fewer results.
    """
    inside = [_results_in(block) for block in blocks]
    if len(inside) == 1 and inside[0] is not None:
        return _blocks_of(inside[0], blocks[0], structured)
    if any(results is not None and len(results) > 1 for results in inside):
        raise InvalidInput(_LISTS_SEVERAL)
    key = _list_of(len(blocks), structured)
    if key is not None:
        if may_describe_results(structured, key):
            raise InvalidInput(CANNOT_BE_CUT)
        return [Block(*pair) for pair in zip(blocks, structured[key], strict=True)]
    if structured is not None and (len(blocks) > 1 or _lists_several(structured)):
        raise InvalidInput(CANNOT_BE_CUT)
    return [Block(block, structured) for block in blocks]


def structured_of(row: Sequence[Block], blocks: Sequence[Any], structured: Any) -> tuple[list[Any], Any]:
    """Returns the retained blocks and the structured content that belongs to them.

    ``row``: the retained blocks. ``blocks``, ``structured``: the blocks and the structured content of the
    original response. If a list in the structured content has one item for each block, only this list is
    shortened, and the other fields stay.
    """
    results = _results_in(blocks[0]) if len(blocks) == 1 else None
    if results is not None:
        return _with_results(row, blocks[0], structured) if results else (list(blocks), structured)
    own = [each.block for each in row]
    key = _list_of(len(blocks), structured)
    if key is not None:
        return own, with_results(structured, (key,), [each.structured for each in row])
    if row or not _is_one_text(structured) or not blocks:
        return own, row[0].structured if row else None
    # Nothing is retained. The structured content is one text here, and it must not be missing. So the
    # block and the structured content get an empty text.
    return [_with_text(blocks[0], "")], dict.fromkeys(structured, "")


def read_block(block: Any) -> Given | None:
    """Returns the text, id and metadata of a content block (a str, an object or a dict); never None. The
    text of a link to a resource is the resource's description, title or name, or else its URI. A block
    without a text, such as a picture, has the text None."""
    if isinstance(block, str):
        return _read_object(block) or Given(block, None, {})
    inside = field_of(block, "resource")
    holder = block if inside is None else inside
    uri = field_of(holder, "uri") or field_of(holder, "url")
    text = field_of(holder, "text")
    if text is None and uri is not None and field_of(holder, "blob") is None:
        words = (field_of(holder, name) for name in ("description", "title", "name"))
        text = next((each for each in words if each), str(uri))
    read = _read_object(text)
    if read is not None:
        return read
    metadata = mapping_in(field_of(block, "meta") or field_of(block, "_meta"))
    named = metadata.get("id") or (field_of(block, "id") if uri is None else str(uri))
    return Given(text, named, metadata)


def _results_in(block: Any) -> Sequence[Any] | None:
    """Returns the results that the text of a block lists as JSON; None if it lists no results. A resource
    is one document, whatever it contains, so None is returned for it."""
    rows = json_listing.rows(_text_of(block))
    return None if rows is None else rows[0]


def _blocks_of(results: Sequence[Any], block: Any, structured: Any) -> list[Block]:
    """Returns a new block for each of ``results``, which the text of ``block`` lists. ``structured``: the
    structured content of the response; None if there is none."""
    text = _text_of(block)
    value = _value_in(text)
    if results and structured not in (None, value, {_ONE_TEXT: text}, {_ONE_TEXT: value}):
        raise InvalidInput(_LISTS_SEVERAL)
    texts = (each if isinstance(each, str) else json.dumps(each) for each in results)
    return [Block(_with_text(block, own), each) for own, each in zip(texts, results, strict=True)]


def _with_results(row: Sequence[Block], block: Any, structured: Any) -> tuple[list[Any], Any]:
    text = json_listing.response([[each.structured for each in row]], _text_of(block))
    own = _value_in(text)
    if structured is None or structured == _value_in(_text_of(block)):
        return [_with_text(block, text)], None if structured is None else own
    is_text = isinstance(structured[_ONE_TEXT], str)
    return [_with_text(block, text)], {_ONE_TEXT: text if is_text else own}


def _text_of(block: Any) -> Any:
    return block if isinstance(block, str) else field_of(block, "text")


def _with_text(block: Any, text: str) -> Any:
    return text if isinstance(block, str) else with_fields(block, text=text)


def _read_object(text: object) -> Given | None:
    """Returns the document that a text describes as a JSON object; None if the text is no such object."""
    parsed = value_in_json(text)
    read = read_fields(cast("Mapping[str, Any]", parsed)) if isinstance(parsed, dict) else None
    return read if read is not None and isinstance(read.text, str) else None


def _value_in(text: Any) -> Any:
    written = written_in(text)
    return None if written is None else written.value


def _lists_several(structured: Any) -> bool:
    rows = listing.rows(structured)
    return rows is not None and len(rows[0]) > 1


def _list_of(size: int, structured: Any) -> str | None:
    """Returns the key of the list in ``structured`` that has ``size`` items; None if there is no such
    list, or more than one."""
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
