"""This module reads the results of tools as sources, with what they have beside the text for the model:
an artifact, and what LangGraph's ``Command`` writes into the state."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langchain_core.messages.tool import ToolOutputMixin

from rag_rule_explainer.instrumentation.clients.fields import is_listed, mapping_in
from rag_rule_explainer.instrumentation.result_field import ResultField
from rag_rule_explainer.instrumentation.source_kinds.result_content import ResultContent, as_content

_ARTIFACT = "artifact"
_MESSAGES = "messages"


def result_content(result: Any) -> ResultContent:
    """Returns the part of a tool's result that a model is shown, and what the result has beside it.

    This part is the content of a tool message, or of the first tool message in LangGraph's ``Command``
    (None if the ``Command`` has none). Any other result is returned unchanged. Beside it are the artifact
    of the message, and the other entries of the ``Command``'s update.
    """
    if isinstance(result, ToolMessage):
        return ResultContent(
            _content_of(result),
            partial(_with_content, result),
            tuple(_artifact_of(result)),
            _with_artifact,
        )
    if not isinstance(result, ToolOutputMixin):
        return as_content(result)
    entries = mapping_in(getattr(result, "update", None))
    messages = cast("list[Any]", entries.get(_MESSAGES) or [])
    place = next((n for n, each in enumerate(messages) if isinstance(each, ToolMessage)), None)
    if place is None:
        return as_content(None)

    def put(content: Any) -> Any:
        return _with_message(result, place, _with_content(messages[place], content))

    def with_fields(changed: Any, fields: Sequence[ResultField]) -> Any:
        updated = mapping_in(changed.update)
        own = {each.name: each.value for each in fields if each.is_state}
        update = {
            name: own.get(name, each) for name, each in updated.items() if name in {*own, _MESSAGES}
        }
        message = _with_artifact(updated[_MESSAGES][place], fields)
        return _with_message(replace(changed, update=update), place, message)

    fields = (*_artifact_of(messages[place]), *_state_of(result, entries))
    return ResultContent(_content_of(messages[place]), put, fields, with_fields)


def _with_message(command: Any, place: int, message: Any) -> Any:
    entries = mapping_in(command.update)
    messages = entries[_MESSAGES]
    own = [*messages[:place], message, *messages[place + 1 :]]
    return replace(command, update={**entries, _MESSAGES: own})


def _artifact_of(message: ToolMessage) -> Iterator[ResultField]:
    artifact = cast("Any", message).artifact
    if artifact is not None:
        yield ResultField(_ARTIFACT, artifact)


def _with_artifact(message: Any, fields: Sequence[ResultField]) -> Any:
    own = next((each.value for each in fields if not each.is_state), None)
    return message if message.artifact is own else message.model_copy(update={_ARTIFACT: own})


def _state_of(command: Any, entries: Mapping[str, Any]) -> Iterator[ResultField]:
    """Yields the entries of a ``Command``'s update beside the messages. An entry that names the agent to
    which the ``Command`` hands over is a part of the hand-over."""
    goto: Any = command.goto
    names = {str(getattr(each, "node", each)) for each in (goto if is_listed(goto) else [goto])}
    for name, value in entries.items():
        if name != _MESSAGES:
            is_handed = isinstance(value, str) and bool(goto) and value in names
            yield ResultField(name, value, is_state=True, stays=is_handed)


def _content_of(message: ToolMessage) -> Any:
    return cast("Any", message).content


def _with_content(message: ToolMessage, content: Any) -> ToolMessage:
    return message if content == _content_of(message) else message.model_copy(update={"content": content})
