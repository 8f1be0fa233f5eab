"""Vector stores, searched by hand or as retrievers."""

from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda, chain

from tests.integrations.langchain.zoo import lcel
from tests.integrations.langchain.zoo.shapes import Built, Shape, Store, answering, joined, model


def as_retriever(**settings: Any) -> Any:
    """The chain of every tutorial over a store's own retriever."""

    def build() -> Built:
        store = Store()
        retriever = store.as_retriever(**settings)
        return Built(lcel.answering(retriever | joined), "why?", lambda: store.searches)

    return build


def with_scores() -> Built:
    store = Store()

    @chain
    def retriever(query: str) -> list[Document]:
        documents: list[Document] = []
        for document, score in store.similarity_search_with_score(query, k=4):
            document.metadata["score"] = score
            documents.append(document)
        return documents

    return Built(lcel.answering(retriever | joined), "why?", lambda: store.searches)


def scored() -> Built:
    store = Store()

    def search(question: str) -> list[Document]:
        return [
            document for document, score in store.similarity_search_with_score(question) if score > -2
        ]

    return Built(answering(search), "why?", lambda: store.searches)


def diverse() -> Built:
    store = Store()
    return Built(
        answering(lambda q: store.max_marginal_relevance_search(q, k=4)), "why?", lambda: store.searches
    )


def awaited() -> Built:
    store = Store()

    async def answer(question: str) -> str:
        found = await store.asimilarity_search(question, k=4)
        return (await model().ainvoke(joined(found) or question)).text

    return Built(RunnableLambda(answer), "why?", lambda: store.searches)


SHAPES = (
    Shape("`vector_store.as_retriever()`", as_retriever()),
    Shape('`as_retriever(search_type="mmr")`', as_retriever(search_type="mmr")),
    Shape(
        '`as_retriever(search_type="similarity_score_threshold")`',
        as_retriever(search_type="similarity_score_threshold", search_kwargs={"score_threshold": 0.0}),
    ),
    Shape("`@chain` that adds scores", with_scores),
    Shape("vector store: similarity_search_with_score", scored),
    Shape("vector store: max_marginal_relevance_search", diverse),
    Shape("vector store: asimilarity_search", awaited),
)
