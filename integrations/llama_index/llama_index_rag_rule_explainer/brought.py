"""This module turns documents that the caller passes into LlamaIndex nodes."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from llama_index.core.schema import BaseNode, NodeWithScore

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.searches.identity import RetrievedText
from rag_rule_explainer.instrumentation.searches.users_documents import as_items

from .nodes import Found, copy_of, identify, node_of

DocumentLike: TypeAlias = "BaseNode | NodeWithScore | Source | Mapping[str, Any] | str"
"""The types that a caller may pass as a document. A mapping is a logged JSON object with a text and
perhaps an id and metadata."""


def documents_as_found(given: Iterable[DocumentLike]) -> list[Found]:
    """Returns the documents as nodes, as if a search had found them.

    Raises InvalidInput if there are none, if a document occurs twice, and for an object of another type.
    """
    return as_items(given, _lifted, identify, "TextNode")


def _lifted(document: object) -> Found | None:
    if isinstance(document, RetrievedText):
        document = node_of(document)
    if isinstance(document, BaseNode):
        document = NodeWithScore(node=document, score=1.0)
    return Found(copy_of(document)) if isinstance(document, NodeWithScore) else None
