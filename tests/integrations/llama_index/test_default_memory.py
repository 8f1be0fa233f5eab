"""LlamaIndex's default memory keeps a conversation in a database of its own, in this process."""

import asyncio
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from llama_index_rag_rule_explainer import RuleExplainer, explained
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import StaticPool

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, blames_b_and_d
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling

pytestmark = pytest.mark.filterwarnings("ignore")


def chat() -> ContextChatEngine:
    # Which opens the database of its memory, to put an empty history there.
    return ContextChatEngine.from_defaults(retriever=retriever_of(), llm=Telling())


async def _streamed_async(engine: Any) -> Any:
    response = await engine.astream_chat("why?")
    async for _ in response.async_response_gen():
        pass
    return response


def _streamed(engine: Any) -> Any:
    response = engine.stream_chat("why?")
    list(response.response_gen)
    return response


WAYS: dict[str, Any] = {
    "chat": lambda engine: engine.chat("why?"),
    "achat": lambda engine: asyncio.run(engine.achat("why?")),
    "stream_chat": _streamed,
    "astream_chat": lambda engine: asyncio.run(_streamed_async(engine)),
}


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("way", WAYS)
def test_what_the_users_own_turn_adds_there_is_no_doubt_about_its_rules(way: str) -> None:
    engine = chat()
    explanation = Explanation.model_validate(WAYS[way](explained(engine, BAD)).metadata["rag_rules"])
    assert blames_b_and_d(explanation)
    assert {rule.claim for rule in explanation.rules} == {"proved"}
    # The turn itself is in the conversation, and nothing of a replay.
    assert [str(each.role.value) for each in engine.chat_history] == ["user", "assistant"]


def test_code_that_asks_the_database_itself_leaves_its_rules_unverified() -> None:
    database = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)
    store = SQLAlchemyChatStore("chats", async_database_uri="sqlite+aiosqlite://", async_engine=database)
    memory = Memory.from_defaults(session_id="s")
    memory.sql_store = store
    engine = engine_of(retriever_of())

    async def answer(question: str) -> str:
        async with database.connect() as connection:
            known = await connection.execute(text("SELECT COUNT(*) FROM chats"))
            assert known.scalar() is not None
        await memory.aput(ChatMessage(content=question))
        return str(await engine.aquery(question))

    asyncio.run(memory.aput(ChatMessage(content="why?")))  # opens the connection
    done = asyncio.run(explained(RuleExplainer(answer, BAD)).aquery("why?"))
    explanation = Explanation.model_validate(done.metadata["rag_rules"])
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert "wrote to a database by a connection that was open before" in explanation.warnings[0]
