"""This module reads requests to models, in all forms in which tracers write them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from .besides_texts import besides_texts
from .bounds import as_structure
from .messages import content_text, messages_in
from .spans import TracedRequest

_INSTRUCTIONS = ("system", "instructions")
"""The keys beside the messages under which some requests have the instructions. In other requests, the
first message has the instructions."""


def request_in(given: Any) -> TracedRequest | None:
    """Returns the request to a model in the input of its span; None if it cannot be read.

    The input may be messages, a dict with messages or prompts, or a text.
    """
    given = as_structure(given)
    if isinstance(given, str):
        return TracedRequest((("user", given),), is_chat=False) if given else None
    found, unread = messages_in(given), besides_texts(given)
    if found:
        return TracedRequest(found, unread=unread)
    if not isinstance(given, Mapping):
        return None
    fields = cast("Mapping[str, Any]", given)
    for key in ("messages", "input"):
        found = messages_in(fields.get(key))
        if found:
            return _instructed(TracedRequest(found, unread=unread), fields)
    for key in ("prompts", "args", "prompt"):
        prompt = _only_text(fields.get(key))
        if prompt is not None:
            return TracedRequest((("user", prompt),), is_chat=False)
    return None


def _only_text(given: Any) -> str | None:
    if isinstance(given, (list, tuple)) and len(cast("Sequence[Any]", given)) == 1:
        given = cast("Sequence[Any]", given)[0]
    return given if isinstance(given, str) else None


def _instructed(request: TracedRequest, fields: Mapping[str, Any]) -> TracedRequest:
    """Returns the request with the instructions that stand beside its messages in ``fields``, if there
    are any."""
    written = next((fields[key] for key in _INSTRUCTIONS if fields.get(key)), None)
    if written is None:
        return request
    text = content_text(written)
    if text is None:
        return replace(request, unread=request.unread or "instructions that are no text")
    return replace(request, messages=(("system", text), *request.messages))
