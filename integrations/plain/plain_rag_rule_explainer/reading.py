"""This module reads the question from an application's input and the answer from its output."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, cast

from pydantic import BaseModel

from rag_rule_explainer import Answer
from rag_rule_explainer.instrumentation import reading

from .wire import Streamed, plain, reply_in

_QUESTION_KEYS = ("question", "query", "input", "message", "messages", "content", "text", "prompt")
_ANSWER_KEYS = ("answer", "response", "output", "result", "content", "text", "message", "messages")
_OF_ANSWERS_ALONE = frozenset({"answer", "response", "output", "result"})
_OF_OPENAI = "openai."


def question_in(given: Any) -> str:
    """Returns the question in an input: a str, or the last of a list of messages.

    The input may also be a dict that has the question under a usual key, such as "question". Raises
    InvalidInput for any other input; the message advises to pass ``question_of``.
    """
    found = reading.look_up(given, _QUESTION_KEYS, _text)
    if found is None:
        raise reading.no_question_in(given)
    return found


def answer_in(output: Any) -> Answer:
    """Returns the answer in an output.

    The output may be a str, an Answer or a reply of the OpenAI client. If it is a tuple, its first item
    is read, unless that is a list, which may hold the texts that were found. A dict, a dataclass or a
    named tuple must have the answer under a usual name, such as "answer". A pydantic model is also stored
    as the answer's ``value``. Raises InvalidInput for any other output; the message advises to pass
    ``answer_of``.
    """
    while isinstance(output, tuple) and output:
        record = cast("Any", output)
        if hasattr(record, "_asdict"):
            output = record._asdict()
            break
        # Many applications return (answer, sources), so the first item is the answer.
        output = record[0]
        if isinstance(output, list):
            raise reading.no_answer_in(type(record).__name__)
    if isinstance(output, Answer):
        return output
    return _answer_in(cast("Any", output))


def _answer_in(output: Any) -> Answer:
    content = getattr(output, "content", None)
    if type(output).__module__.startswith(_OF_OPENAI) and isinstance(content, str):
        return Answer(content)  # the output is the message of a reply
    if type(output).__module__.startswith(_OF_OPENAI):
        return Answer(reply_in(plain(output)).said.text)
    if isinstance(output, BaseModel):
        return _of_model(output)
    is_record = is_dataclass(output) and not isinstance(output, type)
    entries: Any = asdict(cast("Any", output)) if is_record else output
    if isinstance(entries, Mapping):
        listed = cast("Mapping[str, Any]", entries)
        # A list of several texts under a name such as "content" may be texts that were found, so it is no
        # answer.
        entries = {
            key: each for key, each in listed.items() if key in _OF_ANSWERS_ALONE or not _are_texts(each)
        }
    found = reading.look_up(entries, _ANSWER_KEYS, _text, reading.text_of_several)
    if found is None:
        raise reading.no_answer_in(type(output).__name__)
    return Answer(found)


def _of_model(output: BaseModel) -> Answer:
    """Returns the text under a usual name, such as "answer", in a pydantic model; if there is none, the
    whole model as JSON."""
    named = (getattr(output, key, None) for key in _ANSWER_KEYS if key in type(output).model_fields)
    text = next((each for each in named if isinstance(each, str)), None)
    return Answer(
        output.model_dump_json() if text is None else text, value=output.model_dump(mode="json")
    )


def whole(pieces: Sequence[Any]) -> Any:
    """Returns the joined text, if the pieces of a stream are texts or chunks of the OpenAI client. For
    any other stream, returns its last piece, which usually contains the earlier ones."""
    streamed = Streamed()
    texts = [each if isinstance(each, str) else _text_of(streamed, each) for each in pieces]
    return pieces[-1] if None in texts else "".join(filter(None, texts))


def _text_of(streamed: Streamed, chunk: Any) -> str | None:
    return streamed.take(chunk) if type(chunk).__module__.startswith(_OF_OPENAI) else None


def _are_texts(given: Any) -> bool:
    listed = cast("list[Any]", given) if isinstance(given, list) else []
    return len(listed) > 1 and all(isinstance(each, str) for each in listed)


def _text(given: Any) -> str | None:
    return given if isinstance(given, str) else None
