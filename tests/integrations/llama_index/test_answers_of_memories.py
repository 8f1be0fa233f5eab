"""A run that is explained answers as the application does alone, whatever its memory, wherever made."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import MockEmbedding
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import TextBlock
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.memory import (
    ChatMemoryBuffer,
    ChatSummaryMemoryBuffer,
    Memory,
    SimpleComposableMemory,
    StaticMemoryBlock,
    VectorMemory,
)
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from llama_index_rag_rule_explainer import RuleExplainer
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import StaticPool

from rag_rule_explainer import contains
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.zoo.agents import sync_tool, texts_of
from tests.integrations.llama_index.zoo.heeding import GREETING, PAST, greeted

# LlamaIndex leaves connections of its in-memory databases to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore")
Make = Callable[[Path], Any]
LIMIT = 3000


def _of_history(_: Path) -> Any:
    return Memory.from_defaults(session_id="s", chat_history=list(PAST), token_limit=LIMIT)


def _without_session(_: Path) -> Any:
    return Memory.from_defaults(chat_history=list(PAST), token_limit=LIMIT)


def _set(_: Path) -> Any:
    memory = Memory.from_defaults(session_id="s", token_limit=LIMIT)
    memory.set(list(PAST))
    return memory


def _put(_: Path) -> Any:
    memory = Memory.from_defaults(session_id="s", token_limit=LIMIT)
    memory.put_messages(list(PAST))
    return memory


def _set_twice(_: Path) -> Any:
    memory = _set(_)
    memory.reset()
    memory.set(list(PAST))
    return memory


def _unnamed(_: Path) -> Any:
    memory = Memory.from_defaults(
        session_id="s", async_database_uri="sqlite+aiosqlite://", token_limit=LIMIT
    )
    memory.set(list(PAST))
    return memory


def _by_an_engine(_: Path) -> Any:
    database = create_async_engine("sqlite+aiosqlite:///:memory:", poolclass=StaticPool)
    memory = Memory.from_defaults(session_id="s", async_engine=database, token_limit=LIMIT)
    memory.set(list(PAST))
    return memory


def _stored_apart(_: Path) -> Any:
    memory = Memory.from_defaults(session_id="s", token_limit=LIMIT)
    memory.sql_store = SQLAlchemyChatStore("chats")
    memory.set(list(PAST))
    return memory


def _in_a_file(folder: Path) -> Any:
    uri = f"sqlite+aiosqlite:///{folder / 'chats.db'}"
    memory = Memory.from_defaults(session_id="s", async_database_uri=uri, token_limit=LIMIT)
    memory.set(list(PAST))
    return memory


def _block(_: Path) -> Any:
    block = StaticMemoryBlock(static_content=[TextBlock(text=GREETING)])
    return Memory.from_defaults(session_id="s", memory_blocks=[block], token_limit=LIMIT)


def _buffer(_: Path) -> Any:
    return ChatMemoryBuffer.from_defaults(chat_history=list(PAST), token_limit=LIMIT)


def _over_a_store(_: Path) -> Any:
    memory = ChatMemoryBuffer.from_defaults(
        chat_store=SimpleChatStore(), chat_store_key="u", token_limit=LIMIT
    )
    memory.set(list(PAST))
    return memory


def _summary(_: Path) -> Any:
    return ChatSummaryMemoryBuffer.from_defaults(
        chat_history=list(PAST), llm=greeted(), token_limit=LIMIT
    )


def _vector(_: Path) -> Any:
    memory = VectorMemory.from_defaults(
        embed_model=MockEmbedding(embed_dim=4), retriever_kwargs={"similarity_top_k": 2}
    )
    memory.put_messages(list(PAST))
    return memory


def _composable(_: Path) -> Any:
    return SimpleComposableMemory.from_defaults(primary_memory=_buffer(_))


MEMORIES: tuple[Make, ...] = (
    _of_history,
    _without_session,
    _set,
    _put,
    _set_twice,
    _unnamed,
    _by_an_engine,
    _stored_apart,
    _in_a_file,
    _block,
    _buffer,
    _over_a_store,
    _summary,
    _vector,
    _composable,
)


def _by_hand(memory: Any, question: str) -> str:
    found = texts_of(retriever_of().retrieve(question))
    past = "\n".join(str(each.content) for each in memory.get(question))
    return str(greeted().complete(f"{past}\n\n{question}\n\n{found}"))


def _engine(memory: Any, question: str) -> str:
    made = ContextChatEngine.from_defaults(retriever=retriever_of(), llm=greeted(), memory=memory)
    return str(made.chat(question))


async def _agent(memory: Any, question: str) -> str:
    tool: Any = sync_tool(retriever_of())
    agent: Any = FunctionAgent(tools=[tool], llm=greeted())
    return str(await agent.run(user_msg=question, memory=memory))


Turn = Callable[[Any, str], Any]
TURNS: tuple[Turn, ...] = (_by_hand, _engine, _agent)


def _application(turn: Turn, memory_of: Callable[[], Any]) -> Any:
    async def awaited(question: str) -> str:
        return await turn(memory_of(), question)

    return awaited if turn is _agent else lambda question: turn(memory_of(), question)


def _answers(application: Any, explained: Any, *, awaited: bool) -> tuple[str, str]:
    """Returns the answer of the bare application, and that of the explained one."""
    explainer: Any = RuleExplainer(explained, contains("bad"))
    if not awaited:
        return application("why?"), explainer.explain("why?").baseline.text

    async def both() -> tuple[str, str]:
        return await application("why?"), (await explainer.aexplain("why?")).baseline.text

    return asyncio.run(both())


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("place", ["inside", "outside"])
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("make", MEMORIES)
def test_the_first_run_answers_as_the_application_alone(
    make: Make, turn: Turn, place: str, tmp_path: Path
) -> None:
    if make is _vector and turn is not _by_hand:
        pytest.skip("it embeds a message without a text, which its framework refuses")

    def application(name: str) -> Any:
        folder = tmp_path / name
        folder.mkdir()
        if place == "inside":
            return _application(turn, lambda: make(folder))
        memory = make(folder)
        return _application(turn, lambda: memory)

    alone, explained = _answers(application("one"), application("two"), awaited=turn is _agent)
    assert alone == "bad news", "the memory was heard"
    assert explained == alone


@pytest.mark.spread(fast=4)
@pytest.mark.parametrize("make", [_of_history, _set, _in_a_file, _buffer])
def test_an_application_that_is_made_for_each_run_keeps_its_history(make: Make, tmp_path: Path) -> None:
    def chat() -> Any:
        retriever = retriever_of()
        return ContextChatEngine.from_defaults(retriever=retriever, llm=greeted(), memory=make(tmp_path))

    explained = RuleExplainer(chat, contains("bad")).explain("why?").baseline.text
    assert explained == str(chat().chat("why?")) == "bad news"
