"""This module converts between LangChain's ``Document`` and this project's ``RetrievedText``."""

from collections.abc import Iterable

from langchain_core.documents import Document

from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.searches.identity import RetrievedText


def retrieved_of(document: Document) -> RetrievedText:
    """Returns the text, the id and the metadata of a document as a ``RetrievedText``."""
    return RetrievedText(document.page_content, document.id, document.metadata)


def document_of(text: RetrievedText) -> Document:
    """Returns a new document with the text, the id and the metadata of a ``RetrievedText``."""
    return Document(page_content=text.text, id=text.id, metadata=dict(text.metadata))


def copies(documents: Iterable[Document]) -> list[Document]:
    """Returns copies of the documents. Later changes to the originals do not change the copies."""
    return [document.model_copy(update={"metadata": copied(document.metadata)}) for document in documents]
