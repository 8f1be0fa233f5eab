"""This module reads the question from an application's input and the answer from its output."""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any, cast

from llama_index.core.agent.workflow.workflow_events import AgentOutput
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.schema import QueryBundle
from llama_index.core.workflow import StartEvent, StopEvent
from pydantic import BaseModel

from rag_rule_explainer import Answer
from rag_rule_explainer.instrumentation import reading

QUESTION_KEYS = (
    *("query", "question", "user_msg", "user_input", "message", "input", "query_str", "topic", "task"),
)
_ANSWER_KEYS = ("answer", "response", "output", "result")
_LESS_SURE = ("generation", "final_answer", "final_response", "output_text")
"""Further keys under which dicts often have the answer. If two of them have different texts, the answer
is ambiguous."""
_SELDOM = ("text",)
"""Keys under which an answer is read only if no other key has one."""


def question_in(given: Any) -> str:
    """Returns the question in an input.

    The input is a str, a query bundle or a message; or a list of these, whose last item is read. It may
    also be a dict or a StartEvent that has one of these under a usual key, such as "query", or that has a
    single text. Raises InvalidInput for any other input; the message advises to pass ``question_of``.
    """
    entries = _fields(given)
    found = reading.look_up(entries, QUESTION_KEYS, _text)
    if found is None and isinstance(entries, Mapping):
        texts = [each for each in cast("Mapping[str, Any]", entries).values() if isinstance(each, str)]
        found = texts[0] if len(texts) == 1 else None
    if found is None:
        raise reading.no_question_in(given)
    return found


def answer_in(output: Any) -> Answer:
    """Returns the answer in an output: a response, an agent's output, a str, or a dict that has one of
    these under a usual key, such as "answer", "response", "generation", "final_answer" or "output_text".

    A structured response is also stored as the answer's ``value``. Raises InvalidInput for any other
    output, and if several entries with different texts may be the answer; the message advises to pass
    ``answer_of``.
    """
    if isinstance(output, StopEvent):
        return _answer_in(_stopped_with(output), type(output).__name__)
    return _answer_in(output, type(output).__name__)


def _answer_in(output: Any, kind: str) -> Answer:
    if isinstance(output, PydanticResponse):
        value = None if output.response is None else output.response.model_dump(mode="json")
        return Answer(str(output), value=value)
    if isinstance(output, AgentOutput):
        structured = getattr(output, "structured_response", None)
        return Answer(output.response.content or "", value=structured)
    if isinstance(output, BaseModel) and not isinstance(output, _MODELS):
        return Answer(output.model_dump_json(), value=output.model_dump(mode="json"))
    found = reading.look_up_answer(output, _ANSWER_KEYS, _LESS_SURE, _looked_up)
    found = _looked_up(output, _SELDOM) if found is None else found
    if found is None:
        raise reading.no_answer_in(kind)
    return Answer(found)


def _looked_up(given: Any, keys: Sequence[str]) -> str | None:
    return reading.look_up(given, keys, _text, reading.text_of_several)


def _fields(given: Any) -> Any:
    """Returns the fields of a StartEvent as a dict. Any other input is returned unchanged.

    If the input is a dict with a ``start_event``, the fields of this event replace the entry.
    """
    if isinstance(given, Mapping):
        entries = cast("Mapping[str, Any]", given)
        start = entries.get("start_event")
        rest = {key: value for key, value in entries.items() if key != "start_event"}
        return {**rest, **_fields(start)} if isinstance(start, StartEvent) else entries
    if not isinstance(given, StartEvent):
        return given
    declared = {name: getattr(given, name) for name in type(given).model_fields}
    return {**declared, **dict(given.items())}


def _stopped_with(event: StopEvent) -> Any:
    """Returns the result in a workflow's StopEvent, or the fields of a subclass of StopEvent.

    If no field has a usual name, such as "answer", but exactly one field is a text, returns this text.
    """
    fields = {name: getattr(event, name) for name in type(event).model_fields if name != "result"}
    texts = [each for each in fields.values() if isinstance(each, str)]
    if reading.look_up(fields, _ANSWER_KEYS, _text) is None and len(texts) == 1:
        return texts[0]
    return fields or event.result


def drained(output: Any) -> Any:
    """Reads a streamed response to its end, and returns it in the form of a response that was not
    streamed.

    Any other output is returned unchanged.
    """
    if isinstance(output, StreamingResponse):
        return output.get_response()
    if isinstance(output, AsyncStreamingResponse):
        return Response(str(output), output.source_nodes, output.metadata)
    if isinstance(output, StreamingAgentChatResponse):
        text = "".join(output.response_gen)
        return _chat_response(output, text)
    return output


async def adrained(output: Any) -> Any:
    """Reads a streamed response to its end, sync or async, and returns it in the form of a response that
    was not streamed.

    Async streams are async responses, and the async generators that models return.
    """
    if isinstance(output, AsyncGenerator):
        return _last_of([each async for each in cast("AsyncGenerator[Any, None]", output)])
    if isinstance(output, AsyncStreamingResponse):
        return await output.get_response()
    if isinstance(output, StreamingAgentChatResponse) and output.achat_stream is not None:
        text = "".join([delta async for delta in output.async_response_gen()])
        return _chat_response(output, text)
    return drained(output)


def _last_of(pieces: list[Any]) -> Any:
    """Returns the joined texts of a stream. If its pieces are no texts, returns the last piece, which
    contains the earlier texts."""
    is_text = all(isinstance(each, str) for each in pieces)
    return "".join(pieces) if is_text else pieces[-1]


def texts_in(given: Any) -> Iterator[str]:
    """Returns every string and the text of every message in an input, at any depth."""
    return reading.nested_texts(_fields(given), _text)


def plain(given: Any) -> Any:
    """Returns the input as JSON-like data, for the explanation. Objects such as stores become None."""
    return reading.plain_data(_fields(given), _plain)


_MODELS = (ChatMessage, ChatResponse, CompletionResponse)


def _chat_response(output: StreamingAgentChatResponse, text: str) -> AgentChatResponse:
    return AgentChatResponse(response=text, sources=output.sources, source_nodes=output.source_nodes)


def _text(given: Any) -> str | None:
    """Returns a str, or the text of a LlamaIndex object that has one; None for other objects."""
    if isinstance(given, ChatResponse):
        given = given.message
    for kind, name in _SAYING.items():
        if isinstance(given, kind):
            return getattr(given, name) or ""
    return given if isinstance(given, str) else None


_SAYING: dict[type, str] = {
    QueryBundle: "query_str",
    ChatMessage: "content",
    CompletionResponse: "text",
    Response: "response",
    AgentChatResponse: "response",
}


def _plain(given: Any) -> Any:
    if isinstance(given, ChatMessage):
        return {"role": given.role.value, "content": given.content}
    return given if isinstance(given, (int, float, bool)) else _text(given)
