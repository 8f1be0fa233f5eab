"""This module defines ``ExplainedChatEngine``, a chat engine that attaches rules to its responses."""

from collections.abc import Sequence
from typing import Any, cast

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine.types import (
    AgentChatResponse,
    BaseChatEngine,
    StreamingAgentChatResponse,
)
from typing_extensions import override

from rag_rule_explainer.instrumentation.run_context import participation

from .chat_streams import ExplainedChatStream
from .explainer import RuleExplainer
from .rules_attached import inside, with_rules
from .streaming import AsyncPieces, Pieces


class ExplainedChatEngine(BaseChatEngine):
    """This chat engine returns the responses of another chat engine, and attaches to each the rules of
    its answer. The function ``explained`` makes it. Both engines have the same conversation."""

    def __init__(self, explainer: RuleExplainer) -> None:
        self.explainer = explainer

    @override
    def chat(self, message: str, chat_history: list[ChatMessage] | None = None) -> AgentChatResponse:
        """Returns the response to a message, with its rules."""
        if participation() is not None:
            return inside(self._engine.chat(message, chat_history))
        done = self.explainer.live_call(_said(message, chat_history)).answered()
        return with_rules(self.explainer, done)

    @override
    async def achat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> AgentChatResponse:
        """Returns the response to a message, with its rules, in the caller's event loop."""
        if participation() is not None:
            return inside(await self._engine.achat(message, chat_history))
        call = self.explainer.live_call(_said(message, chat_history))
        return with_rules(self.explainer, await call.aanswered())

    @override
    def stream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> StreamingAgentChatResponse:
        """Returns a streamed response whose ``metadata`` has the rules after the stream has ended."""
        if participation() is not None:
            return inside(self._engine.stream_chat(message, chat_history))
        begun = Pieces.of(self.explainer.live_call(_said(message, chat_history)))
        return ExplainedChatStream.of(begun.response, begun=begun)

    @override
    async def astream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> StreamingAgentChatResponse:
        """Returns a streamed async response, whose ``metadata`` has the rules after the stream has
        ended. Runs in the caller's event loop."""
        if participation() is not None:
            return inside(await self._engine.astream_chat(message, chat_history))
        begun = await AsyncPieces.of(self.explainer.live_call(_said(message, chat_history)))
        return ExplainedChatStream.of(begun.response, abegun=begun)

    @override
    def reset(self) -> None:
        """Calls ``reset`` of the wrapped engine, which empties the conversation."""
        self._engine.reset()

    @property
    @override
    def chat_history(self) -> list[ChatMessage]:
        """Returns the conversation so far."""
        return self._engine.chat_history

    @property
    def _engine(self) -> BaseChatEngine:
        return cast("BaseChatEngine", self.explainer.application)


def _said(message: str, chat_history: Sequence[ChatMessage] | None) -> dict[str, Any]:
    return {"message": message, "chat_history": None if chat_history is None else list(chat_history)}
