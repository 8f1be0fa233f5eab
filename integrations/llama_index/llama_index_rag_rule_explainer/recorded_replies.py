"""This module returns models' recorded replies to an application if only its next action is replayed
(``replay_of="next_action"``). The requests before this action are then not sent."""

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from uuid import uuid4

from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.instrumentation.events.llm import LLMChatStartEvent, LLMCompletionStartEvent

from rag_rule_explainer.errors import InvalidInput
from rag_rule_explainer.instrumentation.beginnings import ends_at_next_action, recorded_reply
from rag_rule_explainer.instrumentation.next_action import NOT_REACHED
from rag_rule_explainer.instrumentation.requests.nested_calls import is_within_no_model
from rag_rule_explainer.instrumentation.run_context import inside_retrieval, participation
from rag_rule_explainer.instrumentation.run_failures import unusable

from .responses import RecordedReply, reply_text

_WORKFLOWS = "llama-index-workflows"
_OLDEST = (2, 26)
_TOO_OLD = (
    "replay_of='next_action' needs {name} {oldest} or newer, and {found} is installed: with older ones, "
    "a run that ends at the next action may wait for ever; install a newer one, or leave it out"
)


def check_that_runs_can_end_early() -> None:
    """Raises InvalidInput if the installed release of LlamaIndex's workflows may go on with a run that
    is stopped early."""
    try:
        found = version(_WORKFLOWS)
    except PackageNotFoundError:
        found = "none"
    if [int(part) for part in found.split(".")[:2] if part.isdigit()] < [*_OLDEST]:
        oldest = ".".join(map(str, _OLDEST))
        raise InvalidInput(_TOO_OLD.format(name=_WORKFLOWS, oldest=oldest, found=found))


def served(model: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Returns the baseline's recorded reply to this request, in the form that the model's method returns;
    None if the request must be sent. ``name``: the name of the method.

    The request is recorded like one that is sent, by an event of the same kind as LlamaIndex's own.
    """
    run = participation()
    if run is None or run.conversation is None or inside_retrieval.get() or not is_within_no_model():
        return None
    if len(run.conversation.noted) >= len(run.conversation.served):
        return None
    watch: Any = run.watch
    key = f"{name}-{uuid4()}"
    watch.take_event(_event(model, name, args, kwargs, key))
    reply: RecordedReply | None = recorded_reply(key)
    if reply is None:
        return None
    if isinstance(reply.response, ChatResponse) != ("chat" in name):
        # The application skipped a request, so this reply belongs to another one.
        raise unusable(NOT_REACHED, run.watch, passing=False)
    watch.served(key, reply)
    if "stream" not in name:
        return reply.response
    piece = reply.response.model_copy(update={"delta": reply_text(reply.response)})
    return _aeach([piece]) if name.startswith("a") else _each([piece])


def is_asked_whole() -> bool:
    """Returns True iff a streamed reply must be read to its end before the application gets any part of
    it. This is so if only the next action is replayed: a replay must end with the model's reply, before
    the application runs a tool for a call in it."""
    return ends_at_next_action() and is_within_no_model()


def read_whole(pieces: Generator[Any, None, None]) -> Generator[Any, None, None]:
    """Reads a stream to its end, and then returns a stream of the pieces that were read."""
    return _each(list(pieces))


async def aread_whole(pieces: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
    """Reads an async stream to its end, and then returns an async stream of the pieces that were read."""
    return _aeach([piece async for piece in pieces])


def _event(
    model: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], key: str
) -> LLMChatStartEvent | LLMCompletionStartEvent:
    # Older releases of LlamaIndex have only ``to_dict``.
    payload: Any = model.to_payload() if hasattr(model, "to_payload") else model.to_dict()
    asked: Any = args[0] if args else kwargs.get("messages", kwargs.get("prompt"))
    beside = {key: each for key, each in kwargs.items() if key not in {"messages", "prompt"}}
    if "chat" in name:
        messages: list[ChatMessage] = list(asked)
        return LLMChatStartEvent(
            model_dict=payload, messages=messages, additional_kwargs=beside, span_id=key
        )
    return LLMCompletionStartEvent(
        model_dict=payload, prompt=str(asked), additional_kwargs=beside, span_id=key
    )


def _each(pieces: Sequence[Any]) -> Generator[Any, None, None]:
    yield from pieces


async def _aeach(pieces: Sequence[Any]) -> AsyncGenerator[Any, None]:
    for piece in pieces:
        yield piece
