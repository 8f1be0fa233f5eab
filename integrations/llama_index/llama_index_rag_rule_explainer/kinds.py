"""This module writes the error messages for objects that are no applications, such as retrievers."""

import inspect
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.indices.base import BaseIndex
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.workflow import Workflow

from rag_rule_explainer.instrumentation.checks import with_article

_ENGINE = "pass an engine: RetrieverQueryEngine.from_args(retriever), or index.as_query_engine()"
_PARTS: tuple[tuple[type, str], ...] = (
    (BaseRetriever, f"a retriever, which answers no questions, but finds nodes; {_ENGINE}"),
    (BaseIndex, "an index, which answers no questions; pass index.as_query_engine()"),
    (BasePromptTemplate, f"a prompt template, which answers no questions; {_ENGINE}"),
    (BaseLLM, f"a model, which retrieves nothing; {_ENGINE}"),
)
_ASKED: dict[type, str] = {BaseQueryEngine: "query", BaseChatEngine: "chat", Workflow: "run"}
_ELSEWHERE = ("langchain", "langgraph")
"""Prefixes of the modules whose applications the LangChain integration explains."""


def why_none(engine: Any) -> str:
    """Returns a text that says why the object is no application, and what to pass instead. The text is
    empty if the object's class is unknown."""
    name = type(engine).__name__
    if isinstance(engine, type):
        return (
            f"the class {engine.__name__}, not an instance of it; pass {engine.__name__}(...), or a "
            f"function that makes one anew: lambda: {engine.__name__}(...)"
        )
    for kind, advice in _PARTS:
        if isinstance(engine, kind):
            return f"{with_article(name)}, {advice}"
    if inspect.isroutine(engine):
        return (
            "a function that cannot be called with one question alone; pass a function of one question, "
            "or explain a function of (question, sources) with rag_rule_explainer.Explainer"
        )
    if type(engine).__module__.startswith(_ELSEWHERE):
        elsewhere = "of LangChain's or LangGraph's; explain it with langchain_rag_rule_explainer"
        return f"{with_article(name)} {elsewhere}"
    return ""


def in_place_of_an_answer(output: Any) -> str:
    """Returns advice to the user if the application returned something in place of an answer, such as a
    coroutine that must be awaited; else an empty text."""
    name = type(output).__name__
    if isinstance(output, Coroutine):
        output.close()
        return (
            "the application returned a coroutine in place of an answer; make it an async function that "
            "awaits it"
        )
    if isinstance(output, (Iterator, AsyncIterator)):
        return (
            f"the application returned {with_article(name)}, which was not read, in place of an answer; "
            "return the whole text, such as ''.join(response.response_gen), or the response itself"
        )
    for kind, way in _ASKED.items():
        if isinstance(output, kind):
            return (
                f"the application returned {with_article(name)} in place of an answer; ask it there "
                f"({way}(question)), or pass a function without parameters that makes it"
            )
    return ""
