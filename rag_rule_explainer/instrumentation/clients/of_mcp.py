"""MCP: the content blocks of a tool's result, and the same once more as structured content."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...given import Given
from ...printable import shortened
from .blocks import paired, read_block, structured_of
from .protocol import Rows
from .reading import changed, field_of, is_listed

_STRUCTURED = ("structuredContent", "structured_content")
_FAILED = ("isError", "is_error")


@dataclass(frozen=True, slots=True)
class Content:
    """What ``call_tool`` of a session returns. An item is a content block, with what structured content
    says of it.

    A block is a source: a text, the text of a resource, or a link to one. Where the text of a block is a
    JSON object, its id and its text are those of the source. What a tool says that failed is no source.
    """

    def rows(self, response: Any) -> Rows | None:
        """Returns the blocks. Raises InvalidInput where structured content is not about them, one by
        one."""
        content: object = field_of(response, "content")
        if not is_listed(content) or not any(_has(response, name) for name in (*_STRUCTURED, *_FAILED)):
            return None
        blocks = cast("Sequence[Any]", content)
        if not all(isinstance(field_of(block, "type"), str) for block in blocks):
            return None
        return [[]] if _failed(response) else [paired(blocks, _structured(response))]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a result with these blocks, and what is structured of them."""
        if _failed(like):
            return like
        blocks, structured = structured_of(rows[0], like.content, _structured(like))
        name = next((name for name in _STRUCTURED if _has(like, name)), None)
        return changed(like, content=blocks, **({name: structured} if name else {}))

    def fault(self, response: Any) -> str:
        """Returns what a tool says that failed; nothing where it did not."""
        if not _failed(response):
            return ""
        blocks = cast("Sequence[Any]", field_of(response, "content"))
        told = " ".join(str(field_of(block, "text") or "") for block in blocks).strip()
        return (
            f"an MCP tool failed (isError) and said {shortened(told, 200)!r}, so nothing was retrieved "
            "that could explain the answer; make the tool find something first"
        )

    def read(self, item: Any) -> Given | None:
        """Returns the text of a block; a picture or a sound has none."""
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
"""Takes results of MCP tools apart, and puts them together."""
