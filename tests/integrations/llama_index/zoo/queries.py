"""Query engines over one retriever: synthesizers, postprocessors, indices, transforms."""

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core import MockEmbedding, StorageContext, SummaryIndex, VectorStoreIndex
from llama_index.core.evaluation import EvaluationResult
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.postprocessor import (
    LLMRerank,
    LongContextReorder,
    MetadataReplacementPostProcessor,
    SimilarityPostprocessor,
)
from llama_index.core.query_engine import (
    CitationQueryEngine,
    CustomQueryEngine,
    RetrieverQueryEngine,
    RetryQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.response_synthesizers.context_only import ContextOnly
from llama_index.core.schema import Document, NodeWithScore, QueryBundle, TextNode
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryResult
from pydantic import PrivateAttr
from typing_extensions import override

from rag_rule_explainer import Case, Explanation, condition
from tests.integrations.known import TEXTS, ids, sets
from tests.integrations.llama_index.engines import Counting, engine_of, retriever_of
from tests.integrations.llama_index.models import Telling, bad_with_b, nodes
from tests.integrations.llama_index.zoo.shapes import Built, Shape, asked


def over(names: str = "abd", llm: Any = None, **parameters: Any) -> Callable[[], Built]:
    """The ordinary query engine over a retriever of these."""

    def build() -> Built:
        retriever = retriever_of(names)
        return Built(engine_of(retriever, llm, **parameters), asked(retriever))

    return build


def streaming(names: str = "abd", **parameters: Any) -> Callable[[], Built]:
    return over(names, streaming=True, **parameters)


class Queries:
    """Those that were really made, by whatever run: no run has this list for itself."""

    def __init__(self) -> None:
        self.made: list[str] = []


class CountedStore(SimpleVectorStore):
    """Remembers how often it was really queried."""

    _queries: Queries = PrivateAttr(default_factory=Queries)

    @property
    def live(self) -> int:
        return len(self._queries.made)

    @override
    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        self._queries.made.append(str(query.query_str))
        return super().query(query, **kwargs)


def vector_index(names: str = "abd") -> tuple[Any, Callable[[], int]]:
    """An index, and how often its vector store was really queried."""
    store = CountedStore()
    storage = StorageContext.from_defaults(vector_store=store)
    index = VectorStoreIndex(
        nodes(names), storage_context=storage, embed_model=MockEmbedding(embed_dim=8)
    )
    return index, lambda: store.live


def of_vectors(**parameters: Any) -> Callable[[], Built]:
    def build() -> Built:
        index, live = vector_index()
        engine = index.as_query_engine(llm=Telling(), similarity_top_k=4, **parameters)
        return Built(engine, live)

    return build


def chunked() -> Built:
    """Whole documents are split, and found under ids of their own."""
    documents = [Document(text=TEXTS[name], id_=name) for name in "abd"]
    store = CountedStore()
    index = VectorStoreIndex.from_documents(
        documents,
        storage_context=StorageContext.from_defaults(vector_store=store),
        transformations=[SentenceSplitter()],
        embed_model=MockEmbedding(embed_dim=8),
    )
    return Built(index.as_query_engine(llm=Telling(), similarity_top_k=4), lambda: store.live)


def of_summaries() -> Built:
    index = SummaryIndex(nodes("abd"))
    return Built(index.as_query_engine(llm=Telling()), lambda: 0)


def reranked() -> Built:
    """The reranker is shown everything; the answering model what it let pass."""
    retriever = retriever_of("dcba")
    ranking = "Doc: 4, Relevance: 10\nDoc: 3, Relevance: 9\nDoc: 1, Relevance: 8"
    judge = Telling(script=[("A list of documents is shown below", ranking)])
    rerank = LLMRerank(llm=judge, top_n=3)
    return Built(engine_of(retriever, node_postprocessors=[rerank]), asked(retriever))


def saw_three_of_them(explanation: Explanation) -> None:
    assert ids(explanation) == ["a", "b", "d"]
    assert explanation.held_out == ()


def windows() -> Built:
    """What is found is short; what the model sees is the window it stands in."""
    short = [TextNode(id_=name, text=name.upper(), metadata={"window": TEXTS[name]}) for name in "abd"]
    retriever = Counting(short)
    replace = MetadataReplacementPostProcessor(target_metadata_key="window")
    return Built(engine_of(retriever, node_postprocessors=[replace]), asked(retriever))


def cited(**parameters: Any) -> Callable[[], Built]:
    def build() -> Built:
        retriever = retriever_of()
        engine = CitationQueryEngine.from_args(
            index=None,  # type: ignore[arg-type] -- the retriever is all that it uses
            retriever=retriever,
            llm=Telling(),
            **parameters,
        )
        return Built(engine, asked(retriever))

    return build


def hypothetical(**parameters: Any) -> Callable[[], Built]:
    def build() -> Built:
        retriever = retriever_of()
        writer = Telling(script=[("write a passage", "It is because of the weather.")])
        hyde = HyDEQueryTransform(llm=writer, include_original=True)
        return Built(TransformQueryEngine(engine_of(retriever, **parameters), hyde), asked(retriever))

    return build


class Own(CustomQueryEngine):
    """As the documentation shows it: a retriever and a model, put together by hand."""

    retriever: Any
    llm: Any

    @override
    def custom_query(self, query_str: str) -> str:
        found = self.retriever.retrieve(query_str)
        context = "\n\n".join(node.node.get_content() for node in found)
        return str(self.llm.complete(f"{context}\n\n{query_str}"))


class AsyncOwn(Own):
    """The same with an async entry of its own."""

    @override
    async def acustom_query(self, query_str: str) -> str:
        found = await self.retriever.aretrieve(query_str)
        context = "\n\n".join(node.node.get_content() for node in found)
        return str(await self.llm.acomplete(f"{context}\n\n{query_str}"))


def custom(kind: type[Own]) -> Callable[[], Built]:
    def build() -> Built:
        retriever = retriever_of()
        return Built(kind(retriever=retriever, llm=Telling()), asked(retriever))

    return build


class Overriding(RetrieverQueryEngine):
    """Has an entry of its own."""

    @override
    def _query(self, query_bundle: QueryBundle) -> Any:
        return self.synthesize(query_bundle, self.retrieve(query_bundle)[::-1])

    @override
    async def _aquery(self, query_bundle: QueryBundle) -> Any:
        return await self.asynthesize(query_bundle, (await self.aretrieve(query_bundle))[::-1])


def overriding() -> Built:
    retriever = retriever_of()
    return Built(Overriding.from_args(retriever, llm=Telling()), asked(retriever))


class Content:
    """Evaluates every response as passing."""

    def evaluate_response(self, *_: Any, **__: Any) -> EvaluationResult:
        return EvaluationResult(passing=True)


def retried() -> Built:
    retriever = retriever_of()
    evaluator: Any = Content()
    return Built(RetryQueryEngine(engine_of(retriever), evaluator), asked(retriever))


def no_model() -> Built:
    retriever = retriever_of()
    engine = engine_of(retriever, response_synthesizer=ContextOnly(llm=Telling()))
    return Built(engine, asked(retriever))


def shows_b_and_d(case: Case) -> bool:
    return TEXTS["b"] in case.answer.text and TEXTS["d"] in case.answer.text


def below(cutoff: float) -> Sequence[Any]:
    return [SimilarityPostprocessor(similarity_cutoff=cutoff)]


class Doubled(Counting):
    """Finds everything twice, as hybrid searches do that do not merge."""

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = super()._retrieve(query_bundle)
        return [*found, *found]


def doubled() -> Built:
    retriever = Doubled(nodes("abd"))
    return Built(engine_of(retriever), asked(retriever))


SHAPES = (
    Shape("query engine, compact", over(), streams=streaming()),
    Shape(
        "query engine, refine",
        over(response_mode=ResponseMode.REFINE),
        streams=streaming(response_mode=ResponseMode.REFINE),
    ),
    Shape(
        "query engine, tree_summarize",
        over(response_mode=ResponseMode.TREE_SUMMARIZE),
        streams=streaming(response_mode=ResponseMode.TREE_SUMMARIZE),
    ),
    Shape(
        "query engine, tree_summarize of many prompts, async inside",
        over(llm=Telling(window=460), response_mode=ResponseMode.TREE_SUMMARIZE, use_async=True),
    ),
    Shape(
        "query engine, simple_summarize",
        over(response_mode=ResponseMode.SIMPLE_SUMMARIZE),
        streams=streaming(response_mode=ResponseMode.SIMPLE_SUMMARIZE),
    ),
    Shape(
        "query engine, accumulate",
        over(llm=Telling(says=bad_with_b), response_mode=ResponseMode.ACCUMULATE),
        sets("b"),
        sets("b"),
    ),
    Shape(
        "query engine, compact_accumulate, async inside",
        over(response_mode=ResponseMode.COMPACT_ACCUMULATE, use_async=True),
    ),
    Shape(
        "query engine, context_only: no model",
        no_model,
        predicate=condition(shows_b_and_d, "the answer shows b and d"),
        scope="retrieved",
    ),
    Shape(
        "query engine, a cutoff after retrieval",
        over("abdc", node_postprocessors=below(0.3)),
        streams=streaming("abdc", node_postprocessors=below(0.3)),
        more=saw_three_of_them,
    ),
    Shape("query engine, an LLM reranker", reranked, more=lambda x: sorted_alike(x, "abd")),
    Shape("query engine, reordered", over(node_postprocessors=[LongContextReorder()]), by="gate"),
    Shape("query engine, sentence windows", windows),
    Shape("query engine, everything found twice", doubled),
    Shape("query engine with a _query of its own", overriding),
    Shape("VectorStoreIndex.as_query_engine", of_vectors(), streams=of_vectors(streaming=True)),
    Shape("VectorStoreIndex.from_documents, split", chunked),
    Shape("SummaryIndex.as_query_engine", of_summaries, live=0),
    Shape("CitationQueryEngine", cited(), streams=cited(streaming=True)),
    Shape("TransformQueryEngine (HyDE)", hypothetical(), streams=hypothetical(streaming=True)),
    Shape("RetryQueryEngine", retried),
    Shape("CustomQueryEngine", custom(Own), by="gate"),
    Shape("CustomQueryEngine, async", custom(AsyncOwn), by="gate"),
)


def sorted_alike(explanation: Explanation, names: str) -> None:
    assert sorted(ids(explanation)) == sorted(names)
