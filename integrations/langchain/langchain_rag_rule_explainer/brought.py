"""Documents that the caller brings, as LangChain's."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from langchain_core.documents import Document

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.searches.identity import Retrieved, sources_of
from rag_rule_explainer.instrumentation.searches.users_documents import as_items

from .documents import document_of, retrieved_of

DocumentLike: TypeAlias = "Document | Source | Mapping[str, Any] | str"
"""A document, a source, a JSON object as documents are logged, or just the text."""


def as_documents(given: Iterable[DocumentLike]) -> list[Document]:
    """As documents. Raises InvalidInput for anything else, for none, and for the same one twice."""
    return as_items(
        given, _lifted, lambda batches: sources_of([*map(_all_retrieved, batches)]), "Document"
    )


def _lifted(told: object) -> Document | None:
    if isinstance(told, Retrieved):
        return document_of(told)
    return told if isinstance(told, Document) else None


def _all_retrieved(batch: Iterable[Document]) -> list[Retrieved]:
    return [retrieved_of(document) for document in batch]
