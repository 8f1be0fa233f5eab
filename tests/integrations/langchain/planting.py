"""Plants memories into the applications of the zoo: around their models, or around the whole."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.runnables import RunnableLambda
from langgraph.store.memory import InMemoryStore

from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.heeding import text_of, vectors
from tests.integrations.langchain.zoo.shapes import QUESTION, Built, replaced
from tests.integrations.planting import KINDS, Memory, news_in, reminded, swayed


def in_a_history() -> Memory:
    history = InMemoryChatMessageHistory()
    return Memory(history.add_ai_message, lambda: " ".join(message.text for message in history.messages))


def in_a_vector_store() -> Memory:
    store = vectors()

    def remember(text: str) -> None:
        store.add_texts([text])

    return Memory(
        remember,
        lambda: " ".join(found.page_content for found in store.similarity_search("what was said?", k=99)),
    )


def in_langgraphs_store() -> Memory:
    store = InMemoryStore()
    return Memory(
        lambda text: store.put(("said",), uuid4().hex, {"text": text}),
        lambda: " ".join(item.value["text"] for item in store.search(("said",), limit=99)),
    )


MEMORIES: dict[str, Callable[[], Memory]] = {
    **KINDS,
    "BaseChatMessageHistory": in_a_history,
    "vector store": in_a_vector_store,
    "LangGraph's store": in_langgraphs_store,
}


@contextmanager
def around_the_models(memory: Memory) -> Generator[None, None, None]:
    """Inside, every model is told in each request what all of them answered before."""
    convert, answer, generate, agenerate = (
        getattr(Telling, name)
        for name in ("_convert_input", "_answer", "generate_prompt", "agenerate_prompt")
    )

    def told(prompt: Any) -> Any:
        messages: list[BaseMessage] = prompt.to_messages()
        before = text_of(messages)
        after = reminded(before, memory)
        if after == before:
            return prompt
        return ChatPromptValue(messages=[*messages, SystemMessage(after[len(before) :])])

    def answering(self: Any, messages: list[BaseMessage]) -> str:
        reply = swayed(text_of(messages), answer(self, messages))
        if "news" in reply:
            memory.remember(reply)
        return reply

    async def awaited(self: Any, prompts: list[Any], *args: Any, **kwargs: Any) -> Any:
        return await agenerate(self, [told(prompt) for prompt in prompts], *args, **kwargs)

    planted: dict[str, Any] = {
        "_convert_input": lambda self, given: told(convert(self, given)),
        "_answer": answering,
        "generate_prompt": lambda self, prompts, *args, **kwargs: generate(
            self, [told(prompt) for prompt in prompts], *args, **kwargs
        ),
        "agenerate_prompt": awaited,
    }
    own = {name: vars(Telling).get(name) for name in planted}
    for name, method in planted.items():
        setattr(Telling, name, method)
    try:
        yield
    finally:
        for name, method in own.items():
            delattr(Telling, name) if method is None else setattr(Telling, name, method)


@contextmanager
def heeding_what_is_told() -> Generator[None, None, None]:
    """Inside, every model heeds what it is told of earlier answers."""
    answer = Telling._answer  # pyright: ignore[reportPrivateUsage] -- nothing public shows it

    def answering(self: Any, messages: list[BaseMessage]) -> str:
        return swayed(text_of(messages), answer(self, messages))

    setattr(Telling, "_answer", answering)  # noqa: B010 -- a private name of another module
    try:
        yield
    finally:
        setattr(Telling, "_answer", answer)  # noqa: B010 -- of another class, on purpose


def around_the_application(built: Built, memory: Memory) -> Built:
    """The application, whose question tells what it answered before."""
    inner = built.application

    def asked(given: Any) -> Any:
        return replaced(given, QUESTION, reminded(QUESTION, memory))

    def answer(given: Any, config: Any) -> Any:
        output = inner.invoke(asked(given), config)
        memory.remember(news_in(output))
        return output

    async def aanswer(given: Any, config: Any) -> Any:
        output = await inner.ainvoke(asked(given), config)
        memory.remember(news_in(output))
        return output

    return replace(built, application=RunnableLambda(answer, aanswer))
