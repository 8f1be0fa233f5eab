"""LangChain documents, and the core's retrieved texts."""

from collections.abc import Iterable

from langchain_core.documents import Document

from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.searches.identity import Retrieved


def retrieved_of(document: Document) -> Retrieved:
    """Returns what the core is to know of a document."""
    return Retrieved(document.page_content, document.id, document.metadata)


def document_of(text: Retrieved) -> Document:
    """Returns a document of its own for a text."""
    return Document(page_content=text.text, id=text.id, metadata=dict(text.metadata))


def copies(documents: Iterable[Document]) -> list[Document]:
    """Returns the documents in their present state: what the application does to its own does not reach
    them."""
    return [document.model_copy(update={"metadata": copied(document.metadata)}) for document in documents]
