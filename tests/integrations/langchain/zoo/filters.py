"""Two searches of one store, which differ in a function alone."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.vectorstores import InMemoryVectorStore

from tests.integrations.known import TEXTS
from tests.integrations.langchain.zoo.lcel import PARSED
from tests.integrations.langchain.zoo.shapes import joined, model
from tests.integrations.stateful import Made, Stateful

Filter = Callable[[Document], bool]
PUBLIC = {"a": True, "b": True, "c": False, "d": False}


def library() -> InMemoryVectorStore:
    """Two public documents, and two of the staff."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents(
        [
            Document(id=name, page_content=text, metadata={"public": PUBLIC[name]})
            for name, text in TEXTS.items()
        ]
    )
    return store


def answering(public: Callable[[str], list[Document]], staff: Callable[[str], list[Document]]) -> Any:
    """The two best of the public, and the two best of the staff's."""

    def answer(question: str) -> str:
        one, two = public(question)[:2], staff(question)[:2]
        return model().invoke(f"Public:\n{joined(one)}\n\nStaff:\n{joined(two)}\n\n{question}").text

    return RunnableLambda(answer)


def as_retrievers(public: Filter, staff: Filter) -> Made:
    store = library()
    one = store.as_retriever(search_kwargs={"k": 4, "filter": public})
    two = store.as_retriever(search_kwargs={"k": 4, "filter": staff})
    return Made(answering(one.invoke, two.invoke))


def searched(public: Filter, staff: Filter) -> Made:
    store = library()
    return Made(
        answering(
            lambda question: store.similarity_search(question, k=4, filter=public),
            lambda question: store.similarity_search(question, k=4, filter=staff),
        )
    )


def lambdas() -> Made:
    return as_retrievers(
        lambda document: document.metadata["public"], lambda document: not document.metadata["public"]
    )


def lambdas_in_searches() -> Made:
    return searched(
        lambda document: document.metadata["public"], lambda document: not document.metadata["public"]
    )


def for_audience(public: bool) -> Filter:
    return lambda document: document.metadata["public"] == public


def closures() -> Made:
    """One lambda, over two values."""
    return as_retrievers(for_audience(True), for_audience(False))


def closures_in_searches() -> Made:
    """The same, made anew by every search."""
    store = library()

    def search(question: str, public: bool) -> list[Document]:
        return store.similarity_search(
            question, k=4, filter=lambda document: document.metadata["public"] == public
        )

    return Made(answering(lambda q: search(q, True), lambda q: search(q, False)))


class Audience:
    """A filter that is an object."""

    def __init__(self, *, public: bool) -> None:
        self.public = public

    def __call__(self, document: Document) -> bool:
        return document.metadata["public"] == self.public

    def allows(self, document: Document) -> bool:
        return self(document)


def objects() -> Made:
    return as_retrievers(Audience(public=True), Audience(public=False))


def audience_is(public: bool, document: Document) -> bool:
    return document.metadata["public"] == public


def partials() -> Made:
    return as_retrievers(partial(audience_is, True), partial(audience_is, False))


def bound_methods() -> Made:
    return as_retrievers(Audience(public=True).allows, Audience(public=False).allows)


def defaults() -> Made:
    """Lambdas of a loop, which hold their values as defaults."""
    one, two = (
        lambda document, public=public: document.metadata["public"] == public for public in (True, False)
    )
    return searched(one, two)


def in_parallel() -> Made:
    """Both at once, in a chain."""
    store = library()
    found = RunnableParallel(
        one=store.as_retriever(search_kwargs={"k": 4, "filter": for_audience(True)}),
        two=store.as_retriever(search_kwargs={"k": 4, "filter": for_audience(False)}),
    )
    return Made(
        found
        | (lambda both: joined([*both["one"][:2], *both["two"][:2]]) or "nothing")
        | model()
        | PARSED
    )


def gathered() -> Made:
    """Both at once, awaited."""
    store = library()

    async def answer(question: str) -> str:
        one, two = await asyncio.gather(
            store.asimilarity_search(question, k=4, filter=for_audience(True)),
            store.asimilarity_search(question, k=4, filter=for_audience(False)),
        )
        return (await model().ainvoke(joined([*one[:2], *two[:2]]) or question)).text

    return Made(RunnableLambda(answer))


SHAPES = (
    Stateful("filters: two lambdas, in retrievers", lambdas),
    Stateful("filters: two lambdas, in searches", lambdas_in_searches),
    Stateful("filters: one lambda over two values, in retrievers", closures),
    Stateful("filters: one lambda over two values, in searches", closures_in_searches),
    Stateful("filters: two callable objects", objects),
    Stateful("filters: two partials", partials),
    Stateful("filters: two bound methods", bound_methods),
    Stateful("filters: lambdas with defaults", defaults),
    Stateful("filters: two retrievers in parallel", in_parallel),
    Stateful("filters: two searches awaited at once", gathered),
)
