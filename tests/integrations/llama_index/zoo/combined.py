"""Engines over several engines or retrievers."""

import json
from collections.abc import Callable
from typing import Any

from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.query_engine import (
    RetrieverQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
)
from llama_index.core.question_gen import LLMQuestionGenerator
from llama_index.core.retrievers import (
    QueryFusionRetriever,
    RecursiveRetriever,
    RouterRetriever,
    TransformRetriever,
)
from llama_index.core.schema import IndexNode
from llama_index.core.selectors import LLMMultiSelector, LLMSingleSelector
from llama_index.core.tools import QueryEngineTool, RetrieverTool

from tests.integrations.llama_index.engines import Counting, engine_of, retriever_of
from tests.integrations.llama_index.models import Telling, nodes
from tests.integrations.llama_index.zoo.shapes import Built, Shape, asked

_FIRST = json.dumps([{"choice": 1, "reason": "r"}])
_BOTH = json.dumps([{"choice": 1, "reason": "r"}, {"choice": 2, "reason": "r"}])


def choosing(choice: str) -> Telling:
    return Telling(script=[("Some choices are given below", choice)])


def tools(*retrievers: Counting, **parameters: Any) -> list[QueryEngineTool]:
    return [
        QueryEngineTool.from_defaults(
            engine_of(each, **parameters), name=f"engine_{place}", description=f"Knows {place}."
        )
        for place, each in enumerate(retrievers)
    ]


def routed(**parameters: Any) -> Callable[[], Built]:
    def build() -> Built:
        chosen, other = retriever_of("abd"), retriever_of("ac")
        engine = RouterQueryEngine(
            selector=LLMSingleSelector.from_defaults(llm=choosing(_FIRST)),
            query_engine_tools=tools(chosen, other, **parameters),
            llm=Telling(),
        )
        return Built(engine, asked(chosen, other))

    return build


def routed_to_both() -> Built:
    first, second = retriever_of("ab"), retriever_of("cd")
    engine = RouterQueryEngine(
        selector=LLMMultiSelector.from_defaults(llm=choosing(_BOTH)),
        query_engine_tools=tools(first, second),
        llm=Telling(),
    )
    return Built(engine, asked(first, second))


def sub_questions(use_async: bool) -> Callable[[], Built]:
    def build() -> Built:
        first, second = retriever_of("ab"), retriever_of("cd")
        asking = [{"sub_question": f"what is {n}?", "tool_name": f"engine_{n}"} for n in (0, 1)]
        writer = Telling(script=[("sub-questions", f"```json\n{json.dumps(asking)}\n```")])
        engine = SubQuestionQueryEngine.from_defaults(
            tools(first, second),
            llm=Telling(),
            question_gen=LLMQuestionGenerator.from_defaults(writer),
            use_async=use_async,
            verbose=False,
        )
        return Built(engine, asked(first, second))

    return build


def fused(use_async: bool, queries: int = 1, **parameters: Any) -> Callable[[], Built]:
    def build() -> Built:
        first, second = retriever_of("ab"), retriever_of("cd")
        writer = Telling(script=[("multiple search queries", "how come?\nwhat for?")])
        retriever = QueryFusionRetriever(
            [first, second],
            llm=writer,
            num_queries=queries,
            similarity_top_k=4,
            use_async=use_async,
        )
        engine = RetrieverQueryEngine.from_args(retriever, llm=Telling(), **parameters)
        return Built(engine, asked(first, second))

    return build


def routing_retriever() -> Built:
    chosen, other = retriever_of("abd"), retriever_of("ac")
    retriever = RouterRetriever(
        selector=LLMSingleSelector.from_defaults(llm=choosing(_FIRST)),
        retriever_tools=[
            RetrieverTool.from_defaults(each, name=f"retriever_{n}", description="Knows.")
            for n, each in enumerate((chosen, other))
        ],
        llm=Telling(),
    )
    return Built(engine_of(retriever), asked(chosen, other))


def recursive() -> Built:
    """The first retriever finds what points at the second one."""
    pointer = IndexNode(text="See there.", index_id="there")
    outer, inner = Counting([pointer]), retriever_of("abd")
    retriever = RecursiveRetriever("root", retriever_dict={"root": outer, "there": inner})
    return Built(engine_of(retriever), asked(inner))


def pointing() -> Built:
    """The retriever finds an index node with an object of its own."""
    inner = retriever_of("cd")
    outer = Counting([*nodes("ab"), IndexNode(text="See there.", index_id="there", obj=inner)])
    return Built(engine_of(outer), asked(outer, inner))


def transformed() -> Built:
    retriever = retriever_of()
    hyde = HyDEQueryTransform(llm=Telling(script=[("write a passage", "Because of the weather.")]))
    return Built(engine_of(TransformRetriever(retriever, hyde)), asked(retriever))


SHAPES = (
    Shape("RouterQueryEngine", routed(), streams=routed(streaming=True)),
    Shape("RouterQueryEngine, several chosen", routed_to_both, live=2),
    Shape("SubQuestionQueryEngine", sub_questions(False), live=2),
    Shape("SubQuestionQueryEngine, async inside", sub_questions(True), live=2),
    Shape("QueryFusionRetriever", fused(False), streams=fused(False, streaming=True), live=2),
    Shape("QueryFusionRetriever, async inside", fused(True), live=2),
    Shape("QueryFusionRetriever, generated queries", fused(False, queries=3), live=6),
    Shape("RouterRetriever", routing_retriever),
    Shape("RecursiveRetriever", recursive),
    Shape("a retriever that finds a retriever", pointing, live=2),
    Shape("TransformRetriever", transformed),
)
