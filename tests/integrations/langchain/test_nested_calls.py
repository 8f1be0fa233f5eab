"""Models of which one method is written on another: streamed or not, they are asked once."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_rag_rule_explainer import RuleExplainer, explained
from pydantic import Field
from typing_extensions import override

from rag_rule_explainer import Explanation, StateShared
from tests.integrations.known import BAD, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import bad_with_b_and_d, facts


class Plain(BaseChatModel):
    """A model whose replies take one method."""

    memory: list[BaseMessage] = Field(default_factory=list[BaseMessage])

    @property
    @override
    def _llm_type(self) -> str:
        return "plain"

    @override
    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return result(bad_with_b_and_d(messages))


def result(text: str) -> ChatResult:
    reply = AIMessage(text, response_metadata={"finish_reason": "stop"})
    return ChatResult(generations=[ChatGeneration(message=reply)])


class Streaming(Plain):
    """Its streams call ``invoke``."""

    @override
    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        yield piece(self.invoke(messages, temperature=0))

    @override
    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        yield piece(await self.ainvoke(messages, temperature=0))


def piece(message: Any) -> ChatGenerationChunk:
    metadata = {"finish_reason": "stop"}
    return ChatGenerationChunk(
        message=AIMessageChunk(content=message.content, response_metadata=metadata)
    )


class InThread(Streaming):
    """Its asynchronous methods call ``invoke`` in a thread."""

    @override
    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return result(str((await asyncio.to_thread(self.invoke, messages)).content))

    @override
    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        yield piece(await asyncio.to_thread(self.invoke, messages))


class Direct(Plain):
    """Its stream calls ``_generate``, its asynchronous method ``invoke``."""

    @override
    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        made = self._generate(messages)
        yield piece(made.generations[0].message)

    @override
    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return result(str(self.invoke(messages).content))


class Remembering(Plain):
    """Sends itself what it was sent before, which no caller sees."""

    @override
    def _generate(
        self, messages: list[BaseMessage], *_: Any, whole: bool = False, **__: Any
    ) -> ChatResult:
        if whole:
            return result(bad_with_b_and_d(messages))
        self.memory.extend(messages)
        return result(str(self.invoke(self.memory, whole=True).content))


def chain_of(model: BaseChatModel) -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    found = Counting(documents=facts("abd"))
    context = found | (lambda documents: "\n".join(each.page_content for each in documents))
    return {"context": context, "question": RunnablePassthrough()} | prompt | model


async def awaited(chain: Any, streams: bool) -> Any:
    if not streams:
        return await chain.ainvoke("why?")
    return [part async for part in chain.astream("why?")]


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("kind", [Streaming, InThread, Direct])
@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("awaiting", [False, True])
def test_a_method_that_calls_its_own_model_is_explained(kind: Any, streams: bool, awaiting: bool) -> None:
    chain: Any = explained(chain_of(kind()), predicate=BAD)
    if awaiting:
        given = asyncio.run(awaited(chain, streams))
    else:
        given = list(chain.stream("why?")) if streams else chain.invoke("why?")
    message: Any = None
    for each in given if isinstance(given, list) else [given]:
        message = each if message is None else message + each
    explanation = Explanation.model_validate(message.response_metadata["rag_rules"])
    assert retention(explanation) == sets("bd")
    assert not explanation.warnings


def test_what_a_model_sends_itself_is_still_compared() -> None:
    with pytest.raises(StateShared):
        RuleExplainer(chain_of(Remembering()), predicate=BAD).explain("why?")
