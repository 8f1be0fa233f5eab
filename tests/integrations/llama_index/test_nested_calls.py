"""Models of which one method is written on another: streamed or not, they are asked once."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index_rag_rule_explainer import RuleExplainer, explained
from pydantic import Field
from typing_extensions import override

from rag_rule_explainer import Explanation, StateShared
from tests.integrations.known import BAD, blames_b_and_d
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import bad_with_b_and_d

pytestmark = pytest.mark.filterwarnings("ignore")
COMPLETE = {"finish_reason": "stop"}


class Nested(CustomLLM):
    """A model whose other methods call ``complete``."""

    memory: list[str] = Field(default_factory=list[str])

    @property
    @override
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    @llm_completion_callback()
    @override
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=bad_with_b_and_d(prompt), raw=COMPLETE)

    @llm_completion_callback()
    @override
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return await asyncio.to_thread(self.complete, prompt)

    @llm_completion_callback()
    @override
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        def parts() -> Iterator[CompletionResponse]:
            text = self.complete(prompt, temperature=0).text
            yield CompletionResponse(text=text, delta=text, raw=COMPLETE)

        return parts()

    @llm_completion_callback()
    @override
    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        async def parts() -> AsyncIterator[CompletionResponse]:
            text = (await self.acomplete(prompt, temperature=0)).text
            yield CompletionResponse(text=text, delta=text, raw=COMPLETE)

        return parts()


class Remembering(Nested):
    """Sends itself what it was sent before, which no caller sees."""

    @llm_completion_callback()
    @override
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        if kwargs.get("whole"):
            return CompletionResponse(text=bad_with_b_and_d(prompt), raw=COMPLETE)
        self.memory.append(prompt)
        return self.complete("\n".join(self.memory), whole=True)


async def streamed(chat: Any) -> Any:
    response = await chat.astream_chat("why?")
    assert "".join([piece async for piece in response.async_response_gen()]).startswith("bad news")
    return response


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
@pytest.mark.parametrize("awaiting", [False, True])
def test_a_stream_that_calls_its_own_model_is_explained(kind: Any, awaiting: bool) -> None:
    chat: Any = explained(kind.from_defaults(retriever=retriever_of(), llm=Nested()), predicate=BAD)
    if awaiting:
        response: Any = asyncio.run(streamed(chat))
    else:
        response = chat.stream_chat("why?")
        assert "".join(response.response_gen).startswith("bad news")
    explanation = Explanation.model_validate(response.metadata["rag_rules"])
    assert blames_b_and_d(explanation)
    assert not explanation.warnings


def test_what_a_model_sends_itself_is_still_compared() -> None:
    chat = ContextChatEngine.from_defaults(retriever=retriever_of(), llm=Remembering())
    with pytest.raises(StateShared):
        RuleExplainer(chat, predicate=BAD).explain("why?")
