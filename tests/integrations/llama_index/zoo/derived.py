"""Indexes that are made of what was found, and stages of which one finds for the next."""

from collections.abc import Callable
from typing import Any

from llama_index.core import Document, MockEmbedding, StorageContext, SummaryIndex, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.postprocessor import PrevNextNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)
from llama_index_rag_rule_explainer import gate

from tests.integrations.known import TEXTS, shown_in
from tests.integrations.llama_index.engines import Counting, engine_of, retriever_of
from tests.integrations.llama_index.models import Telling, nodes
from tests.integrations.llama_index.zoo.agents import texts_of
from tests.integrations.stateful import Made, Stateful

EMBEDDING = MockEmbedding(embed_dim=8)
STEERED = frozenset({"UnseenSourcesNeeded", "NoSourcesCaptured", "ReplayMissedGate", "UnknownQuery"})
"""Refused because what was found only steers what is found next, and is shown to no model."""

INTRODUCTIONS = {
    "a": "This page is about what is found on northern beaches after storms.",
    "b": "This page is about what volcanoes leave behind in quiet valleys.",
    "d": "This page is about what can be seen in deserts from far above.",
}
PAGES = {name: TEXTS[name] for name in INTRODUCTIONS}


def corrective(kind: Any = SummaryIndex, **parameters: Any) -> Callable[[], Made]:
    """All that was found becomes one document, of which an index is made: as corrective RAG does it."""

    def build() -> Made:
        retriever, llm = retriever_of(), Telling()

        def answer(question: str) -> Any:
            everything = texts_of(retriever.retrieve(question)) or "nothing"
            index = kind.from_documents([Document(text=everything)], **parameters)
            return index.as_query_engine(llm=llm).query(question)

        return Made(answer)

    return build


def corrective_awaited() -> Made:
    retriever, llm = retriever_of(), Telling()

    async def answer(question: str) -> Any:
        everything = texts_of(await retriever.aretrieve(question)) or "nothing"
        index = SummaryIndex.from_documents([Document(text=everything)])
        return await index.as_query_engine(llm=llm).aquery(question)

    return Made(answer)


def index_of_found() -> Made:
    """The nodes that were found are put into an index of their own."""
    retriever, llm = retriever_of(), Telling()

    def answer(question: str) -> Any:
        found = [each.node for each in retriever.retrieve(question)]
        index = VectorStoreIndex(found, embed_model=EMBEDDING)
        return index.as_query_engine(llm=llm, similarity_top_k=4).query(question)

    return Made(answer)


def documents_of_found() -> Made:
    """A document is made of each node that was found."""
    retriever, llm = retriever_of(), Telling()

    def answer(question: str) -> Any:
        documents = [Document(text=each.node.get_content()) for each in retriever.retrieve(question)]
        return SummaryIndex.from_documents(documents).as_query_engine(llm=llm).query(question)

    return Made(answer)


def split() -> Made:
    """What was found is split, and the parts are retrieved."""
    pages = [TextNode(id_=n, text=f"{INTRODUCTIONS[n]} {text}") for n, text in PAGES.items()]
    retriever, llm = Counting(pages), Telling()
    splitter = SentenceSplitter(chunk_size=30, chunk_overlap=0, include_metadata=False)

    def answer(question: str) -> str:
        documents = [Document(text=each.node.get_content()) for each in retriever.retrieve(question)]
        parts = splitter.get_nodes_from_documents(documents)
        index = VectorStoreIndex(parts, embed_model=EMBEDDING)
        found = index.as_retriever(similarity_top_k=20).retrieve(question)
        return str(llm.complete(f"{texts_of(found)}\n\n{question}"))

    return Made(answer)


def noted(prompt: str) -> str:
    return " ".join(f"noted-{name}" for name in shown_in(prompt)) or "nothing"


def bad_with_notes(prompt: str) -> str:
    return "bad news" if {"noted-b", "noted-d"} <= set(prompt.split()) else "good news"


def summaries_of_found() -> Made:
    """Each node is summed up by a model; the summaries are indexed and retrieved."""
    retriever, summarizer, llm = retriever_of(), Telling(says=noted), Telling(says=bad_with_notes)

    def answer(question: str) -> Any:
        summaries = [
            TextNode(text=str(summarizer.complete(f"Sum up: {each.node.get_content()}")))
            for each in retriever.retrieve(question)
        ]
        index = VectorStoreIndex(summaries, embed_model=EMBEDDING)
        return index.as_query_engine(llm=llm, similarity_top_k=9).query(question)

    return Made(answer)


def summary_of_all() -> Made:
    """One summary of all that was found, in an index that an engine reads."""
    retriever, summarizer, llm = retriever_of(), Telling(says=noted), Telling(says=bad_with_notes)

    def answer(question: str) -> Any:
        summary = str(summarizer.complete(f"Sum up: {texts_of(retriever.retrieve(question))}"))
        return (
            SummaryIndex.from_documents([Document(text=summary)]).as_query_engine(llm=llm).query(question)
        )

    return Made(answer)


def chunks() -> list[TextNode]:
    return [TextNode(id_=n, text=text, metadata={"page": n}) for n, text in PAGES.items()]


def summary_nodes() -> list[TextNode]:
    return [TextNode(id_=f"s{n}", text=text, metadata={"page": n}) for n, text in INTRODUCTIONS.items()]


def two_stages() -> Callable[[str], list[NodeWithScore]]:
    summaries = VectorStoreIndex(summary_nodes(), embed_model=EMBEDDING)
    parts = VectorStoreIndex(chunks(), embed_model=EMBEDDING)

    def search(question: str) -> list[NodeWithScore]:
        found = summaries.as_retriever(similarity_top_k=4).retrieve(question)
        pages: list[Any] = [each.node.metadata["page"] for each in found]
        if not pages:
            return []
        filters = MetadataFilters(
            filters=[MetadataFilter(key="page", value=pages, operator=FilterOperator.IN)]
        )
        return parts.as_retriever(similarity_top_k=4, filters=filters).retrieve(question)

    return search


def over(search: Callable[[str], list[NodeWithScore]], **parameters: Any) -> Made:
    llm = Telling()
    return Made(
        lambda question: str(llm.complete(f"{texts_of(search(question))}\n\n{question}")),
        parameters=parameters,
    )


def summaries_to_chunks() -> Made:
    return over(two_stages())


def summaries_to_chunks_gated() -> Made:
    """Gated where both are done."""
    return over(gate(two_stages()))


def neighbours() -> Made:
    """What is found is the head of a page; its next node comes from the document store."""
    store, heads = SimpleDocumentStore(), list[TextNode]()
    for name, text in PAGES.items():
        head = TextNode(id_=f"head-{name}", text=INTRODUCTIONS[name])
        body = TextNode(id_=name, text=text)
        head.relationships[NodeRelationship.NEXT] = body.as_related_node_info()
        body.relationships[NodeRelationship.PREVIOUS] = head.as_related_node_info()
        store.add_documents([head, body])
        heads.append(head)
    window = PrevNextNodePostprocessor(docstore=store, num_nodes=1, mode="next")
    return Made(engine_of(Counting(heads), node_postprocessors=[window]))


def windows_by_hand() -> Made:
    """What is found is a sentence; what the model sees is the page it stands on."""
    retriever = VectorStoreIndex(chunks(), embed_model=EMBEDDING).as_retriever(similarity_top_k=4)

    def search(question: str) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=TextNode(text=f"{INTRODUCTIONS[each.node.metadata['page']]} {each.text}"))
            for each in retriever.retrieve(question)
        ]

    return over(search)


def merging() -> Made:
    """Enough children of one parent become that parent."""
    store, leaves = SimpleDocumentStore(), list[TextNode]()
    for name, text in PAGES.items():
        parent = TextNode(id_=name, text=f"{INTRODUCTIONS[name]} {text}")
        children = [
            TextNode(id_=f"{name}{n}", text=part) for n, part in enumerate((INTRODUCTIONS[name], text))
        ]
        for child in children:
            child.relationships[NodeRelationship.PARENT] = parent.as_related_node_info()
        parent.relationships[NodeRelationship.CHILD] = [each.as_related_node_info() for each in children]
        store.add_documents([parent, *children])
        leaves += children
    base: Any = VectorStoreIndex(leaves, embed_model=EMBEDDING).as_retriever(similarity_top_k=8)
    retriever = AutoMergingRetriever(base, StorageContext.from_defaults(docstore=store), verbose=False)
    return Made(RetrieverQueryEngine.from_args(retriever, llm=Telling()))


def parents() -> Callable[[str], list[NodeWithScore]]:
    """Short descriptions are searched, the nodes that they describe are returned."""
    originals = {node.node_id: node for node in nodes("abcd")}
    retriever = VectorStoreIndex(summary_nodes(), embed_model=EMBEDDING).as_retriever(similarity_top_k=4)

    def search(question: str) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=originals[each.node.metadata["page"]])
            for each in retriever.retrieve(question)
        ]

    return search


def parents_by_hand() -> Made:
    return over(parents())


def parents_gated() -> Made:
    return over(gate(parents()))


def keywords_then_vectors() -> Made:
    """Keywords by hand say which nodes the vector search may find."""
    index, llm = VectorStoreIndex(chunks(), embed_model=EMBEDDING), Telling()

    def answer(question: str) -> Any:
        having: list[Any] = [name for name, text in PAGES.items() if "the" in text]
        keyword = MetadataFilter(key="page", value=having, operator=FilterOperator.IN)
        filters = MetadataFilters(filters=[keyword])
        return index.as_query_engine(llm=llm, filters=filters, similarity_top_k=4).query(question)

    return Made(answer)


def keywords_then_index() -> Made:
    """A retriever finds by keywords, an index made of that puts it in order."""
    keywords, llm = retriever_of("dcba"), Telling()
    synthesizer = get_response_synthesizer(llm=llm)

    def answer(question: str) -> Any:
        found = [each.node for each in keywords.retrieve(question)]
        index = VectorStoreIndex(found, embed_model=EMBEDDING)
        best = index.as_retriever(similarity_top_k=4).retrieve(question)
        return synthesizer.synthesize(question, best)

    return Made(answer)


RENAMED: Any = {
    "retention": {frozenset({"sb", "sd"})},
    "omission": {frozenset({"sb"}), frozenset({"sd"})},
}

SHAPES = (
    Stateful("derived: SummaryIndex of one document of all that was found", corrective()),
    Stateful("derived: SummaryIndex of one document, awaited", corrective_awaited),
    Stateful(
        "derived: VectorStoreIndex of one document of all that was found",
        corrective(VectorStoreIndex, embed_model=EMBEDDING),
    ),
    Stateful("derived: an index of the nodes that were found", index_of_found),
    Stateful("derived: an index of documents made of what was found", documents_of_found),
    Stateful("derived: what was found is split, and searched again", split),
    Stateful("derived: an index of summaries of what was found", summaries_of_found),
    Stateful("derived: an index of one summary", summary_of_all),
    Stateful("stages: summaries, then chunks", summaries_to_chunks, STEERED, summaries_to_chunks_gated),
    Stateful("stages: the next node of what was found", neighbours, by_text=True),
    Stateful("stages: windows around sentences", windows_by_hand),
    Stateful("stages: children that become their parents", merging, by_text=True),
    Stateful("stages: parents that do not contain what was found", parents_by_hand, **RENAMED),
    Stateful("stages: parents that do not, in gate", parents_gated),
    Stateful("stages: keywords by hand, then vectors", keywords_then_vectors),
    Stateful("stages: keywords by a retriever, then an index of that", keywords_then_index),
)
