"""Applications of LlamaIndex, one of each shape, whose answers rest on known documents."""

import asyncio
from collections.abc import Callable
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryResult
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step

from tests.integrations.known import TEXTS
from tests.integrations.llama_index.engines import Counting, engine_of
from tests.integrations.llama_index.models import Telling, bad_where_both_are_shown
from tests.traces.making.of_langchain import QUESTION, Asked


def nodes() -> list[TextNode]:
    return [
        TextNode(id_="amber", text=TEXTS["a"], metadata={"file_name": "stones.txt", "page": 3}),
        TextNode(id_="basalt", text=TEXTS["b"]),
        TextNode(id_="dunes", text=TEXTS["d"], metadata={"weight": 0.25}),
    ]


def llm() -> Telling:
    return Telling(says=bad_where_both_are_shown, query="dunes and basalt")


def asking(app: Any, given: Any, _: Any) -> Any:
    return app.query(given)


def retrieving() -> Asked:
    return Asked(engine_of(Counting(nodes()), llm()), QUESTION, asking)


def streaming() -> Asked:
    def run(app: Any, given: Any, _: Any) -> Any:
        return list(app.query(given).response_gen)

    return Asked(engine_of(Counting(nodes()), llm(), streaming=True), QUESTION, run)


class Direct(CustomQueryEngine):
    """Searches a vector store itself, and asks a model."""

    store: Any
    llm: Any

    def custom_query(self, query_str: str) -> str:
        vector = MockEmbedding(embed_dim=4).get_query_embedding(query_str)
        found = self.store.query(VectorStoreQuery(query_embedding=vector, similarity_top_k=3))
        texts = [each.get_content() for each in found.nodes]
        return str(self.llm.complete("\n\n".join([*texts, query_str])))


class Store(SimpleVectorStore):
    """Returns the nodes, as stores that keep texts do."""

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        found = super().query(query, **kwargs)
        by_id = {each.node_id: each for each in nodes()}
        found.nodes = [by_id[each] for each in found.ids or ()]
        return found


def direct() -> Asked:
    kept = Store()
    kept.add([each.model_copy(update={"embedding": [0.5] * 4}) for each in nodes()])
    return Asked(Direct(store=kept, llm=llm()), QUESTION, asking)


def awaited(app: Any, given: Any, _: Any) -> Any:
    async def run() -> Any:
        return await app.run(**given)

    return asyncio.run(run())


def agent() -> Asked:
    retriever = Counting(nodes())

    def search(query: str) -> Any:
        """Finds documents."""
        return retriever.retrieve(query)

    made = FunctionAgent(tools=[FunctionTool.from_defaults(search)], llm=llm(), streaming=False)
    return Asked(made, {"user_msg": QUESTION}, awaited)


class Turning(BaseNodePostprocessor):
    """Puts the last node first, leaves out the copper, and tells of it as rerankers do."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> Any:
        tell = get_dispatcher(__name__)
        tell.event(ReRankStartEvent(query=query_bundle, nodes=nodes, top_n=3, model_name="turning"))
        kept = [each for each in reversed(nodes) if each.node_id != "copper"]
        turned = [NodeWithScore(node=each.node, score=1 / place) for place, each in enumerate(kept, 1)]
        tell.event(ReRankEndEvent(nodes=turned))
        return turned


def reranked() -> Asked:
    within = [*nodes()[:2], TextNode(id_="copper", text=TEXTS["c"]), nodes()[2]]
    engine = engine_of(Counting(within), llm(), node_postprocessors=[Turning()])
    return Asked(engine, QUESTION, asking)


class Both(BaseRetriever):
    """Finds what two others find."""

    def __init__(self, *inside: Counting) -> None:
        super().__init__()
        self.inside = inside

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = [each for one in self.inside for each in one.retrieve(query_bundle)]
        return list({each.node_id: each for each in found}.values())


def two_retrievers() -> Asked:
    both = Both(Counting(nodes()[:2]), Counting(nodes()[1:]))
    return Asked(engine_of(both, llm()), QUESTION, asking)


def chatting() -> Asked:
    past = [
        ChatMessage(role=MessageRole.USER, content="Do you know stones?"),
        ChatMessage(role=MessageRole.ASSISTANT, content="I know a few."),
    ]
    made = ContextChatEngine.from_defaults(retriever=Counting(nodes()), llm=llm(), chat_history=past)
    return Asked(made, QUESTION, lambda app, given, _: app.chat(given))


class Found(Event):
    found: list[NodeWithScore]


class Answering(Workflow):
    """One step retrieves, one answers."""

    def __init__(self) -> None:
        super().__init__()
        self.retriever, self.llm = Counting(nodes()), llm()

    @step
    async def retrieve(self, ctx: Context, ev: StartEvent) -> Found:
        await ctx.store.set("question", ev.get("query"))
        return Found(found=await self.retriever.aretrieve(ev.get("query")))

    @step
    async def answer(self, ctx: Context, ev: Found) -> StopEvent:
        texts = [each.node.get_content() for each in ev.found]
        said = await self.llm.acomplete("\n\n".join([*texts, await ctx.store.get("question")]))
        return StopEvent(result=str(said))


def workflow() -> Asked:
    return Asked(Answering(), {"query": QUESTION}, awaited)


SHAPES: dict[str, Callable[[], Asked]] = {
    "retriever": retrieving,
    "direct": direct,
    "agent": agent,
    "reranker": reranked,
    "two-retrievers": two_retrievers,
    "chat": chatting,
    "workflow": workflow,
    "streaming": streaming,
}
