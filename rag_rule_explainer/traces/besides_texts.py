"""This module finds out whether a recorded request to a model holds more than texts, such as pictures or
tools. Such a request cannot be replayed, because a replay sends only texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from .bounds import as_data
from .messages import content_text, numbered_items
from .spans import TracedRequest

_CALLS = frozenset({"tool_calls", "function_call", "tool_call"})
_OFFERED = frozenset({"tools", "functions"})
_FORMS = frozenset({"response_format", "ls_structured_output_format", "response_schema"})
_PARTS = frozenset({"content", "contents", "parts", "blocks"})
_TEXTS = frozenset({"text", "input_text", "output_text"})
_DEEPEST = 12


def besides_texts(given: Any) -> str:
    """Returns, in words, the parts of a request that are no texts, such as "calls of tools"; empty if
    the request has only texts."""
    return next(_unread(as_data(given), 0), "")


def with_offers(request: TracedRequest | None, *parameters: Any) -> TracedRequest | None:
    """Returns the request with ``unread`` set to the things that its parameters offer to the model, such
    as tools, in words.

    Returns the request unchanged if ``unread`` is set already or the parameters offer nothing, and None
    if ``request`` is None. ``parameters``: the parameters, in any form in which tracers write them.
    """
    if request is None or request.unread:
        return request
    found = (_offered(each, 0) for each in parameters)
    return replace(request, unread=next((each for each in found if each), ""))


def _offered(parameters: Any, depth: int) -> str:
    given = as_data(parameters)
    if not isinstance(given, Mapping) or depth > _DEEPEST:
        return ""
    for key, value in cast("Mapping[str, Any]", given).items():
        if key in _OFFERED and as_data(value):
            return "tools that the model could call"
        if key in _FORMS and _is_form(as_data(value)):
            return "a form that the reply has to have"
        if found := _offered(value, depth + 1):
            return found
    return ""


def _is_form(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return bool(value)
    return bool(cast("Any", value)) and cast("Mapping[str, Any]", value).get("type") != "text"


def _unread(given: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(given, Mapping):
        for key, value in cast("Mapping[str, Any]", given).items():
            if key in _CALLS and value:
                yield "calls of tools"
            if key in _OFFERED and value:
                yield "tools that the model could call"
            if key in _PARTS and not all(_is_text(each) for each in numbered_items(value) or ()):
                yield "parts that are no texts, such as pictures"
            yield from _unread(value, depth + 1)
    elif isinstance(given, (list, tuple)):
        for each in cast("Sequence[Any]", given):
            yield from _unread(each, depth + 1)


def _is_text(part: Any) -> bool:
    if isinstance(part, Mapping):
        fields = cast("Mapping[str, Any]", part)
        inside = fields.get("message_content")
        if isinstance(inside, Mapping):
            return _is_text(inside)
        kind = fields.get("type", fields.get("block_type", "text"))
        if not isinstance(kind, str) or kind.casefold() not in _TEXTS:
            return False
    return content_text(part) is not None
