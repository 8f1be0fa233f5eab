"""Retrievers over the user's own documents that the run makes, and searches more than once."""

from collections.abc import Callable

from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_rule_explainer import BM25Retriever

from tests.integrations.known import TEXTS
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.zoo.derived import EMBEDDINGS, INTRODUCTIONS, pages
from tests.integrations.langchain.zoo.shapes import answering, retriever_of
from tests.integrations.stateful import Made, Stateful

Search = Callable[[str], list[Document]]
UNDECIDED = frozenset({"UntrueReplay"})
"""Refused because nobody can tell the user's documents from what the run made of others."""


def each_once(*found: list[Document]) -> list[Document]:
    return list({each.page_content: each for batch in found for each in batch}.values())


def twice() -> Made:
    def search(question: str) -> list[Document]:
        retriever = retriever_of()
        return each_once(retriever.invoke(question), retriever.invoke(f"{question} once more"))

    return Made(answering(search))


def two() -> Made:
    def search(question: str) -> list[Document]:
        return each_once(retriever_of("abc").invoke(question), retriever_of().invoke(question))

    return Made(answering(search))


def ranked() -> Made:
    """The documents were there before the run; only the retriever is new."""
    corpus = facts("abcd")

    def search(question: str) -> list[Document]:
        retriever = BM25Retriever(documents=corpus, k=4)
        words = " ".join(TEXTS.values())
        return each_once(retriever.invoke(words), retriever.invoke(f"{words} {question}"))

    return Made(answering(search))


def index_over(documents: list[Document]) -> InMemoryVectorStore:
    return InMemoryVectorStore.from_documents(documents, EMBEDDINGS)


def two_grains(make: Callable[[], list[InMemoryVectorStore]]) -> Made:
    """Pages are searched, then short texts which stand in the pages, and are documents of their own."""

    def search(question: str) -> list[Document]:
        whole, short = make()
        return each_once(whole.similarity_search(question, k=9), short.similarity_search(question, k=9))

    return Made(answering(search))


def both_indexes() -> list[InMemoryVectorStore]:
    short = [Document(id=f"short-{n}", page_content=INTRODUCTIONS[n]) for n in "abcd"]
    return [index_over(pages()), index_over(short)]


def grains_inside() -> Made:
    return two_grains(both_indexes)


def grains_outside() -> Made:
    made = both_indexes()
    return two_grains(lambda: made)


SHAPES = (
    Stateful("made inside: one retriever, searched twice", twice),
    Stateful("made inside: two retrievers of one class", two),
    Stateful("made inside: BM25 over documents that were there", ranked),
    Stateful("made inside: pages and parts of them", grains_inside, UNDECIDED, grains_outside),
)
