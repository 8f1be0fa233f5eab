"""Answers and vectors that are kept, so that they are not made twice."""

from functools import lru_cache
from typing import Any

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.ingestion import IngestionCache, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import TextNode

from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling
from tests.integrations.llama_index.zoo.agents import texts_of
from tests.integrations.llama_index.zoo.heeding import anew
from tests.integrations.stateful import CACHED, Made, Stateful


def on_the_answer() -> Made:
    engine = engine_of(retriever_of())

    @lru_cache(maxsize=128)
    def answer(question: str) -> str:
        return str(engine.query(question))

    return Made(lambda question: answer(question))


def by_question() -> Made:
    engine, answers = engine_of(retriever_of()), dict[str, Any]()

    def answer(question: str) -> Any:
        if question not in answers:
            answers[question] = engine.query(question)
        return answers[question]

    return Made(answer)


def by_question_awaited() -> Made:
    engine, answers = engine_of(retriever_of()), dict[str, Any]()

    async def answer(question: str) -> Any:
        if question not in answers:
            answers[question] = await engine.aquery(question)
        return answers[question]

    return Made(answer)


def after_retrieval() -> Made:
    """Retrieves always, and answers from what it answered to that question before."""
    retriever, llm, answers = retriever_of(), Telling(), dict[str, str]()

    def answer(question: str) -> str:
        found = texts_of(retriever.retrieve(question))
        if question not in answers:
            answers[question] = str(llm.complete(f"{found}\n\n{question}"))
        return answers[question]

    return Made(answer)


def by_question_and_context() -> Made:
    retriever, llm, answers = retriever_of(), Telling(), dict[tuple[str, str], str]()

    def answer(question: str) -> str:
        found = texts_of(retriever.retrieve(question))
        if (question, found) not in answers:
            answers[question, found] = str(llm.complete(f"{found}\n\n{question}"))
        return answers[question, found]

    return Made(answer)


def semantic() -> Made:
    """Questions that are close to an earlier one get its answer, from an index."""
    engine: Any = engine_of(retriever_of())
    answers: Any = VectorStoreIndex([], embed_model=MockEmbedding(embed_dim=8))

    def answer(question: str) -> str:
        for near in answers.as_retriever(similarity_top_k=1).retrieve(question):
            if (near.score or 0) > 0.95:
                return str(near.node.metadata["answer"])
        reply = str(engine.query(question))
        answers.insert_nodes([TextNode(text=question, metadata={"answer": reply})])
        return reply

    return Made(answer, memory=lambda: sorted(answers.vector_store.data.embedding_dict))


def of_a_pipeline() -> Made:
    """What was found goes through an ingestion pipeline with a cache."""
    retriever, llm = retriever_of(), Telling()
    pipeline = IngestionPipeline(transformations=[SentenceSplitter()], cache=IngestionCache())

    def answer(question: str) -> str:
        documents = [Document(text=each.node.get_content()) for each in retriever.retrieve(question)]
        parts = pipeline.run(documents=documents)
        return str(llm.complete("\n\n".join([*(str(part.get_content()) for part in parts), question])))

    return Made(answer)


SHAPES = (
    Stateful("cache: lru_cache on the answer", on_the_answer, CACHED, anew(on_the_answer)),
    Stateful("cache: a dict by question", by_question, CACHED, anew(by_question)),
    Stateful(
        "cache: a dict by question, awaited", by_question_awaited, CACHED, anew(by_question_awaited)
    ),
    Stateful(
        "cache: a dict by question, after retrieval", after_retrieval, CACHED, anew(after_retrieval)
    ),
    Stateful(
        "cache: a dict by question and context",
        by_question_and_context,
        CACHED,
        anew(by_question_and_context),
    ),
    Stateful("cache: answers to close questions, in an index", semantic),
    Stateful("cache: an ingestion pipeline's", of_a_pipeline),
)
