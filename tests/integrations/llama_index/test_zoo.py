"""Every shape of application, asked in every way: its known rules or its named refusal."""

import asyncio
from typing import Any

import pytest
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.data_structs.data_structs import IndexStruct
from llama_index.core.graph_stores.simple import SimpleGraphStore, SimpleGraphStoreData
from llama_index.core.graph_stores.types import LabelledPropertyGraph, PropertyGraphStore
from llama_index.core.indices.base import BaseIndex
from llama_index.core.memory import BaseMemory, BaseMemoryBlock
from llama_index.core.objects.base_node_mapping import BaseObjectNodeMapping
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.storage.chat_store import BaseChatStore
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore
from llama_index.core.storage.docstore.types import BaseDocumentStore
from llama_index.core.storage.index_store.types import BaseIndexStore
from llama_index.core.storage.kvstore.types import BaseKVStore
from llama_index.core.tools.types import BaseTool
from llama_index.core.vector_stores.simple import SimpleVectorStoreData
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from llama_index.core.workflow import Context
from llama_index_instrumentation.dispatcher import Dispatcher
from llama_index_rag_rule_explainer import RuleExplainer, explained
from llama_index_rag_rule_explainer.application import GATED, SYNTHESIZED
from llama_index_rag_rule_explainer.interception import interception
from workflows.runtime.types import plugin

from rag_rule_explainer import Explanation, errors
from tests.documentation.making import tables
from tests.integrations.classes import changed, entries
from tests.integrations.known import kept_delivered_and_seen, omission, retention
from tests.integrations.llama_index.zoo.chats import PAST
from tests.integrations.llama_index.zoo.shapes import QUESTION, Built, Mode, Shape
from tests.integrations.llama_index.zoo.table import ROOMS, SHAPES, outcome_table
from tests.representing import some_of_each

# LlamaIndex leaves connections of its in-memory databases to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore")
ROOTS: tuple[type, ...] = (
    BaseQueryEngine,
    BaseRetriever,
    BasePydanticVectorStore,
    BaseNodePostprocessor,
    BaseTool,
    BaseMemory,
    BaseMemoryBlock,
    BaseChatStore,
    AsyncDBChatStore,
    BaseKVStore,
    BaseDocumentStore,
    BaseIndexStore,
    BaseIndex,
    IndexStruct,
    SimpleVectorStoreData,
    PropertyGraphStore,
    SimpleGraphStore,
    SimpleGraphStoreData,
    LabelledPropertyGraph,
    BaseObjectNodeMapping,
    Context,
    Dispatcher,
    # Older releases do not have it, nor tell what is heard through it.
    *([plugin.InternalRunAdapter] if hasattr(plugin, "InternalRunAdapter") else []),
)
Outcome = Explanation | Exception


def outcome_of(shape: Shape, built: Built, mode: Mode) -> Outcome:
    explainer = RuleExplainer(
        built.application, predicate=shape.predicate, miner="exact", **built.parameters
    )
    try:
        if mode == "sync":
            return explainer.explain(built.given)
        return asyncio.run(explainer.aexplain(built.given))
    except Exception as error:
        return error


def streamed(shape: Shape, built: Built, *, is_async: bool) -> Outcome:
    """The rules that come with a stream, once it has been read."""
    engine = explained(built.application, predicate=shape.predicate, miner="exact", **built.parameters)
    try:
        response = asyncio.run(aread(engine, built.given)) if is_async else read(engine, built.given)
    except Exception as error:
        return error
    told = response.metadata["rag_rules"]
    if "error" in told:
        # The answer came all the same.
        return getattr(errors, told["error"])(told["message"])
    return Explanation.model_validate(told)


def said(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {"message": given}


def read(engine: Any, given: Any) -> Any:
    if isinstance(engine, BaseChatEngine):
        response: Any = engine.stream_chat(**said(given))
    else:
        response = engine.query(given)
        assert isinstance(response, StreamingResponse)
    pieces = list(response.response_gen)
    assert "news" in "".join(pieces)
    return response


async def aread(engine: Any, given: Any) -> Any:
    if isinstance(engine, BaseChatEngine):
        response: Any = await engine.astream_chat(**said(given))
    else:
        response = await engine.aquery(given)
        assert isinstance(response, AsyncStreamingResponse)
    pieces = [piece async for piece in response.async_response_gen()]
    assert "news" in "".join(pieces)
    return response


@pytest.mark.spread(fast=3, slow=3)
@pytest.mark.parametrize("mode", ["sync", pytest.param("async", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "shape", some_of_each((room.SHAPES for room in ROOMS), every=3), ids=lambda shape: shape.name
)
def test_the_rules_of_every_shape_are_the_known_ones(shape: Shape, mode: Mode) -> None:
    built = shape.build()
    before, remembered = entries(ROOTS), built.memory()
    is_as_known(shape, built, outcome_of(shape, built, mode))
    assert changed(before, ROOTS) == []
    assert built.memory() == remembered


@pytest.mark.spread(slow=3)
@pytest.mark.slow
@pytest.mark.parametrize("is_async", [False, True], ids=["stream", "astream"])
@pytest.mark.parametrize(
    "shape", [shape for shape in SHAPES if shape.streams], ids=lambda shape: shape.name
)
def test_the_rules_come_with_the_stream_of_every_shape_that_streams(shape: Shape, is_async: bool) -> None:
    assert shape.streams is not None
    built = shape.streams()
    before, remembered = entries(ROOTS), built.memory()
    is_as_known(shape, built, streamed(shape, built, is_async=is_async))
    assert changed(before, ROOTS) == []
    if remembered is not None:
        # As after one ordinary run.
        assert [message.role.value for message in built.memory()[-2:]] == ["user", "assistant"]
        assert built.memory()[-2].content == QUESTION
        assert len(built.memory()) in (len(remembered) + 2, len(PAST) + 2)


def is_as_known(shape: Shape, built: Built, outcome: Outcome) -> None:
    if shape.refusal is not None:
        with pytest.raises(shape.refusal, match=f"(?s){shape.says}"):
            raised(outcome)
        return
    explanation = raised(outcome)
    assert retention(explanation) == shape.retention
    assert omission(explanation) == shape.omission
    assert explanation.ended == shape.complete
    assert explanation.scope == shape.scope
    if shape.scope == "seen":
        kept_delivered_and_seen(explanation)
    assert (SYNTHESIZED in explanation.notes) == (shape.by == "engine")
    assert (GATED in explanation.notes) == (shape.by == "gate")
    shape.more(explanation)
    assert built.live() == (explanation.counts.replays if shape.live is None else shape.live)


def raised(outcome: Outcome) -> Explanation:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.__name__)
def test_what_is_intercepted_is_what_is_compared(root: type) -> None:
    before = entries(ROOTS)
    with interception.intercepting():
        assert root in {owner for owner, _ in changed(before, ROOTS)}
    assert changed(before, ROOTS) == []


def test_there_are_enough_shapes_and_each_has_its_own_name() -> None:
    assert len({shape.name for shape in SHAPES}) == len(SHAPES) >= 18


def test_the_documentation_has_the_table() -> None:
    assert outcome_table() in tables.PAGE.read_text(encoding="utf-8"), "write it: see tables"
