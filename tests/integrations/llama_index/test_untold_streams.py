"""Streams of models that tell nothing of themselves: they are known by what is asked of them."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.types import Thread
from llama_index_rag_rule_explainer import RuleExplainer, RuleExplanationHandler, explained
from typing_extensions import override

from rag_rule_explainer import Explanation, NoSourcesCaptured
from tests.integrations.known import BAD, blames_b_and_d, check_unexplained
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import bad_with_b_and_d

pytestmark = pytest.mark.filterwarnings("ignore")


class Untold(CustomLLM):
    """A model of the user's, whose methods are not decorated, so that they send no events."""

    @property
    @override
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    @override
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=bad_with_b_and_d(prompt))

    @override
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        def chunks() -> Iterator[CompletionResponse]:
            text = ""
            for letter in bad_with_b_and_d(prompt):
                text += letter
                yield CompletionResponse(text=text, delta=letter)

        return chunks()


CHATS = [ContextChatEngine, CondensePlusContextChatEngine]
SIMPLE = "a SimpleChatEngine retrieves nothing.*as_chat_engine"


def chat_of(kind: Any) -> Any:
    return kind.from_defaults(retriever=retriever_of(), llm=Untold())


def rules_of(response: Any) -> Explanation:
    return Explanation.model_validate(response.metadata["rag_rules"])


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("kind", CHATS)
def test_a_streamed_chat_has_its_rules_once_it_was_read(kind: Any) -> None:
    response: Any = explained(chat_of(kind), predicate=BAD).stream_chat("why?")
    pieces = list(response.response_gen)
    assert len(pieces) > 2
    assert "".join(pieces).startswith("bad news")
    assert blames_b_and_d(rules_of(response))

    async def asynchronously() -> Any:
        response: Any = await explained(chat_of(kind), predicate=BAD).astream_chat("why?")
        assert "".join([piece async for piece in response.async_response_gen()]).startswith("bad news")
        return response

    assert blames_b_and_d(rules_of(asyncio.run(asynchronously())))


def test_a_streamed_query_has_its_rules_once_it_was_read() -> None:
    engine = explained(engine_of(retriever_of(), Untold(), streaming=True), predicate=BAD)
    response: Any = engine.query("why?")
    assert len(list(response.response_gen)) > 2
    assert blames_b_and_d(rules_of(response))

    async def asynchronously() -> Any:
        response: Any = await engine.aquery("why?")
        assert str(await response.get_response()).startswith("bad news")
        return response

    assert blames_b_and_d(rules_of(asyncio.run(asynchronously())))


def test_an_ordinary_stream_is_explained_by_itself() -> None:
    engine = chat_of(ContextChatEngine)
    handler = RuleExplanationHandler(RuleExplainer(engine, predicate=BAD), auto=True)
    get_dispatcher().add_span_handler(handler)
    try:
        streamed = engine.stream_chat("why?")
        # Some releases do not wait for the thread that puts the answer into the memory.
        writing = [each for each in threading.enumerate() if isinstance(each, Thread)]
        assert "".join(streamed.response_gen).startswith("bad news")
        for each in writing:
            each.join()
        assert handler.errors == {}
        assert blames_b_and_d(rules_of(streamed))
    finally:
        get_dispatcher().span_handlers.remove(handler)
        handler.close()


def test_an_engine_that_retrieves_nothing_is_named() -> None:
    engine = explained(SimpleChatEngine.from_defaults(llm=Untold()), predicate=BAD)
    response: Any = engine.chat("why?")
    streamed: Any = engine.stream_chat("why?")
    assert "".join(streamed.response_gen).strip() == response.response.strip() != ""
    for each in (response, streamed):
        check_unexplained(each.metadata["rag_rules"], NoSourcesCaptured, SIMPLE)
    with pytest.raises(NoSourcesCaptured, match=SIMPLE):
        engine.explainer.explain("why?")
