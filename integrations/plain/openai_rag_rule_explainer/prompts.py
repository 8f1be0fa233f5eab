"""This module removes omitted turns and instructions from requests in OpenAI's protocols."""

from collections.abc import Mapping
from typing import Any

from rag_rule_explainer.instrumentation.beginnings import prompt_editing
from rag_rule_explainer.instrumentation.clients.fields import mapping_in
from rag_rule_explainer.instrumentation.copies.copying import described
from rag_rule_explainer.instrumentation.requests.json_parts import items_of_list, texts_within
from rag_rule_explainer.instrumentation.source_kinds.asked_models import BesideTexts
from rag_rule_explainer.instrumentation.source_kinds.prompt_sections import PromptMessage
from rag_rule_explainer.instrumentation.source_kinds.whole_messages import whole_of

_INSTRUCTIONS = "instructions"
_LISTS = ("messages", "input")
"""Keys of a request's body under which messages are listed: of chat completions, and of responses."""
_STREAMED = ("stream", "stream_options")


def edited(client: object, options: Any) -> Any:
    """Returns the options of a request to a model, without the sources that the current replay omits."""
    body = edited_body(options.json_data, client, described(_beside_messages(options)))
    return options if body is options.json_data else options.model_copy(update={"json_data": body})


def _beside_messages(options: Any) -> dict[str, Any]:
    """Returns all that a request has besides its messages, except for how its reply is sent."""
    body: Mapping[str, Any] = options.json_data or {}
    left = {key: each for key, each in body.items() if key not in (*_LISTS, _INSTRUCTIONS, *_STREAMED)}
    headers: Any = options.headers
    given = {key: each for key, each in headers.items() if isinstance(each, str)} if headers else {}
    named = {f"header {key}": each for key, each in given.items()}
    query = dict(options.params or {})
    return {"url": str(options.url), "body": left, "more": options.extra_json, "query": query, **named}


def edited_body(body: Mapping[str, Any], client: object = None, more: str = "") -> Mapping[str, Any]:
    """Returns the body of a request to a model, without the sources that the current replay omits.
    ``client``: the client that sends the request; None if it is posted without one. ``more``: the
    description of all that the request has besides its messages."""
    editing = prompt_editing()
    if editing is None:
        return body
    key = next((each for each in _LISTS if isinstance(body.get(each), list)), None)
    listed: list[Any] = [] if key is None else body[key]
    own = body.get(_INSTRUCTIONS)
    instructions = [PromptMessage("system", own)] if isinstance(own, str) else []
    messages = [*instructions, *(PromptMessage(_role_of(each), _text_of(each)) for each in listed)]
    whole = [*map(whole_of, [own] * len(instructions)), *map(whole_of, listed)]
    texts = list(editing.edited(messages, BesideTexts(client, whole, more)))
    if texts == [each.text for each in messages]:
        return body
    changed = dict(body)
    if isinstance(own, str):
        changed[_INSTRUCTIONS] = texts.pop(0)
    if key is not None:
        pairs = zip(listed, texts, strict=True)
        changed[key] = [_with_text(each, text) for each, text in pairs if text is not None]
    return {key: each for key, each in changed.items() if each is not None}


def _role_of(message: Any) -> str:
    fields = mapping_in(message)
    kind = {"function_call": "assistant"}.get(str(fields.get("type")), "tool")
    return str(fields.get("role") or kind) if fields else ""


def _text_of(message: Any) -> str:
    fields = mapping_in(message)
    content: Any = fields.get("content") or fields.get("output") or ""
    if isinstance(content, str):
        return content
    return "\n".join(texts_within([mapping_in(each).get("text") for each in items_of_list(content)], ()))


def _with_text(message: Any, text: str | None) -> Any:
    if text == _text_of(message):
        return message
    return {**message, "output" if "output" in message else "content": text}
