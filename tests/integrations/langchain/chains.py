"""Small applications whose rules are known, and how to look at what is found out about them."""

from collections.abc import Callable, Iterable
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import Field
from typing_extensions import override


class Counting(BaseRetriever):
    """Always finds the same; remembers the queries it was really asked."""

    documents: list[Document]
    live: list[str] = Field(default_factory=list[str])

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        self.live.append(query)
        return list(self.documents)


class Scripted(BaseRetriever):
    """Finds for each query what the script says."""

    script: Callable[[str], list[Document]]

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self.script(query)


def named(names: Iterable[str]) -> list[Document]:
    """One document for each name, or letter, which is its id and its text."""
    return [Document(id=name, page_content=name) for name in names]


def retriever_of(names: str) -> Counting:
    return Counting(documents=named(names))


def step(function: Callable[[Any], Any]) -> Runnable[Any, Any]:
    return RunnableLambda(function)


def texts(documents: list[Document]) -> frozenset[str]:
    return frozenset(document.page_content for document in documents)


def bad_with(*spoilers: str) -> Runnable[Any, Any]:
    """Answers "bad" where all of these texts are shown, else "good"."""
    return step(lambda documents: "bad" if texts(documents).issuperset(spoilers) else "good")
