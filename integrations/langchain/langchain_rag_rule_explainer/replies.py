"""This module reads the replies of models."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation

from rag_rule_explainer import ToolCall
from rag_rule_explainer.instrumentation.engine import Said, reason_in

from .message_calls import called_in, run_by_the_provider

_NO_ANSWER = ("text", "reasoning", "reasoning_content", "thinking", "redacted_thinking", "refusal")
"""Types of content blocks that add nothing to an answer beyond the message's text: the text blocks, and
blocks that are not shown to the user. If a message has a block of any other type, such as an image, its
answer is more than the text. Refusals are checked elsewhere, too."""
_REASONS = frozenset({"finish_reason", "stop_reason", "stopReason", "done_reason"})
_ALWAYS_REPORTING = ("anthropic", "bedrock_converse", "google_genai", "google_vertexai", "openai")
"""Providers whose replies always have a finish reason."""
_CALLING = ("tool_call", "tool_use", "function_call", "tool_call_chunk", "input_json_delta")


def said_in(
    generation: Generation,
    output: object = None,
    *,
    streamed: bool = False,
    structured: tuple[ToolCall, ...] = (),
) -> Said:
    """Returns the reply in a generation.

    ``output``: the metadata of the whole result. It may say, for example, that the prompt was blocked.
    ``streamed``: True if the reply was received in chunks. ``structured``: the calls by which the model
    gives an answer in a structured form.
    """
    message = generation.message if isinstance(generation, ChatGeneration) else None
    known = {**(generation.generation_info or {}), **(message.response_metadata if message else {})}
    # The first finish reason in this order is used. That of the message may be more exact than that of
    # the generation.
    reason = reason_in(message.response_metadata if message else None, generation.generation_info, output)
    extra = message.additional_kwargs if message else {}
    kinds = {str(block.get("type")) for block in _blocks(message.content)} if message else set[str]()
    called = called_in(message) if isinstance(message, AIMessage) else ()
    elsewhere = run_by_the_provider(message) if isinstance(message, AIMessage) else ()
    return Said(
        # LangChain's subclass of str cannot be stored, so the text is converted to a plain str.
        str(generation.text if message is None else message.text),
        reason,
        calls=bool(
            len(called) > len(elsewhere) or extra.get("function_call") or kinds.intersection(_CALLING)
        ),
        refuses=bool(extra.get("refusal")) or "refusal" in kinds,
        more=bool(extra.get("audio")) or not kinds <= {*_NO_ANSWER, *_CALLING, "None"},
        reports=_reports(known, streamed=streamed),
        called=called,
        run_elsewhere=(*elsewhere, *structured),
    )


def _reports(known: Mapping[str, Any], *, streamed: bool) -> bool:
    """Returns True iff the provider ends every complete reply with a finish reason, so that a reply
    without one was cut off.

    ``known``: the metadata of the reply, in which "model_provider" names the provider. ``streamed``:
    True if the reply was streamed; some providers report finish reasons only then.
    """
    if not _REASONS.isdisjoint(known):
        return True
    provider = known.get("model_provider")
    return provider is not None and (streamed or provider in _ALWAYS_REPORTING)


def may_call(chunk: Generation) -> bool:
    """Returns False iff a chunk of a reply is only text, and so no part of a tool call."""
    message: Any = getattr(chunk, "message", None)
    if message is None:
        return False
    is_text = isinstance(message.content, str) and not message.additional_kwargs
    return not is_text or bool(getattr(message, "tool_call_chunks", ()))


def _blocks(content: Any) -> Iterable[Mapping[str, Any]]:
    listed = cast("list[Any]", content) if isinstance(content, list) else []
    return [cast("Mapping[str, Any]", block) for block in listed if isinstance(block, Mapping)]
