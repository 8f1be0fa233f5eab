"""This module makes a RAG application that needs no API key: BM25 retrieval and an offline chat model."""

from collections.abc import Sequence

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from typing_extensions import override

from rag_rule_explainer.testing.ranking import best_matches

from .offline import OfflineChatModel

_PROMPT = ChatPromptTemplate.from_template(
    "Answer the question from the sources. Say N/A if they do not answer it.\n\n"
    "{context}\n\nQuestion: {question}"
)


class BM25Retriever(BaseRetriever):
    """This class is a retriever that returns the ``k`` documents that match a query best by BM25.

    A call with another ``k=`` returns that number of documents. The retriever needs the package's extra
    ``bm25``.
    """

    documents: list[Document]
    k: int

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        texts = [_passage(document) for document in self.documents]
        return [self.documents[place] for place in best_matches(query, texts, k or self.k)]


def lexical_chain(documents: Sequence[Document], k: int) -> Runnable[str, str]:
    """Returns a chain that retrieves the ``k`` best documents and answers with ``OfflineChatModel``."""
    retriever = BM25Retriever(documents=list(documents), k=k)
    context = retriever | RunnableLambda(_context)
    question = {"context": context, "question": RunnablePassthrough[str]()}
    return question | _PROMPT | OfflineChatModel() | StrOutputParser()


def _context(documents: list[Document]) -> str:
    return "\n\n".join(f"<source>\n{_passage(document)}\n</source>" for document in documents)


def _passage(document: Document) -> str:
    title = document.metadata.get("title")
    return f"{title}\n{document.page_content}" if title else document.page_content
