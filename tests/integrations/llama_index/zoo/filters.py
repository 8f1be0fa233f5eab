"""Two searches that differ in a function, or in a filter, alone."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from llama_index.core import MockEmbedding, StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.vector_stores import ExactMatchFilter, MetadataFilters, SimpleVectorStore
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryResult
from typing_extensions import override

from tests.integrations.known import TEXTS
from tests.integrations.llama_index.models import Telling
from tests.integrations.llama_index.zoo.agents import texts_of
from tests.integrations.stateful import Made, Stateful

Filter = Callable[[Any], bool]
PUBLIC = {"a": "yes", "b": "yes", "c": "no", "d": "no"}


def library() -> list[TextNode]:
    """Two public nodes, and two of the staff."""
    return [TextNode(id_=n, text=text, metadata={"public": PUBLIC[n]}) for n, text in TEXTS.items()]


class Filtering(BaseRetriever):
    """Finds the nodes that a function allows."""

    def __init__(self, found: list[TextNode], allows: Filter) -> None:
        super().__init__()
        self.found, self.allows = found, allows

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=each, score=0.5) for each in self.found if self.allows(each)]


class FilteringStore(SimpleVectorStore):
    """A vector store that is told by a function what it may find."""

    stores_text: bool = True

    @override
    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        where: Filter = kwargs["where"]
        found: list[BaseNode] = [each for each in library() if where(each)]
        return VectorStoreQueryResult(
            nodes=found, similarities=[0.5] * len(found), ids=[each.node_id for each in found]
        )


def answering(
    public: Callable[[str], list[NodeWithScore]], staff: Callable[[str], list[NodeWithScore]]
) -> Any:
    """The two best of the public, and the two best of the staff's."""
    llm = Telling()

    def answer(question: str) -> str:
        one, two = public(question)[:2], staff(question)[:2]
        return str(llm.complete(f"Public:\n{texts_of(one)}\n\nStaff:\n{texts_of(two)}\n\n{question}"))

    return answer


def of_retrievers(public: Filter, staff: Filter) -> Made:
    found = library()
    return Made(answering(Filtering(found, public).retrieve, Filtering(found, staff).retrieve))


def made_for_each_question(public: Filter, staff: Filter) -> Made:
    """The retrievers live as long as one question."""
    found = library()
    return Made(
        answering(
            lambda question: Filtering(found, public).retrieve(question),
            lambda question: Filtering(found, staff).retrieve(question),
        )
    )


def of_a_store(public: Filter, staff: Filter) -> Made:
    """One index, two retrievers with arguments for its store."""
    storage = StorageContext.from_defaults(vector_store=FilteringStore())
    index = VectorStoreIndex(library(), storage_context=storage, embed_model=MockEmbedding(embed_dim=8))
    one = index.as_retriever(vector_store_kwargs={"where": public})
    two = index.as_retriever(vector_store_kwargs={"where": staff})
    return Made(answering(one.retrieve, two.retrieve))


def of_queries(public: Filter, staff: Filter) -> Made:
    """One store, queried twice by hand."""
    store = FilteringStore()

    def search(question: str, where: Filter) -> list[NodeWithScore]:
        query = VectorStoreQuery([0.5] * 8, similarity_top_k=4, query_str=question)
        return [NodeWithScore(node=each) for each in store.query(query, where=where).nodes or ()]

    return Made(answering(lambda q: search(q, public), lambda q: search(q, staff)))


def for_audience(public: str) -> Filter:
    return lambda node: node.metadata["public"] == public


class Audience:
    """A filter that is an object."""

    def __init__(self, public: str) -> None:
        self.public = public

    def __call__(self, node: Any) -> bool:
        return node.metadata["public"] == self.public

    def allows(self, node: Any) -> bool:
        return self(node)


def audience_is(public: str, node: Any) -> bool:
    return node.metadata["public"] == public


PAIRS: dict[str, tuple[Filter, Filter]] = {
    "two lambdas": (
        lambda node: node.metadata["public"] == "yes",
        lambda node: node.metadata["public"] != "yes",
    ),
    "one lambda over two values": (for_audience("yes"), for_audience("no")),
    "two callable objects": (Audience("yes"), Audience("no")),
    "two partials": (partial(audience_is, "yes"), partial(audience_is, "no")),
    "two bound methods": (Audience("yes").allows, Audience("no").allows),
}


def with_metadata_filters() -> Made:
    """As LlamaIndex itself filters."""
    index = VectorStoreIndex(library(), embed_model=MockEmbedding(embed_dim=8))

    def search(question: str, public: str) -> list[NodeWithScore]:
        filters = MetadataFilters(filters=[ExactMatchFilter(key="public", value=public)])
        return index.as_retriever(filters=filters, similarity_top_k=4).retrieve(question)

    return Made(answering(lambda q: search(q, "yes"), lambda q: search(q, "no")))


def gathered() -> Made:
    """Two retrievers awaited at once."""
    one, two = Filtering(library(), for_audience("yes")), Filtering(library(), for_audience("no"))
    llm = Telling()

    async def answer(question: str) -> str:
        both = await asyncio.gather(one.aretrieve(question), two.aretrieve(question))
        return str(await llm.acomplete("\n\n".join(texts_of(found[:2]) for found in both)))

    return Made(answer)


def named(where: str, build: Callable[[Filter, Filter], Made], *pairs: str) -> list[Stateful]:
    return [
        Stateful(f"filters: {pair}, {where}", lambda pair=pair: build(*PAIRS[pair])) for pair in pairs
    ]


SHAPES = (
    *named("in retrievers", of_retrievers, "two lambdas", "two callable objects"),
    *named(
        "in retrievers made for each question",
        made_for_each_question,
        "two lambdas",
        "one lambda over two values",
        "two callable objects",
        "two partials",
        "two bound methods",
    ),
    *named("for a store", of_a_store, "two lambdas", "one lambda over two values", "two partials"),
    *named("in queries of a store", of_queries, "two lambdas", "one lambda over two values"),
    Stateful("filters: MetadataFilters", with_metadata_filters),
    Stateful("filters: two retrievers awaited at once", gathered),
)
