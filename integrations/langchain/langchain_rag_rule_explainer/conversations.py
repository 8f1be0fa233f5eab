"""This module records the replies of chat models, and serves them in replays of the next action."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult, Generation

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.engine import Said
from rag_rule_explainer.instrumentation.run_context import participation


def note_reply(run_id: UUID | None, reply: Generation, said: Said) -> None:
    """Records a reply of the run, if it is a chat model's."""
    run = participation()
    if run is None or run.conversation is None:
        return
    is_chat = isinstance(reply, ChatGeneration) and isinstance(reply.message, AIMessage)
    run.conversation.note(run_id, reply if is_chat else None, said)


def _served(run_manager: Any) -> ChatResult | None:
    """Returns the recorded reply to the request that is about to be sent; None if it is to be sent. The
    tokens of a recorded reply were spent in the baseline."""
    run = participation()
    if run is None or run.conversation is None or run_manager is None:
        return None
    reply: ChatGeneration | None = run.conversation.reply_to(run_manager.run_id)
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


def _streams(_: str, method: Callable[..., bool]) -> Any:
    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> bool:
        run = participation()
        # A model that does not stream is asked for its whole reply, which may then be a recorded one.
        served = run is not None and run.conversation is not None and bool(run.conversation.served)
        return not served and method(self, *args, **kwargs)

    return call


_MODEL = ("langchain_core.language_models.chat_models", "BaseChatModel")
INTERCEPTIONS = (
    Interception(*_MODEL, re.compile("_a?generate_with_cache"), _generating),
    Interception(*_MODEL, re.compile("_should_stream"), _streams),
)
