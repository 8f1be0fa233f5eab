"""This module reads the texts of messages, replies and requests. Two runs are compared by these texts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, Generation

from rag_rule_explainer.instrumentation.copies.copying import described
from rag_rule_explainer.instrumentation.source_kinds.whole_messages import WholeMessage, whole_of

_REPEATED = frozenset({"tool_calls", "function_call"})
"""Keys of a message's ``additional_kwargs`` that repeat its tool calls."""
_UNSENT = frozenset({"artifact", "usage_metadata"})
"""Fields of messages that no model is sent."""
_OF_TRANSPORT = frozenset({"stream", "stream_options", "timeout", "extra_headers"})
"""Parameters of a call that change how the reply is sent, but not the text that the model reads. They are
left out when two requests are compared."""


def parameters(event: Mapping[str, Any]) -> str:
    """Returns the parameters of a call of a model, such as tools or a conversation's id, as one text."""
    given: Any = event.get("invocation_params") or {}
    if not isinstance(given, Mapping):
        return ""
    parameters = cast("Mapping[str, Any]", given)
    return described({key: each for key, each in parameters.items() if key not in _OF_TRANSPORT})


def spoken(message: BaseMessage) -> str:
    """Returns the text of a message with its role and its tool calls.

    The ids of tool calls are left out, because they differ between runs.
    """
    named, called = _beside(message)
    return "\n".join([f"{message.type}:", *named, *texts(message.content), *called])


def whole_message(message: BaseMessage) -> WholeMessage:
    """Returns all that a message has, except for what LangChain sends to no model."""
    return whole_of(message.model_dump(), _UNSENT)


def _beside(message: BaseMessage) -> tuple[list[str], list[str]]:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    called = [described((call["name"], call["args"])) for call in calls]
    extra = {key: each for key, each in message.additional_kwargs.items() if key not in _REPEATED}
    return [described(each) for each in (message.name, extra) if each], called


def reply_texts(reply: Generation) -> tuple[str, str]:
    """Returns two texts for a reply: its text alone, and its text with its tool calls."""
    message = reply.message if isinstance(reply, ChatGeneration) else None
    text = reply.text if message is None else str(message.text)
    return text, text if message is None else spoken(message)


def texts(content: Any) -> Iterable[str]:
    """Yields every string in a message's content, at any depth."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for value in cast("Mapping[Any, Any]", content).values():
            yield from texts(value)
    elif isinstance(content, Sequence) and not isinstance(content, (bytes, bytearray)):
        for value in cast("Sequence[Any]", content):
            yield from texts(value)
