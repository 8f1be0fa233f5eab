"""This module turns the documents that a caller passes into LangChain ``Document`` objects."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from langchain_core.documents import Document

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.searches.identity import RetrievedText, sources_of
from rag_rule_explainer.instrumentation.searches.users_documents import as_items

from .documents import document_of, retrieved_of

DocumentLike: TypeAlias = "Document | Source | Mapping[str, Any] | str"
"""The types that a caller may pass as a document. A mapping is a logged JSON object with a text and
perhaps an id and metadata."""


def as_documents(given: Iterable[DocumentLike]) -> list[Document]:
    """Returns the given objects as LangChain documents.

    Raises InvalidInput if there are none, if a document occurs twice, and for an object of another type.
    """
    return as_items(
        given, _lifted, lambda batches: sources_of([*map(_all_retrieved, batches)]), "Document"
    )


def _lifted(given: object) -> Document | None:
    if isinstance(given, RetrievedText):
        return document_of(given)
    return given if isinstance(given, Document) else None


def _all_retrieved(batch: Iterable[Document]) -> list[RetrievedText]:
    return [retrieved_of(document) for document in batch]
