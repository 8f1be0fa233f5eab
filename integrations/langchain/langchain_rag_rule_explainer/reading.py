"""This module reads the question from an application's input and the answer from its output."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from langchain_core.load.serializable import Serializable
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from pydantic import BaseModel

from rag_rule_explainer import Answer
from rag_rule_explainer.instrumentation import reading
from rag_rule_explainer.predicates.structured import json_of, parsed_json, said_in_json

_QUESTION_KEYS = ("question", "input", "query", "messages", "content")
_ANSWER_KEYS = ("answer", "output", "result", "messages", "content", "raw")
_LESS_SURE = ("generation", "response", "final_answer", "final_response", "output_text")
"""Keys under which the state of a graph often has the answer. If two of these keys hold different texts,
it is not known which of the texts is the answer."""
_SELDOM = ("text",)
"""Keys under which an answer is read only if no other key has one."""
_PARSED, _PARSING_ERROR = "parsed", "parsing_error"
_STRUCTURED_KEYS = ("structured_response", _PARSED)


def question_in(given: Any) -> str:
    """Returns the question in an input: a str, a message, or the last of a list of messages.

    The input may also be a dict or a graph's state that has the question under a usual key, such as
    "question". Raises InvalidInput for any other input; the message advises to pass ``question_of``.
    """
    found = reading.look_up(_fields(given), _QUESTION_KEYS, _said)
    if found is None:
        raise reading.no_question_in(given, _of_a_stopped_graph(given))
    return found if isinstance(found, str) else _text_of(found)


def answer_in(output: Any) -> Answer:
    """Returns the answer in an output.

    The output may be a str or a message; a list of messages, whose answer is the last message that no
    human wrote; a list of texts, whose answer is all texts, one per line; or a dict that has one of these
    under a usual key: "answer" and the like, else "generation", "response", "final_answer",
    "final_response" or "output_text", else "text".

    The answer's ``value`` is the structured output, if there is any: a pydantic object, or an entry of a
    dict, which is "parsed" (beside the message from which it was parsed), an agent's
    ``structured_response``, or a pydantic object under "answer" and the like.

    Raises InvalidInput for any other output, and if several entries with different texts may be the
    answer; the message advises to pass ``answer_of``.
    """
    if is_graph_output(output):
        output = output.value
    found = reading.look_up_answer(_without_a_question(output), _ANSWER_KEYS, _LESS_SURE, _looked_up)
    found = _looked_up(output, _SELDOM) if found is None else found
    structured = _structured(output)
    if structured is not None:
        answer = Answer("") if found is None else answer_in(found)
        # If the structured output was a tool call, the reply has no text. Its JSON is then used as the
        # text.
        text = answer.text.strip() and answer.text
        said, value = structured
        return replace(answer, text=text or said, value=value)
    if found is None:
        raise reading.no_answer_in(type(output).__name__, _of_json(output))
    if isinstance(found, str):
        return Answer(found)
    usage = found.usage_metadata if isinstance(found, AIMessage) else None
    # A tool with ``return_direct`` that finds nothing has answered, and a list is shown as JSON.
    is_nothing = isinstance(found, ToolMessage) and cast("Any", found).content == []
    return Answer(
        "[]" if is_nothing else _text_of(found),
        usage=tokens([usage]) if usage else None,
        finish_reason=found.response_metadata.get("finish_reason"),
    )


def parsed_answer_in(output: Any) -> Answer:
    """Returns the answer in the output of an output parser. A dict or a list is also its ``value``.

    The output of a parser contains only what the model said, so all of it is the answer, whatever its
    keys are. The text of the answer is the entry under a usual key, else the JSON.
    """
    data = _as_json(output)
    if data is None:
        return answer_in(output)
    found = reading.look_up(data, _ANSWER_KEYS, _said, _of_list)
    return Answer(found if isinstance(found, str) else json_of(data), value=data)


def _looked_up(given: Any, keys: Sequence[str]) -> str | BaseMessage | None:
    return reading.look_up(given, keys, _said, _of_list)


def _without_a_question(output: Any) -> Any:
    """Returns the output without its entry "messages" if this entry ends with the question instead of an
    answer, and another entry may be the answer. Returns any other output unchanged."""
    if not isinstance(output, Mapping):
        return output
    entries = cast("Mapping[str, Any]", output)
    asked = isinstance(_looked_up(entries.get("messages"), ()), (HumanMessage, SystemMessage))
    named = any(_looked_up(entries.get(key), ()) for key in _LESS_SURE)
    return {key: each for key, each in entries.items() if not (asked and named and key == "messages")}


def _as_json(output: Any) -> Any:
    """Returns a dict or a list as JSON data; None for any other object, and if JSON cannot represent
    it."""
    said = said_in_json(output) if isinstance(output, (Mapping, list)) else None
    return None if said is None else parsed_json(said)


def _of_json(output: Any) -> str:
    """Returns advice on what ``answer_of`` should read, for an error message, if the output is a dict or
    a list that JSON can represent; else an empty text."""
    try:
        json.dumps(output if isinstance(output, (Mapping, list)) and output else json)
    except (TypeError, ValueError, RecursionError):
        return ""
    return ": one entry of the output, or, to judge entries with json_path, answer_of=json.dumps"


def _of_list(given: Sequence[Any]) -> "str | BaseMessage | None":
    """Returns the answer in a list: the last message that is not of a human or the system. If there is no
    such message, returns the joined texts of a list of texts, and None for any other list.

    The message may be the output of a tool, which is the answer if the tool has ``return_direct``.
    """
    messages = [each for each in given if isinstance(each, BaseMessage)]
    replies = [each for each in messages if not isinstance(each, (HumanMessage, SystemMessage))]
    return replies[-1] if replies else reading.text_of_several(given)


def _of_a_stopped_graph(given: Any) -> str:
    """Returns advice for an error message if the input (None or a ``Command``) lets a stopped graph
    continue, so that it contains no question; else an empty text."""
    kind = type(cast("object", given))
    if given is not None and (kind.__module__, kind.__name__) != ("langgraph.types", "Command"):
        return ""
    return (
        ". Where a graph went on that had stopped, the question and what was retrieved before are "
        "another run's: explain a function that makes both, def ask(question): graph.invoke(question, "
        f"config); return graph.invoke({'None' if given is None else 'Command(resume=...)'}, config)"
    )


def is_graph_output(output: Any) -> bool:
    """Returns True iff the output is LangGraph's ``GraphOutput``, which holds a value and interrupts.

    Graphs return it when they are called with ``version="v2"``.
    """
    return type(output).__module__ == "langgraph.types" and hasattr(output, "interrupts")


def texts_in(given: Any) -> Iterator[str]:
    """Returns every string and the text of every message in an input, at any depth."""
    return reading.nested_texts(_fields(given), _text)


def plain(given: Any) -> Any:
    """Returns the input as JSON-like data. Each message becomes a dict of its type and its content."""
    return reading.plain_data(_fields(given), _plain)


def tokens(usages: Iterable[UsageMetadata]) -> dict[str, int] | None:
    """Returns the sums of input, output, total and cached tokens; None if all are 0."""
    spent: dict[str, int] = dict.fromkeys(("input_tokens", "output_tokens", "total_tokens"), 0)
    cached = 0
    for usage in usages:
        # Some clients report None, and replies from a cache have no counts. Both are treated as 0.
        for kind in spent:
            spent[kind] += cast("dict[str, int | None]", usage).get(kind) or 0
        cached += (usage.get("input_token_details") or {}).get("cache_read") or 0
    if cached:
        spent["cached_input_tokens"] = cached
    return spent if any(spent.values()) else None


def _fields(given: Any) -> Any:
    """Returns the fields of a dataclass or a pydantic model as a dict. Returns any other object
    unchanged."""
    if is_dataclass(given) and not isinstance(given, type):
        return {each.name: getattr(given, each.name) for each in fields(given)}
    if isinstance(given, BaseModel) and not isinstance(given, Serializable):
        return {name: getattr(given, name) for name in type(given).model_fields}
    return given


def _structured(output: Any) -> tuple[str, Any] | None:
    """Returns the structured output of a model as JSON text and as JSON data.

    The structured output is the whole output if the output is a pydantic object. It is an entry of the
    output if the output is a dict. Returns None if there is none.
    """
    if isinstance(output, BaseModel) and not isinstance(output, Serializable):
        return output.model_dump_json(), output.model_dump(mode="json")
    if not isinstance(output, Mapping):
        return None
    entries = cast("Mapping[str, Any]", output)
    # Beside what it retrieved, a chain may return a structured answer under the usual keys of answers.
    usual = [key for key in _ANSWER_KEYS if isinstance(entries.get(key), BaseModel)]
    return next(filter(None, (_entry(entries, key) for key in (*_STRUCTURED_KEYS, *usual))), None)


def _entry(entries: Mapping[str, Any], key: str) -> tuple[str, Any] | None:
    entry = entries.get(key)
    if isinstance(entry, BaseModel):
        return _structured(entry)
    # An application may use the key "parsed" for an entry of its own. A model that returns structured
    # output beside its reply always returns the entry "parsing_error" too, so this entry shows that
    # "parsed" is the model's.
    if not isinstance(entry, Mapping) or (key == _PARSED and _PARSING_ERROR not in entries):
        return None
    data = _as_json(entry)
    return None if data is None else (json_of(data), data)


def _said(given: Any) -> str | BaseMessage | None:
    return given if isinstance(given, (str, BaseMessage)) else None


def _text(given: Any) -> str | None:
    return (
        _text_of(given) if isinstance(given, BaseMessage) else given if isinstance(given, str) else None
    )


def _text_of(message: BaseMessage) -> str:
    """Returns a message's text as a plain str, because LangChain's subclass of str cannot be stored."""
    return str(message.text)


def _plain(given: Any) -> Any:
    if isinstance(given, BaseMessage):
        return {"type": given.type, "content": given.content}
    return given
