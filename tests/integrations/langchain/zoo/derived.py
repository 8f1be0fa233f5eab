"""Indexes that are made of what was found, and stages of which one finds for the next."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_rule_explainer import gate
from langchain_text_splitters import RecursiveCharacterTextSplitter

from tests.integrations.known import TEXTS, shown_in
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.zoo import lcel
from tests.integrations.langchain.zoo.classic import Noting
from tests.integrations.langchain.zoo.heeding import text_of
from tests.integrations.langchain.zoo.shapes import Store, answering, joined, model, retriever_of
from tests.integrations.stateful import Made, Stateful

EMBEDDINGS = DeterministicFakeEmbedding(size=8)
STEERED = frozenset({"UnseenSourcesNeeded", "NoSourcesCaptured", "ReplayMissedGate", "UnknownQuery"})
"""Refused because what was found only steers what is found next, and is shown to no model."""

INTRODUCTIONS = {
    "a": "This page is about what is found on northern beaches after storms.",
    "b": "This page is about what volcanoes leave behind in quiet valleys.",
    "c": "This page is about what happens to buildings in rainy cities.",
    "d": "This page is about what can be seen in deserts from far above.",
}


def pages(names: str = "abcd") -> list[Document]:
    """Longer documents: two sentences each."""
    return [Document(id=n, page_content=f"{INTRODUCTIONS[n]}\n\n{TEXTS[n]}") for n in names]


def index_of_found() -> Made:
    """What was found is put into an index of its own, and retrieved from that."""
    retriever = retriever_of()

    def search(question: str) -> list[Document]:
        found = retriever.invoke(question)
        index = InMemoryVectorStore.from_documents(found, EMBEDDINGS)
        return index.as_retriever(search_kwargs={"k": 4}).invoke(question)

    return Made(answering(search))


def index_of_found_awaited() -> Made:
    store = Store()

    async def answer(question: str) -> str:
        found = await store.asimilarity_search(question, k=4)
        index = InMemoryVectorStore(EMBEDDINGS)
        await index.aadd_documents(found)
        again = await index.asimilarity_search(question, k=4)
        return (await model().ainvoke(joined(again) or question)).text

    return Made(RunnableLambda(answer))


def split() -> Made:
    """What was found is split, and the chunks are retrieved."""
    retriever = lcel.Scripted(script=lambda _: pages())
    splitter = RecursiveCharacterTextSplitter(chunk_size=100, chunk_overlap=0)

    def search(question: str) -> list[Document]:
        chunks = splitter.split_documents(retriever.invoke(question))
        index = InMemoryVectorStore.from_documents(chunks, EMBEDDINGS)
        return index.similarity_search(question, k=20)

    return Made(answering(search))


def one_text() -> Made:
    """All that was found becomes one document, of which an index is made: as corrective RAG does it."""
    retriever = retriever_of()

    def search(question: str) -> list[Document]:
        everything = Document(page_content=joined(retriever.invoke(question)) or "nothing")
        return InMemoryVectorStore.from_documents([everything], EMBEDDINGS).similarity_search(question)

    return Made(answering(search))


def noted(messages: list[BaseMessage]) -> str:
    return " ".join(f"noted-{name}" for name in shown_in(text_of(messages))) or "nothing"


def summaries_of_found() -> Made:
    """Each document is summed up by a model; the summaries are indexed and retrieved."""
    retriever, summarizer, llm = retriever_of(), Telling(says=noted), Noting()

    def answer(question: str) -> str:
        summaries = [
            Document(page_content=summarizer.invoke(f"Sum up: {found.page_content}").text)
            for found in retriever.invoke(question)
        ]
        index = InMemoryVectorStore.from_documents(summaries, EMBEDDINGS)
        return llm.invoke(f"Notes:\n{joined(index.similarity_search(question, k=9))}\n\n{question}").text

    return Made(RunnableLambda(answer))


def compressed() -> Made:
    """A pipeline inside the retriever, which splits what was found."""
    pipeline = DocumentCompressorPipeline(
        transformers=[
            RecursiveCharacterTextSplitter(chunk_size=100, chunk_overlap=0),
        ]
    )
    retriever = ContextualCompressionRetriever(
        base_compressor=pipeline, base_retriever=lcel.Scripted(script=lambda _: pages())
    )
    return Made(lcel.answering(retriever | joined))


def keywords_then_vectors() -> Made:
    """A keyword search by hand says which documents the vector search may find."""
    store = Store()

    def answer(question: str) -> str:
        having = {name for name, text in TEXTS.items() if "the" in text}
        found = store.similarity_search(question, k=4, filter=lambda document: document.id in having)
        return model().invoke(joined(found) or question).text

    return Made(RunnableLambda(answer))


def keywords_then_index() -> Made:
    """A retriever finds by keywords, an index made of that puts it in order."""
    keywords = lcel.Scripted(script=lambda _: facts("dcba"))

    def answer(question: str) -> str:
        index = InMemoryVectorStore(EMBEDDINGS)
        index.add_documents(keywords.invoke(question))
        found = [document for document, _ in index.similarity_search_with_score(question, k=4)]
        return model().invoke(joined(found) or question).text

    return Made(RunnableLambda(answer))


SUMMARIES = [
    Document(id=f"s{name}", page_content=text, metadata={"page": name})
    for name, text in INTRODUCTIONS.items()
]


def chunks() -> InMemoryVectorStore:
    store = InMemoryVectorStore(EMBEDDINGS)
    store.add_documents(
        [Document(id=name, page_content=text, metadata={"page": name}) for name, text in TEXTS.items()]
    )
    return store


def two_stages() -> Callable[[str], list[Document]]:
    summaries, parts = InMemoryVectorStore.from_documents(SUMMARIES, EMBEDDINGS), chunks()

    def search(question: str) -> list[Document]:
        pages = {found.metadata["page"] for found in summaries.similarity_search(question, k=4)}
        return parts.similarity_search(
            question, k=4, filter=lambda chunk: chunk.metadata["page"] in pages
        )

    return search


def summaries_to_chunks() -> Made:
    return Made(answering(two_stages()))


def summaries_to_chunks_gated() -> Made:
    """Gated where both are done."""
    return Made(answering(gate(two_stages())))


def windows() -> Made:
    """What is found is a sentence; what the model sees is the page it stands on."""
    store = chunks()

    def search(question: str) -> list[Document]:
        return [
            Document(page_content=f"{INTRODUCTIONS[found.metadata['page']]} {found.page_content}")
            for found in store.similarity_search(question, k=4)
        ]

    return Made(answering(search))


def parents() -> Callable[[str], Sequence[Document]]:
    """Short descriptions are searched, the documents that they describe are returned."""
    originals = {name: Document(id=name, page_content=text) for name, text in TEXTS.items()}
    children = InMemoryVectorStore.from_documents(SUMMARIES, EMBEDDINGS)

    def search(question: str) -> list[Document]:
        found = children.similarity_search(question, k=4)
        return [originals[child.metadata["page"]] for child in found]

    return search


def parents_by_hand() -> Made:
    return Made(answering(parents()))


def parents_gated() -> Made:
    return Made(answering(gate(parents())))


def parents_as_retrieved() -> Made:
    """The descriptions are the sources, although no model sees them."""
    made: dict[str, Any] = {"scope": "retrieved"}
    return Made(answering(parents()), parameters=made)


def children_in_their_parents() -> Made:
    """The chunks are found; the pages that they are part of are shown."""
    store = chunks()
    texts = {page.id: page.page_content for page in pages()}

    def search(question: str) -> list[Document]:
        found = store.similarity_search(question, k=4)
        return [Document(page_content=texts[each.metadata["page"]]) for each in found]

    return Made(answering(search))


RENAMED: Any = {
    "retention": {frozenset({"sb", "sd"})},
    "omission": {frozenset({"sb"}), frozenset({"sd"})},
}

SHAPES = (
    Stateful("derived: an index of what was found", index_of_found),
    Stateful("derived: an index of what was found, awaited", index_of_found_awaited),
    Stateful("derived: what was found is split, and searched again", split),
    Stateful("derived: an index of one document of all that was found", one_text),
    Stateful("derived: an index of summaries of what was found", summaries_of_found),
    Stateful("derived: a pipeline of compressors that splits", compressed, by_text=True),
    Stateful("stages: keywords by hand, then vectors", keywords_then_vectors),
    Stateful("stages: keywords by a retriever, then an index of that", keywords_then_index),
    # The second search goes by its query, so nobody knows what it would find for another one.
    Stateful(
        "stages: summaries, then chunks",
        summaries_to_chunks,
        STEERED,
        summaries_to_chunks_gated,
        in_part=True,
    ),
    Stateful("stages: windows around sentences", windows),
    Stateful("stages: parents that contain what was found", children_in_their_parents),
    Stateful("stages: parents that do not", parents_by_hand, **RENAMED),
    Stateful("stages: parents that do not, as retrieved", parents_as_retrieved, **RENAMED),
    Stateful("stages: parents that do not, in gate", parents_gated),
)
