"""This module defines a LlamaIndex LLM that needs no API key, for demos and tests."""

import re
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from typing_extensions import override

from rag_rule_explainer.instrumentation.offline import offline_answer, word_by_word
from rag_rule_explainer.testing.reader import NO_ANSWER

_WINDOW = 32_768
_END = {"finish_reason": "stop"}

# These patterns match the prompts of LlamaIndex that do not simply ask for an answer, but want a
# follow-up question rephrased or an answer refined.
_FOLLOW_UP = re.compile(
    r"follow up (?:input:|message>)\s*(.*?)\s*<?standalone question[:>]", re.IGNORECASE | re.DOTALL
)
_REFINING = (
    re.compile(
        r"original query is as follows: (?P<question>.*?)\nWe have provided an existing answer: "
        r"(?P<answer>.*?)\nWe have the opportunity[^\n]*\n(?:[^\n]*\n)?-{3,}\n(?P<context>.*)\n-{3,}\n",
        re.DOTALL,
    ),
    re.compile(
        r"New Context: (?P<context>.*)\nQuery: (?P<question>.*?)\nOriginal Answer: (?P<answer>.*?)\n"
        r"New Answer: ",
        re.DOTALL,
    ),
)


class OfflineLLM(CustomLLM):
    """This LLM answers a question with words from the passages in its prompt, or with "N/A".

    It calls no language model. It finds the question and the passages in the prompt by ``parse_prompt``
    of ``rag_rule_explainer.testing.prompts``. If the prompt wants an earlier answer refined from more
    context, the LLM repeats this answer, unless it finds an answer in the new context. If the prompt
    wants a follow-up question rephrased, it repeats the question. The same prompt always gets the same
    answer. Raises ValueError for a prompt without a question.
    """

    @property
    @override
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=_WINDOW, num_output=256, model_name="rag-rule-offline-reader")

    @classmethod
    @override
    def class_name(cls) -> str:
        return "OfflineLLM"

    @llm_completion_callback()
    @override
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=_answer(prompt), raw=_END)

    @llm_completion_callback()
    @override
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        def pieces() -> CompletionResponseGen:
            text = ""
            for piece in word_by_word(_answer(prompt)):
                text += piece
                yield CompletionResponse(text=text, delta=piece, raw=_END)

        return pieces()

    @llm_chat_callback()
    @override
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        reply = ChatMessage(content=_answer(_joined(messages)), role=MessageRole.ASSISTANT)
        return ChatResponse(message=reply, raw=_END)

    @llm_chat_callback()
    @override
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        def pieces() -> ChatResponseGen:
            text = ""
            for piece in word_by_word(_answer(_joined(messages))):
                text += piece
                reply = ChatMessage(content=text, role=MessageRole.ASSISTANT)
                yield ChatResponse(message=reply, delta=piece, raw=_END)

        return pieces()


def _joined(messages: Sequence[ChatMessage]) -> str:
    return "\n\n".join(message.content or "" for message in messages)


def _answer(prompt: str) -> str:
    follow_up = _FOLLOW_UP.search(prompt)
    if follow_up is not None:
        return follow_up.group(1)
    refining = next(filter(None, (each.search(prompt) for each in _REFINING)), None)
    if refining is None:
        return offline_answer(prompt)
    found = offline_answer(f"Context:\n{refining['context']}\n\nQuestion: {refining['question']}")
    return refining["answer"] if found == NO_ANSWER else found
