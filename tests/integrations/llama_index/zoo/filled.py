"""Indexes that are there before the run, and that a run fills with what it has retrieved."""

from collections.abc import Callable, Iterable
from typing import Any

from llama_index.core import (
    Document,
    MockEmbedding,
    PropertyGraphIndex,
    SimpleKeywordTableIndex,
    SummaryIndex,
    VectorStoreIndex,
)
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.graph_stores import SimpleGraphStore, SimplePropertyGraphStore
from llama_index.core.graph_stores.types import ChunkNode, PropertyGraphStore
from llama_index.core.indices.property_graph import ImplicitPathExtractor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores.types import BasePydanticVectorStore, VectorStoreQueryResult
from pydantic import Field
from typing_extensions import override

from tests.integrations.known import TEXTS
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling, nodes
from tests.integrations.llama_index.zoo.agents import texts_of
from tests.integrations.stateful import SHARED, Made, Stateful

EMBEDDING = MockEmbedding(embed_dim=8)
WORDS = "amber basalt copper dunes"
Filling = Callable[[list[BaseNode], str], list[NodeWithScore]]
"""Puts what the web had into an index, and searches that."""


def copies(found: Iterable[BaseNode]) -> list[TextNode]:
    return [TextNode(text=f"> {each.get_content()}") for each in found]


def filling(fill_and_search: Filling, web: str = "bcd") -> Made:
    retriever, llm = retriever_of(web), Telling()

    def answer(question: str) -> str:
        found: list[BaseNode] = [each.node for each in retriever.retrieve(f"the web: {question}")]
        return str(llm.complete(f"{texts_of(fill_and_search(found, question))}\n\n{question}"))

    return Made(answer)


def inserted() -> Made:
    index = VectorStoreIndex(nodes("ad"), embed_model=EMBEDDING)

    def fill(found: list[BaseNode], question: str) -> list[NodeWithScore]:
        for each in copies(found):
            index.insert(Document(text=each.text))
        return index.as_retriever(similarity_top_k=9).retrieve(question)

    return filling(fill, "bc")


def inserted_awaited() -> Made:
    index = VectorStoreIndex(nodes("a"), embed_model=EMBEDDING)
    retriever, llm = retriever_of("bcd"), Telling()

    async def answer(question: str) -> str:
        index.insert_nodes(copies(each.node for each in await retriever.aretrieve("the web")))
        found = await index.as_retriever(similarity_top_k=9).aretrieve(question)
        return str(await llm.acomplete(f"{texts_of(found)}\n\n{question}"))

    return Made(answer)


def one_text() -> Made:
    """All that was found becomes one document of the index."""
    index = VectorStoreIndex(nodes("a"), embed_model=EMBEDDING)

    def fill(found: list[BaseNode], question: str) -> list[NodeWithScore]:
        everything = "\n".join(each.get_content() for each in found)
        index.insert(Document(text=everything or "nothing"))
        return index.as_retriever(similarity_top_k=9).retrieve(question)

    return filling(fill)


def summary() -> Made:
    index = SummaryIndex(nodes("a"))

    def fill(found: list[BaseNode], question: str) -> list[NodeWithScore]:
        index.insert_nodes(copies(found))
        return index.as_retriever().retrieve(question)

    return filling(fill)


def keywords() -> Made:
    index = SimpleKeywordTableIndex(nodes("a"), llm=Telling())

    def fill(found: list[BaseNode], question: str) -> list[NodeWithScore]:
        index.insert_nodes(copies(found))
        return index.as_retriever().retrieve(WORDS)

    return filling(fill)


class Everything(BaseRetriever):
    """Finds whatever a function lists."""

    def __init__(self, listed: Callable[[], Iterable[BaseNode]]) -> None:
        super().__init__()
        self.listed = listed

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=each) for each in self.listed()]


def docstore() -> Made:
    store = SimpleDocumentStore()
    store.add_documents(nodes("a"))
    retriever = Everything(lambda: store.docs.values())

    def fill(found: list[BaseNode], question: str) -> list[NodeWithScore]:
        store.add_documents(copies(found))
        return retriever.retrieve(question)

    return filling(fill)


def chunks_in(store: PropertyGraphStore) -> list[BaseNode]:
    return [TextNode(text=each.text) for each in store.get() if isinstance(each, ChunkNode)]


def property_graph() -> Made:
    index = PropertyGraphIndex(
        nodes("a"),
        kg_extractors=[ImplicitPathExtractor()],
        embed_model=EMBEDDING,
        llm=Telling(),
        property_graph_store=SimplePropertyGraphStore(),
    )

    def fill(found: list[BaseNode], question: str) -> list[NodeWithScore]:
        index.insert_nodes(copies(found))
        return Everything(lambda: chunks_in(index.property_graph_store)).retrieve(question)

    return filling(fill)


def triplets() -> Made:
    store = SimpleGraphStore()
    store.upsert_triplet("it", "says", TEXTS["a"])
    retriever = Everything(lambda: [TextNode(text=text) for _, text in store.get("it")])

    def fill(found: list[BaseNode], question: str) -> list[NodeWithScore]:
        for each in copies(found):
            store.upsert_triplet("it", "says", each.text)
        return retriever.retrieve(question)

    return filling(fill)


class Holding(BaseRetriever):
    """An index of the user's own: a list."""

    def __init__(self, held: Iterable[BaseNode]) -> None:
        super().__init__()
        self.held = list(held)

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=each) for each in self.held]


def holding(*, anew: bool = False) -> Callable[[], Made]:
    def build() -> Made:
        kept = Holding(nodes("a"))

        def fill(found: list[BaseNode], question: str) -> list[NodeWithScore]:
            retriever = Holding(nodes("a")) if anew else kept
            retriever.held.extend(copies(found))
            return retriever.retrieve(question)

        return filling(fill)

    return build


class Vectors(BasePydanticVectorStore):
    """A vector store of which nobody knows where it keeps what it holds."""

    stores_text: bool = True
    held: list[Any] = Field(default_factory=list)

    @property
    @override
    def client(self) -> Any:
        return None

    @override
    def add(self, nodes: Any, **kwargs: Any) -> list[str]:
        self.held.extend(nodes)
        return [each.node_id for each in nodes]

    @override
    def delete(self, ref_doc_id: str, **kwargs: Any) -> None:
        raise NotImplementedError

    @override
    def query(self, query: Any, **kwargs: Any) -> VectorStoreQueryResult:
        ids = [each.node_id for each in self.held]
        return VectorStoreQueryResult(nodes=list(self.held), similarities=[1.0 for _ in ids], ids=ids)


def vectors_outside(*, anew: bool = False) -> Callable[[], Made]:
    def made() -> VectorStoreIndex:
        index = VectorStoreIndex.from_vector_store(Vectors(), embed_model=EMBEDDING)
        index.insert_nodes(nodes("a"))
        return index

    def build() -> Made:
        kept = made()

        def fill(found: list[BaseNode], question: str) -> list[NodeWithScore]:
            index = made() if anew else kept
            index.insert_nodes(copies(found))
            return index.as_retriever(similarity_top_k=9).retrieve(question)

        return filling(fill)

    return build


class Graph(PropertyGraphStore):
    """A graph of which nobody knows where it keeps what it holds."""

    def __init__(self) -> None:
        self.held: dict[str, Any] = {}
        self.upsert_nodes([ChunkNode(text=TEXTS["a"], id_="a")])

    @override
    def get(self, properties: Any = None, ids: Any = None) -> list[Any]:
        return list(self.held.values())

    @override
    def upsert_nodes(self, nodes: Any) -> None:
        self.held.update({each.id: each for each in nodes})

    @override
    def get_triplets(self, *args: Any, **kwargs: Any) -> list[Any]:
        return []

    @override
    def get_rel_map(self, *args: Any, **kwargs: Any) -> list[Any]:
        return []

    @override
    def upsert_relations(self, relations: Any) -> None:
        raise NotImplementedError

    @override
    def delete(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError

    @override
    def structured_query(self, query: str, param_map: Any = None) -> Any:
        raise NotImplementedError

    @override
    def vector_query(self, query: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def graph_outside(*, anew: bool = False) -> Callable[[], Made]:
    def build() -> Made:
        kept = Graph()

        def fill(found: list[BaseNode], question: str) -> list[NodeWithScore]:
            graph = Graph() if anew else kept
            graph.upsert_nodes([ChunkNode(text=each.text, id_=each.node_id) for each in copies(found)])
            return Everything(lambda: chunks_in(graph)).retrieve(question)

        return filling(fill)

    return build


SHAPES = (
    Stateful("filled: VectorStoreIndex.insert", inserted),
    Stateful("filled: VectorStoreIndex.insert_nodes, awaited", inserted_awaited),
    Stateful("filled: VectorStoreIndex, with one document of all that was found", one_text),
    Stateful("filled: SummaryIndex", summary),
    Stateful("filled: a keyword table", keywords),
    Stateful("filled: a document store", docstore),
    Stateful("filled: PropertyGraphIndex", property_graph, by_text=True),
    Stateful("filled: SimpleGraphStore", triplets, by_text=True),
    Stateful("filled: a list of a retriever's own", holding(), SHARED, holding(anew=True)),
    Stateful("filled: a vector store outside", vectors_outside(), SHARED, vectors_outside(anew=True)),
    Stateful("filled: a graph outside", graph_outside(), SHARED, graph_outside(anew=True), by_text=True),
)
