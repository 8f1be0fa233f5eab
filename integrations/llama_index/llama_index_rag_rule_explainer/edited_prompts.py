"""This module removes omitted turns and instructions from the requests to chat models. If only the next
action of an agent is replayed (``replay_of="next_action"``), it also returns the recorded replies of the
earlier requests, which are then not sent."""

import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from functools import wraps
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock

from rag_rule_explainer.instrumentation.beginnings import prompt_editing
from rag_rule_explainer.instrumentation.copies.copying import described
from rag_rule_explainer.instrumentation.source_kinds.asked_models import BesideTexts
from rag_rule_explainer.instrumentation.source_kinds.prompt_sections import PromptMessage
from rag_rule_explainer.instrumentation.source_kinds.whole_messages import whole_of

from .parameters import is_plain_parameter
from .recorded_replies import aread_whole, is_asked_whole, read_whole, served

_MESSAGES = "messages"


def asking_with_edits(wrapping: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """Returns a function that gets the name of a model's method and the method, and returns the
    replacement of the method.

    The replacement removes from the messages the sources that the current replay omits. If the baseline
    got a reply to the same request, it returns this reply. Otherwise it sends the request. ``wrapping``:
    a function of the same two arguments; the method that it returns sends the request.
    """

    def made(name: str, method: Any) -> Any:
        wrapped, edit = wrapping(name, method), _edited if "chat" in name else _unedited

        @wraps(method)
        def call(self: object, *args: Any, **kwargs: Any) -> Any:
            own, named = edit(self, args, kwargs)
            reply = served(self, name, own, named)
            if reply is not None:
                return reply
            is_whole = is_asked_whole()
            sent = wrapped(self, *own, **named)
            return read_whole(sent) if is_whole and isinstance(sent, Generator) else sent

        @wraps(method)
        async def acall(self: object, *args: Any, **kwargs: Any) -> Any:
            own, named = edit(self, args, kwargs)
            reply = served(self, name, own, named)
            if reply is not None:
                return reply
            is_whole = is_asked_whole()
            sent = await wrapped(self, *own, **named)
            return await aread_whole(sent) if is_whole and isinstance(sent, AsyncGenerator) else sent

        return acall if inspect.iscoroutinefunction(method) else call

    return made


def _unedited(
    _: object, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    return args, kwargs


def _edited(
    model: object, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    editing = prompt_editing()
    messages: Sequence[ChatMessage] = (args[0] if args else kwargs.get(_MESSAGES)) or ()
    if editing is None or not messages:
        return args, kwargs
    texts = [each.content or "" for each in messages]
    roles = (str(getattr(each.role, "value", each.role)) for each in messages)
    given = [PromptMessage(*each) for each in zip(roles, texts, strict=True)]
    more = {key: each for key, each in kwargs.items() if key != _MESSAGES and is_plain_parameter(each)}
    whole = [whole_of(each.model_dump()) for each in messages]
    sent = editing.edited(given, BesideTexts(model, whole, described(more)))
    if list(sent) == texts:
        return args, kwargs
    pairs = zip(messages, texts, sent, strict=True)
    own = [_with_text(each, was, text) for each, was, text in pairs if text is not None]
    return ((own, *args[1:]), kwargs) if args else (args, {**kwargs, _MESSAGES: own})


def _with_text(message: ChatMessage, was: str, text: str) -> ChatMessage:
    if text == was:
        return message
    return message.model_copy(update={"blocks": [TextBlock(text=text)] if text else []})
