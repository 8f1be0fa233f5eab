"""This module records the replies of chat models. If only the next action of an agent is replayed
(``replay_of="next_action"``), the application gets the recorded replies to all requests before this
action, and these requests are not sent. The module also removes omitted turns and instructions from
requests to models."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, cast
from uuid import UUID

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult, Generation
from langchain_core.prompt_values import ChatPromptValue, PromptValue
from typing_extensions import override

from rag_rule_explainer.instrumentation.beginnings import (
    ends_at_next_action,
    note_reply,
    prompt_editing,
    recorded_reply,
)
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.engine import Said
from rag_rule_explainer.instrumentation.requests.nested_calls import is_within_a_model
from rag_rule_explainer.instrumentation.source_kinds.asked_models import BesideTexts
from rag_rule_explainer.instrumentation.source_kinds.asked_requests import PromptEditing
from rag_rule_explainer.instrumentation.source_kinds.prompt_sections import PromptMessage

from .spoken_texts import whole_message


def note_chat_reply(run_id: UUID | None, reply: Generation, said: Said) -> None:
    """Records the reply to a request. A replay can get the recorded reply of a chat model without sending
    the request. ``run_id``: LangChain's id of the request. ``said``: the text and the tool calls of the
    reply."""
    is_chat = isinstance(reply, ChatGeneration) and isinstance(reply.message, AIMessage)
    note_reply(run_id, reply if is_chat else None, said)


def _served(run_manager: Any) -> ChatResult | None:
    """Returns the recorded reply to the current request to a model; None if the request must be sent to
    the model. Raises the recorded error if the model failed for this request. The reply has no token
    counts, because its tokens were spent in the baseline."""
    reply: ChatGeneration | None = None if run_manager is None else recorded_reply(run_manager.run_id)
    if reply is None:
        return None
    message = reply.message.model_copy(update={"usage_metadata": None})
    return ChatResult(
        generations=[ChatGeneration(message=message, generation_info=reply.generation_info)]
    )


def _generating(name: str, method: Any) -> Any:
    @wraps(method)
    def call(self: Any, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        served = _served(run_manager)
        if served is not None:
            return served
        return method(self, messages, stop=stop, run_manager=run_manager, **kwargs)

    @wraps(method)
    async def acall(
        self: Any, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Any:
        served = _served(run_manager)
        if served is not None:
            return served
        return await method(self, messages, stop=stop, run_manager=run_manager, **kwargs)

    return acall if name.startswith("_a") else call


def _converting(_: str, method: Any) -> Any:
    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        prompt: PromptValue = method(self, *args, **kwargs)
        editing = prompt_editing()
        if editing is None:
            return prompt
        return _EditedPrompt(messages=_edited(editing, self, prompt.to_messages()))

    return call


class _EditedMessages(list[BaseMessage]):
    """An ``_EditedMessages`` has the messages of a request without the omitted sources."""


class _EditedPrompt(ChatPromptValue):
    @override
    def to_messages(self) -> list[BaseMessage]:
        return _EditedMessages(self.messages)


def with_edits(wrapping: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """Returns a function that makes the replacements of models' methods by calling ``wrapping``. The
    replacements of ``generate`` and ``agenerate`` also remove omitted sources from the messages. Some
    applications, such as an ``LLMChain``, call these two methods directly. In requests by all other
    methods, the sources have already been removed."""

    def replacing(name: str, method: Any) -> Any:
        noted = wrapping(name, method)

        @wraps(method)
        def call(self: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
            return noted(self, _all_edited(self, messages), *args, **kwargs)

        @wraps(method)
        async def acall(self: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
            return await noted(self, _all_edited(self, messages), *args, **kwargs)

        return {"generate": call, "agenerate": acall}.get(name, noted)

    return replacing


def _all_edited(model: object, batch: list[Any]) -> list[Any]:
    editing = None if is_within_a_model() else prompt_editing()
    if editing is None:
        return batch
    return [_edited(editing, model, each) if isinstance(each, list) else each for each in batch]


def _edited(editing: PromptEditing, model: object, messages: Any) -> list[BaseMessage]:
    if isinstance(messages, _EditedMessages):
        return messages
    messages = cast("list[BaseMessage]", messages)
    given = [PromptMessage(each.type, _text_of(each)) for each in messages]
    texts = editing.edited(given, BesideTexts(model, [whole_message(each) for each in messages]))
    pairs = zip(messages, texts, strict=True)
    return [_with_text(*each) for each in pairs if each[1] is not None]


def _text_of(message: BaseMessage) -> str:
    return str(message.text)


def _with_text(message: BaseMessage, text: str | None) -> BaseMessage:
    return message if text == _text_of(message) else message.model_copy(update={"content": text})


def _streams(_: str, method: Callable[..., bool]) -> Any:
    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> bool:
        # If only the next action is replayed, models are not asked to stream. LangChain then requests
        # whole replies, and a replay can return a recorded reply in place of the request.
        return not ends_at_next_action() and method(self, *args, **kwargs)

    return call


_MODEL = ("langchain_core.language_models.chat_models", "BaseChatModel")
INTERCEPTIONS = (
    Interception(*_MODEL, re.compile("_a?generate_with_cache"), _generating),
    Interception(*_MODEL, re.compile("_should_stream"), _streams),
    Interception(*_MODEL, re.compile("_convert_input"), _converting),
)
