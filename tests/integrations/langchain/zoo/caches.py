"""Answers, replies and vectors that are kept, so that they are not made twice."""

from functools import lru_cache
from typing import Any

from langchain_classic.embeddings import CacheBackedEmbeddings
from langchain_core.caches import InMemoryCache
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.globals import get_llm_cache, set_llm_cache
from langchain_core.runnables import RunnableLambda
from langchain_core.stores import InMemoryByteStore
from langchain_core.vectorstores import InMemoryVectorStore

from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.zoo import lcel
from tests.integrations.langchain.zoo.heeding import anew, contents, vectors
from tests.integrations.langchain.zoo.shapes import Store, answering, joined, model, retriever_of
from tests.integrations.stateful import CACHED, Made, Stateful


def on_the_answer() -> Made:
    retriever, llm = retriever_of(), model()

    @lru_cache(maxsize=128)
    def answer(question: str) -> str:
        return llm.invoke(f"{joined(retriever.invoke(question))}\n\n{question}").text

    # What lru_cache makes has no signature of its own for LangChain to look into.
    return Made(RunnableLambda(lambda question: answer(question)))


def by_question() -> Made:
    retriever, llm, answers = retriever_of(), model(), dict[str, str]()

    def answer(question: str) -> str:
        if question not in answers:
            context = joined(retriever.invoke(question))
            answers[question] = llm.invoke(f"{context}\n\n{question}").text
        return answers[question]

    return Made(RunnableLambda(answer))


def after_retrieval() -> Made:
    """Retrieves always, and answers from what it answered to that question before."""
    retriever, llm, answers = retriever_of(), model(), dict[str, str]()

    def answer(question: str) -> str:
        context = joined(retriever.invoke(question))
        if question not in answers:
            answers[question] = llm.invoke(f"{context}\n\n{question}").text
        return answers[question]

    return Made(RunnableLambda(answer))


def by_question_and_context() -> Made:
    retriever, llm, answers = retriever_of(), model(), dict[tuple[str, str], str]()

    def answer(question: str) -> str:
        context = joined(retriever.invoke(question))
        if (question, context) not in answers:
            answers[question, context] = llm.invoke(f"{context}\n\n{question}").text
        return answers[question, context]

    return Made(RunnableLambda(answer))


def of_the_model() -> Made:
    """The tutorials' chain, where all models share a cache of replies."""
    before = get_llm_cache()
    set_llm_cache(InMemoryCache())
    return Made(lcel.declared(retriever_of()), after=lambda: set_llm_cache(before))


def of_one_model() -> Made:
    retriever, llm = retriever_of(), Telling(cache=InMemoryCache())

    def answer(question: str) -> str:
        return llm.invoke(f"{joined(retriever.invoke(question))}\n\n{question}").text

    async def aanswer(question: str) -> str:
        return (await llm.ainvoke(f"{joined(await retriever.ainvoke(question))}\n\n{question}")).text

    return Made(RunnableLambda(answer, aanswer))


def of_embeddings() -> Made:
    embeddings = CacheBackedEmbeddings.from_bytes_store(
        DeterministicFakeEmbedding(size=8),
        InMemoryByteStore(),
        namespace="fake",
        query_embedding_cache=True,
        key_encoder="sha256",
    )
    store = InMemoryVectorStore.from_documents(facts("abcd"), embeddings)
    return Made(lcel.answering(store.as_retriever() | joined))


def semantic() -> Made:
    """Questions that are close to an earlier one get its answer, from a vector store."""
    store, answers = Store(), vectors()

    def answer(question: str) -> str:
        for near, score in answers.similarity_search_with_score(question, k=1):
            if score > 0.95:
                return str(near.metadata["answer"])
        context = joined(store.similarity_search(question, k=4))
        reply = model().invoke(f"{context}\n\n{question}").text
        answers.add_texts([question], [{"answer": reply}])
        return reply

    return Made(RunnableLambda(answer), memory=lambda: contents(answers))


def retrieved_by_hand() -> Made:
    """What was found is kept, by question: the next run does not retrieve."""
    store, found = Store(), dict[str, Any]()

    def search(question: str) -> Any:
        if question not in found:
            found[question] = store.similarity_search(question, k=4)
        return found[question]

    return Made(answering(search))


SHAPES = (
    Stateful("cache: lru_cache on the answer", on_the_answer, CACHED, anew(on_the_answer)),
    Stateful("cache: a dict by question", by_question, CACHED, anew(by_question)),
    Stateful(
        "cache: a dict by question, after retrieval", after_retrieval, CACHED, anew(after_retrieval)
    ),
    Stateful(
        "cache: a dict by question and context",
        by_question_and_context,
        CACHED,
        anew(by_question_and_context),
    ),
    Stateful("cache: a dict of what was found", retrieved_by_hand, CACHED, anew(retrieved_by_hand)),
    Stateful("cache: set_llm_cache(InMemoryCache())", of_the_model),
    Stateful("cache: a model's own", of_one_model),
    Stateful("cache: CacheBackedEmbeddings", of_embeddings),
    Stateful("cache: answers to close questions, in a vector store", semantic),
)
