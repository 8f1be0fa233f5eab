"""This module splits the results of MCP tools. A result has content blocks, and may have the same data as
structured content."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...printable import shortened
from ...sources.given import Given
from .blocks import paired, read_block, structured_of
from .fields import field_of, is_listed, with_fields
from .protocol import Rows

_STRUCTURED = ("structuredContent", "structured_content")
_FAILED = ("isError", "is_error")


@dataclass(frozen=True, slots=True)
class Content:
    """A ``Content`` is a client that splits the results of ``call_tool`` of an MCP session.

    An item is a content block (a text, a resource or a link to a resource), with the structured content
    that belongs to it. If the text of a block is a JSON object, the source gets the id and the text in
    this object. The error message of a failed tool is no source.
    """

    def rows(self, response: Any) -> Rows | None:
        """Returns the content blocks in one row; the row is empty if the tool failed. Returns None if the
        response is not the result of an MCP tool. Raises InvalidInput if the structured content cannot be
        divided among the blocks."""
        content: object = field_of(response, "content")
        if not is_listed(content) or not any(_has(response, name) for name in (*_STRUCTURED, *_FAILED)):
            return None
        blocks = cast("Sequence[Any]", content)
        if not all(isinstance(field_of(block, "type"), str) for block in blocks):
            return None
        return [[]] if _failed(response) else [paired(blocks, _structured(response))]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a copy of the response ``like`` with only the blocks in ``rows`` and the structured
        content that belongs to these blocks."""
        if _failed(like):
            return like
        blocks, structured = structured_of(rows[0], field_of(like, "content"), _structured(like))
        name = next((name for name in _STRUCTURED if _has(like, name)), None)
        return with_fields(like, content=blocks, **({name: structured} if name else {}))

    def fault(self, response: Any) -> str:
        """Returns an error text that quotes the message of a failed tool; an empty text if the tool
        succeeded."""
        if not _failed(response):
            return ""
        blocks = cast("Sequence[Any]", field_of(response, "content"))
        words = " ".join(str(field_of(block, "text") or "") for block in blocks).strip()
        return (
            f"an MCP tool failed (isError) and said {shortened(words, 200)!r}, so nothing was retrieved "
            "that could explain the answer; make the tool find something first"
        )

    def read(self, item: Any) -> Given | None:
        """Returns the text, id and metadata of a content block. A picture or a sound has the text
        None."""
        return read_block(item.block)


def _has(response: Any, name: str) -> bool:
    return name in response if isinstance(response, Mapping) else hasattr(response, name)


def _failed(response: Any) -> bool:
    return any(field_of(response, name) is True for name in _FAILED)


def _structured(response: Any) -> Any:
    return next(
        (each for each in (field_of(response, name) for name in _STRUCTURED) if each is not None), None
    )


mcp_content = Content()
"""The client for results of MCP tools."""
