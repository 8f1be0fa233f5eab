"""Plants memories into the applications of the zoo: around their models, or around the whole."""

import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.agent.workflow import AgentWorkflow, BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.memory import Memory as NewerMemory
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.workflow import Workflow

from tests.integrations.llama_index.models import Telling
from tests.integrations.llama_index.zoo.shapes import QUESTION, Built
from tests.integrations.planting import KINDS, Memory, news_in, reminded, swayed


def said_in(messages: Sequence[ChatMessage]) -> str:
    return " ".join(str(message.content) for message in messages)


def in_a_buffer() -> Memory:
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    return Memory(
        lambda text: memory.put(ChatMessage(role="assistant", content=text)),
        lambda: said_in(memory.get()),
    )


def in_a_memory() -> Memory:
    memory = NewerMemory.from_defaults(session_id="s", token_limit=100_000)
    return Memory(
        lambda text: memory.put(ChatMessage(role="assistant", content=text)),
        lambda: said_in(memory.get()),
    )


def in_a_chat_store() -> Memory:
    store = SimpleChatStore()
    return Memory(
        lambda text: store.add_message("user1", ChatMessage(role="assistant", content=text)),
        lambda: said_in(store.get_messages("user1")),
    )


def in_an_index() -> Memory:
    index: Any = VectorStoreIndex([], embed_model=MockEmbedding(embed_dim=8))
    retriever = index.as_retriever(similarity_top_k=99)
    return Memory(
        lambda text: index.insert(Document(text=text)),
        lambda: " ".join(found.text for found in retriever.retrieve("what was said?")),
    )


MEMORIES: dict[str, Callable[[], Memory]] = {
    **KINDS,
    "ChatMemoryBuffer": in_a_buffer,
    "Memory": in_a_memory,
    "SimpleChatStore": in_a_chat_store,
    "vector store": in_an_index,
}
AGENTS = (BaseWorkflowAgent, AgentWorkflow)
CHATS = ("chat", "stream_chat", "achat", "astream_chat")
COMPLETIONS = ("complete", "stream_complete", "acomplete", "astream_complete")


def text_of(messages: Sequence[ChatMessage]) -> str:
    return "\n\n".join(str(message.content or "") for message in messages)


@contextmanager
def replacing(methods: dict[str, Any]) -> Generator[None, None, None]:
    before = {name: vars(Telling)[name] for name in methods}
    for name, method in methods.items():
        setattr(Telling, name, method)
    try:
        yield
    finally:
        for name, method in before.items():
            setattr(Telling, name, method)


def _with_messages(method: Any, memory: Memory) -> Any:
    def asked(self: Any, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        before = text_of(messages)
        after = reminded(before, memory)
        told = ChatMessage(role="system", content=after[len(before) :])
        return method(self, [*messages, told] if after != before else messages, **kwargs)

    return asked


def _with_prompt(method: Any, memory: Memory) -> Any:
    def asked(self: Any, prompt: str, *args: Any, **kwargs: Any) -> Any:
        return method(self, reminded(prompt, memory), *args, **kwargs)

    return asked


def around_the_models(memory: Memory) -> Any:
    """Inside, every model is told in each request what all of them answered before."""
    reply = vars(Telling)["_reply"]

    def replying(self: Any, prompt: str) -> str:
        said = swayed(prompt, reply(self, prompt))
        if "news" in said:
            memory.remember(said)
        return said

    return replacing(
        {
            **{name: _with_messages(vars(Telling)[name], memory) for name in CHATS},
            **{name: _with_prompt(vars(Telling)[name], memory) for name in COMPLETIONS},
            "_reply": replying,
        }
    )


def heeding_what_is_told() -> Any:
    """Inside, every model heeds what it is told of earlier answers."""
    reply = vars(Telling)["_reply"]
    return replacing({"_reply": lambda self, prompt: swayed(prompt, reply(self, prompt))})


async def asked_async(application: Any, given: Any) -> Any:
    if isinstance(application, Workflow):
        arguments = given if isinstance(given, dict) else {"user_msg": given}
        return await application.run(**arguments)
    answer = application(given)
    return await answer if inspect.isawaitable(answer) else answer


def asked(application: Any, given: Any) -> Any:
    if isinstance(application, BaseQueryEngine):
        return application.query(given)
    if isinstance(application, BaseChatEngine):
        return application.chat(**(given if isinstance(given, dict) else {"message": given}))
    return application(given)


def around_the_application(built: Built, memory: Memory) -> Built | None:
    """The application in a function, whose question tells what was answered before; None for few."""
    inner, given = built.application, built.given
    if isinstance(inner, Workflow) and not isinstance(given, dict) and not isinstance(inner, AGENTS):
        return None  # started by an event of its own

    def told(given: Any) -> Any:
        question = reminded(QUESTION, memory)
        if isinstance(given, dict):
            return {key: question if value == QUESTION else value for key, value in given.items()}
        return question

    if isinstance(inner, Workflow) or inspect.iscoroutinefunction(inner):

        async def aanswer(given: Any) -> Any:
            output = await asked_async(inner, told(given))
            memory.remember(news_in(output))
            return output

        return replace(built, application=aanswer)
    if inspect.isfunction(inner) and not inspect.signature(inner).parameters:
        return None  # everything is made anew, but for the memory

    def answer(given: Any) -> Any:
        output = asked(inner, told(given))
        memory.remember(news_in(output))
        return output

    return replace(built, application=answer, given=given)
