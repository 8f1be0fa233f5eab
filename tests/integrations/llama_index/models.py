"""An LLM that answers with what it was shown, and says how often it was asked."""

import json
import re
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.schema import TextNode
from pydantic import Field, PrivateAttr
from typing_extensions import override

from tests.integrations.known import TEXTS, shown_in

_SEEN = re.compile(r"\[seen: (\w*)\]")


def nodes(names: str) -> list[TextNode]:
    """The nodes of these names: real sentences, so that they are recognised in prompts."""
    return [TextNode(id_=name, text=TEXTS[name]) for name in names]


def bad_with_b_and_d(prompt: str) -> str:
    """Bad news where b and d are shown, or were when an answer that is shown was given."""
    seen = set(shown_in(prompt)).union(*_SEEN.findall(prompt))
    verdict = "bad news" if {"b", "d"} <= seen else "good news"
    return f"{verdict} [seen: {''.join(sorted(seen))}]"


def bad_where_both_are_shown(prompt: str) -> str:
    return "bad news" if {"b", "d"} <= set(shown_in(prompt)) else "good news"


def bad_with_b(prompt: str) -> str:
    return "bad news" if "b" in shown_in(prompt) else "good news"


class Telling(FunctionCallingLLM):
    """Answers what ``says`` makes of the prompt, word by word where it is streamed.

    Given tools, it calls the first one with ``query`` once, then answers. ``script``: pairs of what
    stands in a prompt and the reply to that, before anything else. ``told``: raw data of every reply.
    """

    says: Callable[[str], str] = bad_with_b_and_d
    script: Sequence[tuple[str, str]] = ()
    query: str = "why?"
    told: dict[str, Any] = Field(default_factory=dict[str, Any])
    window: int = 100_000
    _lock: Any = PrivateAttr(default_factory=threading.Lock)
    _asked: list[str] = PrivateAttr(default_factory=list[str])

    @property
    def asked(self) -> list[str]:
        """What it was shown each time, by names."""
        return self._asked

    @property
    @override
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=self.window,
            model_name="telling",
            is_chat_model=True,
            is_function_calling_model=True,
        )

    def _reply(self, prompt: str) -> str:
        for told, reply in self.script:
            if told in prompt:
                return reply
        with self._lock:
            self._asked.append(shown_in(prompt))
        return self.says(prompt)

    def _chat(self, messages: Sequence[ChatMessage], tools: Sequence[Any] = ()) -> ChatResponse:
        called = any(message.role == MessageRole.TOOL for message in messages)
        prompt = "\n\n".join(str(message.content or "") for message in messages)
        if tools and not called:
            name = tools[0].metadata.name
            argument = next(iter(tools[0].metadata.get_parameters_dict()["properties"]), "input")
            call = {
                "id": "1",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps({argument: self.query})},
            }
            message = ChatMessage(
                role=MessageRole.ASSISTANT, content="", additional_kwargs={"tool_calls": [call]}
            )
        else:
            message = ChatMessage(role=MessageRole.ASSISTANT, content=self._reply(prompt))
        return ChatResponse(message=message, raw=dict(self.told))

    def _chunks(self, response: ChatResponse) -> Generator[ChatResponse, None, None]:
        text = ""
        for word in re.findall(r"\s*\S+", response.message.content or "") or [""]:
            text += word
            message = ChatMessage(
                role=MessageRole.ASSISTANT,
                content=text,
                additional_kwargs=response.message.additional_kwargs,
            )
            yield ChatResponse(message=message, delta=word, raw=dict(self.told))

    @llm_chat_callback()
    @override
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self._chat(messages, kwargs.get("tools") or ())

    @llm_chat_callback()
    @override
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self._chat(messages, kwargs.get("tools") or ())

    @llm_chat_callback()
    @override
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return self._chunks(self._chat(messages, kwargs.get("tools") or ()))

    @llm_chat_callback()
    @override
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        async def chunks() -> AsyncGenerator[ChatResponse, None]:
            for chunk in self._chunks(self._chat(messages, kwargs.get("tools") or ())):
                yield chunk

        return chunks()

    @llm_completion_callback()
    @override
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._reply(prompt), raw=dict(self.told))

    @llm_completion_callback()
    @override
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._reply(prompt), raw=dict(self.told))

    @llm_completion_callback()
    @override
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        def chunks() -> Generator[CompletionResponse, None, None]:
            text = self._reply(prompt)
            yield CompletionResponse(text=text, delta=text, raw=dict(self.told))

        return chunks()

    @llm_completion_callback()
    @override
    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        async def chunks() -> AsyncGenerator[CompletionResponse, None]:
            text = self._reply(prompt)
            yield CompletionResponse(text=text, delta=text, raw=dict(self.told))

        return chunks()

    @override
    def _prepare_chat_with_tools(
        self,
        tools: Sequence[Any],
        user_msg: Any = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        messages = list(chat_history or [])
        if user_msg is not None:
            messages.append(
                ChatMessage(role=MessageRole.USER, content=user_msg)
                if isinstance(user_msg, str)
                else user_msg
            )
        return {"messages": messages, "tools": tools, **kwargs}

    @override
    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        return [
            ToolSelection(
                tool_id=call["id"],
                tool_name=call["function"]["name"],
                tool_kwargs=json.loads(call["function"]["arguments"]),
            )
            for call in response.message.additional_kwargs.get("tool_calls", [])
        ]
