"""Documents that the caller brings, as LlamaIndex's nodes."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from llama_index.core.schema import BaseNode, NodeWithScore

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.searches.identity import Retrieved
from rag_rule_explainer.instrumentation.searches.users_documents import as_items

from .nodes import Found, copy_of, identify, node_of

DocumentLike: TypeAlias = "BaseNode | NodeWithScore | Source | Mapping[str, Any] | str"
"""A node or document, a source, a JSON object as documents are logged, or just the text."""


def as_found(given: Iterable[DocumentLike]) -> list[Found]:
    """As nodes. Raises InvalidInput for anything else, for none, and for the same one twice."""
    return as_items(given, _lifted, identify, "TextNode")


def _lifted(told: object) -> Found | None:
    if isinstance(told, Retrieved):
        told = node_of(told)
    if isinstance(told, BaseNode):
        told = NodeWithScore(node=told, score=1.0)
    return Found(copy_of(told)) if isinstance(told, NodeWithScore) else None
