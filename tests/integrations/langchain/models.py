"""Chat models that answer with what they were shown, and say how often they were asked."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.documents import Document
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field, PrivateAttr
from typing_extensions import override

from tests.integrations.known import TEXTS, shown_in


def facts(names: str) -> list[Document]:
    """The documents of these names: real sentences, so that they are recognised in prompts."""
    return [Document(id=name, page_content=TEXTS[name]) for name in names]


def sent_in(messages: list[BaseMessage]) -> str:
    """The names of the documents in what a model was sent."""
    return shown_in(" ".join(message.text for message in messages))


def bad_with_b_and_d(messages: list[BaseMessage]) -> str:
    return "bad news" if {"b", "d"} <= set(sent_in(messages)) else "good news"


class Telling(BaseChatModel):
    """Answers what ``says`` makes of the messages, word by word where it is streamed."""

    says: Callable[[list[BaseMessage]], str] = bad_with_b_and_d
    told: dict[str, Any] = Field(default_factory=dict[str, Any])
    spends: int = 0
    _lock: Any = PrivateAttr(default_factory=threading.Lock)
    _asked: list[str] = PrivateAttr(default_factory=list[str])

    @property
    def asked(self) -> list[str]:
        """What it was shown each time, by names."""
        return self._asked

    @property
    @override
    def _llm_type(self) -> str:
        return "telling"

    def _answer(self, messages: list[BaseMessage]) -> str:
        with self._lock:
            self._asked.append(sent_in(messages))
        return self.says(messages)

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = AIMessage(
            self._answer(messages), response_metadata={"model_name": "telling", **self.told}
        )
        if self.spends:
            reply.usage_metadata = {
                "input_tokens": self.spends,
                "output_tokens": 1,
                "total_tokens": self.spends + 1,
            }
        return ChatResult(generations=[ChatGeneration(message=reply)])

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        *words, last = self._answer(messages).split(" ")
        for word in words:
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
        yield ChatGenerationChunk(message=AIMessageChunk(content=last, response_metadata=dict(self.told)))
