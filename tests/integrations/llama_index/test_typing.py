"""Type hints survive ``explained``: Pyright reads this file in ``make check``."""

from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.tools import QueryEngineTool
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from llama_index_rag_rule_explainer import RuleExplainer, explained
from llama_index_rag_rule_explainer.attaching import ExplainedQueryEngine, ExplainedWorkflow
from llama_index_rag_rule_explainer.explained_chat import ExplainedChatEngine
from typing_extensions import assert_type

from tests.integrations.known import BAD
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling


class Ending(Workflow):
    @step
    async def end(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result="good news")


def ask(question: str) -> str:
    return str(engine_of(retriever_of("bd")).query(question))


def test_each_kind_of_engine_keeps_its_interface() -> None:
    engine = explained(engine_of(retriever_of("bd")), predicate=BAD)
    assert_type(engine, ExplainedQueryEngine)
    assert_type(engine.query("why?"), RESPONSE_TYPE)
    assert_type(explained(ask), ExplainedQueryEngine)
    chat = explained(ContextChatEngine.from_defaults(retriever=retriever_of("bd"), llm=Telling()))
    assert_type(chat, ExplainedChatEngine)
    workflow = explained(Ending())
    assert_type(workflow, ExplainedWorkflow)
    as_engine: BaseQueryEngine = workflow
    again: Any = explained(RuleExplainer(ask))
    assert type(again) is ExplainedQueryEngine
    assert QueryEngineTool.from_defaults(engine).query_engine is engine
    assert as_engine is workflow

    def said() -> None:
        assert_type(chat.chat("why?"), AgentChatResponse)
        assert_type(chat.stream_chat("why?"), StreamingAgentChatResponse)

    async def awaited() -> None:
        assert_type(await chat.achat("why?"), AgentChatResponse)

    assert callable(said)
    assert callable(awaited)
