"""This module splits the results of MCP tools, as ``call_tool`` of a session returns them, into parts."""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...errors import InvalidInput
from ..clients.blocks import Block
from ..clients.fields import field_of, with_fields
from ..clients.of_mcp import mcp_content
from .inner_parts import InnerParts
from .kinds import Omit
from .part_values import blanked, read_json, text_of_part

_ONE_VALUE = "result"
"""The key under which the structured content has the return value of a tool that returns no object."""
_STRUCTURED = ("structuredContent", "structured_content")


@dataclass(frozen=True, slots=True)
class McpBlocks:
    """The parts of an ``McpBlocks`` are the content blocks of an MCP tool's result. Each block is omitted
    together with its part of the structured content. ``like``: the result."""

    blocks: Sequence[Block]
    like: Any
    is_list: bool = True
    has_heading: bool = False

    @property
    def texts(self) -> Sequence[str]:
        """Returns the text of each block."""
        return [_text_of(each.block) for each in self.blocks]

    @property
    def structured(self) -> Any:
        """Returns the structured content of the result; None if there is none."""
        return next(
            (each for name in _STRUCTURED if (each := field_of(self.like, name)) is not None), None
        )

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the result without the omitted blocks, or with them blanked."""
        if not omitted:
            return self.like
        left = [
            _blank(each) if place in omitted else each
            for place, each in enumerate(self.blocks)
            if omit == "blank" or place not in omitted
        ]
        return mcp_content.response([left], self.like)


@dataclass(frozen=True, slots=True)
class McpText(InnerParts):
    """An ``McpText`` divides the text in the only content block of an MCP tool's result into parts
    (``inner``). ``like``: the result. ``form``: the way in which the structured content of the result
    repeats the text. This is "value" if the text is JSON and the structured content is its value; "value
    under one key" if the structured content is an object with this value as its only entry; "text" if it
    is an object with the text as its only entry; and empty if there is no structured content."""

    like: Any
    form: str

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the result with the omitted parts removed or blanked, in the text and in the structured
        content."""
        if not omitted:
            return self.like
        text = self.inner.without(omitted, omit)
        (block,) = cast("Sequence[Any]", field_of(self.like, "content"))
        content = [with_fields(block, text=text)]
        value = {"": None, "text": {_ONE_VALUE: text}, "value": read_json(text)}.get(self.form)
        value = {_ONE_VALUE: read_json(text)} if self.form == "value under one key" else value
        name = next((each for each in _STRUCTURED if field_of(self.like, each) is not None), None)
        return with_fields(self.like, content=content, **({name: value} if name else {}))


def parts_of_mcp(result: Any, parts_of: Callable[[Any], Any]) -> Any:
    """Returns the parts of an MCP tool's result. Returns None for any other result, for the result of a
    failed tool, and for a result whose structured content cannot be split in the same way as its blocks.
    ``parts_of``: a function that returns the parts of a text, or None."""
    try:
        rows = mcp_content.rows(result)
    except InvalidInput:
        rows = None
    blocks = field_of(result, "content")
    if isinstance(blocks, list) and len(cast("list[Any]", blocks)) == 1 and _is_success(result):
        of_text = _of_one_text(cast("list[Any]", blocks)[0], result, parts_of)
        if of_text is not None:
            return of_text
    return McpBlocks(rows[0], result, len(rows[0]) > 1) if rows and rows[0] else None


def _of_one_text(block: Any, result: Any, parts_of: Callable[[Any], Any]) -> McpText | None:
    text = field_of(block, "text")
    inner = parts_of(text) if isinstance(text, str) else None
    if inner is None:
        return None
    structured = next(
        (each for name in _STRUCTURED if (each := field_of(result, name)) is not None), None
    )
    value = read_json(text)
    forms: list[tuple[str, Any]] = [("", None), ("text", {_ONE_VALUE: text})]
    if value is not None:
        forms += [("value", value), ("value under one key", {_ONE_VALUE: value})]
    form = next((name for name, each in forms if each == structured), None)
    return None if form is None else McpText(inner, result, form)


def _is_success(result: Any) -> bool:
    """Returns True iff the object is the result of an MCP tool, and the tool did not fail."""
    return field_of(result, "isError") is False or field_of(result, "is_error") is False


def _text_of(block: Any) -> str:
    text = field_of(block, "text")
    if isinstance(text, str):
        return text
    dump = getattr(block, "model_dump", None)
    return json.dumps(dump(mode="json")) if callable(dump) else text_of_part(block)


def _blank(each: Block) -> Block:
    text = field_of(each.block, "text")
    block = with_fields(each.block, text=blanked(text)) if isinstance(text, str) else each.block
    return Block(block, blanked(each.structured) if each.structured is not None else None)
