"""This module reads the results of tools that return a pair (content, artifact).

The content is for the model. The artifact usually holds the documents that the tool found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from langchain_core.documents import Document

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.clients import Rows
from rag_rule_explainer.instrumentation.clients.blocks import Block, paired, read_block, structured_of
from rag_rule_explainer.instrumentation.clients.fields import is_listed, listed_like, mapping_in
from rag_rule_explainer.instrumentation.clients.joining import Joined, taken_apart
from rag_rule_explainer.instrumentation.clients.reading import read_any
from rag_rule_explainer.instrumentation.clients.recognising import recognised
from rag_rule_explainer.instrumentation.clients.several import lists_several
from rag_rule_explainer.instrumentation.engine import Given

_STRUCTURED = "structured_content"
_MAY_BE = "(it may number, count, shorten or rewrite them)"
_NOT_JOINED = f"content does not join their texts, one like the other {_MAY_BE}"
_UNKNOWN_LIST = "artifact lists them among other fields, and it is not known which field holds what"


class Piece(NamedTuple):
    """A ``Piece`` is one document of a tool's artifact. ``content``: the text about this document in the
    content that the tool gave to the model."""

    content: Any
    document: Any


@dataclass(frozen=True, slots=True)
class ToolResult:
    """This class splits a tool's pair (content, artifact) into sources. For a replay, it makes a pair
    (content, artifact) that has only the retained sources.

    If the artifact holds documents, they are the sources. The content must then consist of their joined
    texts, or be a list with one block for each document. If the artifact cannot hold documents, the
    sources are the blocks of the content (as in MCP), or the whole content if it is one text. ``name``:
    the tool's name.
    """

    name: str

    def rows(self, response: Any) -> Rows | None:
        """Returns the items of a tool's result. They are a ``Piece`` for each document of the artifact
        (none if the artifact is an empty list), or a ``Block`` for each part of the content if the
        artifact cannot hold documents. ``Rows`` has one list for each query; a tool has one query, so
        the items are its only list. Returns None if ``response`` is no pair (content, artifact).

        Raises InvalidInput if the content does not consist of one part for each document, or if several
        entries of an unknown artifact may be its documents.
        """
        if not isinstance(response, tuple) or len(cast("tuple[Any, ...]", response)) != 2:
            return None
        content, artifact = cast("tuple[Any, Any]", response)
        documents = _documents_in(artifact)
        if documents is None:
            fields = mapping_in(artifact)
            structured = fields.get(_STRUCTURED)
            if lists_several({name: each for name, each in fields.items() if name != _STRUCTURED}):
                raise self._refused(_UNKNOWN_LIST)
            return [list(paired(content if is_listed(content) else [content], structured))]
        if not documents:
            return [[]]
        pieces = content if is_listed(content) else self._joined(content, documents).pieces
        if len(pieces) != len(documents):
            raise self._refused()
        return [[Piece(*each) for each in zip(pieces, documents, strict=True)]]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a pair (content, artifact) that has only the pieces or blocks in ``rows``. Everything
        else is as in the original pair ``like``: the types, and the other entries of the artifact."""
        content, artifact = like
        documents, row = _documents_in(artifact), rows[0]
        if documents is None:
            return _of_blocks(cast("Sequence[Block]", row), content, artifact)
        if not documents:
            return like
        own = [each.content for each in row]
        if is_listed(content):
            return listed_like(own, content), _artifact_of(row, artifact)
        return self._joined(content, documents).separator.join(own), _artifact_of(row, artifact)

    def read(self, item: Any) -> Given | None:
        """Returns the text, the id and the metadata of an item of ``rows``, which is a ``Piece`` (one
        document) or a ``Block`` (a part of the content). Returns None if the item is of an unknown kind;
        the returned text is None if the item has no single text."""
        return read_block(item.block) if isinstance(item, Block) else _read(item.document)

    def _joined(self, content: Any, documents: Sequence[Any]) -> Joined:
        given = [_read(each) for each in documents]
        texts = [each for each in given if each is not None and isinstance(each.text, str)]
        joined = None
        if isinstance(content, str) and len(texts) == len(documents):
            joined = taken_apart(content, texts)
        if joined is None:
            raise self._refused()
        return joined

    def _refused(self, why: str = _NOT_JOINED) -> InvalidInput:
        return InvalidInput(
            f"what the tool {self.name!r} returns cannot be put together of some of its documents: its "
            f"{why}. Gate the search that it calls, or pass gate(tool, items_of=ItemsOf("
            "take_apart, put_together)), functions of the pair (content, artifact)"
        )


def _documents_in(artifact: Any) -> Sequence[Any] | None:
    """Returns the documents of an artifact. Returns None if the artifact is neither a list nor a response
    of a known client. Also returns None if it holds a tool's structured content (as in MCP), because this
    only repeats the content that the model gets."""
    if is_listed(artifact):
        return artifact
    if _STRUCTURED in mapping_in(artifact):
        return None
    client = recognised(artifact)
    rows = None if client is None else client.rows(artifact)
    return [item for row in rows for item in row] if rows else None


def _artifact_of(row: Sequence[Any], like: Any) -> Any:
    documents = [each.document for each in row]
    client = None if is_listed(like) else recognised(like)
    return listed_like(documents, like) if client is None else client.response([documents], like)


def _read(document: Any) -> Given | None:
    pair: tuple[Any, ...] = cast("tuple[Any, ...]", document) if isinstance(document, tuple) else ()
    return read_any(pair[0] if pair and isinstance(pair[0], Document) else document)


def _of_blocks(row: Sequence[Block], content: Any, artifact: Any) -> tuple[Any, Any]:
    several, structured = is_listed(content), mapping_in(artifact).get(_STRUCTURED)
    blocks, own = structured_of(row, content if several else [content], structured)
    if not several and not blocks:
        return "", None
    changed = artifact if structured is None else {**mapping_in(artifact), _STRUCTURED: own}
    return listed_like(blocks, content) if several else blocks[0], changed
