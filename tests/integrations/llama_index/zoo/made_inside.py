"""Retrievers over the user's own documents that the run makes, and searches more than once."""

from typing import Any

from llama_index.core import VectorStoreIndex

from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling, nodes
from tests.integrations.llama_index.zoo.agents import texts_of
from tests.integrations.llama_index.zoo.derived import EMBEDDING
from tests.integrations.stateful import Made, Stateful


def over(*found: Any, question: str) -> str:
    each_once = {each.node.node_id: each for batch in found for each in batch}
    return str(Telling().complete(f"{texts_of(list(each_once.values()))}\n\n{question}"))


def twice() -> Made:
    def answer(question: str) -> str:
        retriever = retriever_of()
        again = f"{question} once more"
        return over(retriever.retrieve(question), retriever.retrieve(again), question=question)

    return Made(answer)


def two() -> Made:
    def answer(question: str) -> str:
        first, later = retriever_of("abc"), retriever_of()
        return over(first.retrieve(question), later.retrieve(question), question=question)

    return Made(answer)


def indexed() -> Made:
    """The user's nodes are indexed in the run, and searched by two retrievers of the index."""
    corpus = nodes("abcd")

    def answer(question: str) -> str:
        index = VectorStoreIndex(corpus, embed_model=EMBEDDING)
        few, all_ = index.as_retriever(similarity_top_k=3), index.as_retriever(similarity_top_k=4)
        return over(few.retrieve(question), all_.retrieve(question), question=question)

    return Made(answer)


SHAPES = (
    Stateful("made inside: one retriever, searched twice", twice),
    Stateful("made inside: two retrievers of one class", two),
    Stateful("made inside: an index, searched by two retrievers", indexed),
)
