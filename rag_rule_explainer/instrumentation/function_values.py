"""This module reads the question from the input of an application that is a function, and the answer from
its output."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, cast

from pydantic import BaseModel

from ..verdicts import Answer
from .reading import look_up, no_answer_in, no_question_in, text_of_several

_QUESTION_KEYS = ("question", "query", "input", "message", "messages", "content", "text", "prompt")
_ANSWER_KEYS = ("answer", "response", "output", "result", "content", "text", "message", "messages")
_OF_ANSWERS_ALONE = frozenset({"answer", "response", "output", "result"})


def question_of_input(given: Any) -> str:
    """Returns the question in an input: a str, or the last of a list of messages.

    The input may also be a dict that has the question under a usual key, such as "question". Raises
    InvalidInput for any other input; the message advises to pass ``question_of``.
    """
    found = look_up(given, _QUESTION_KEYS, _text)
    if found is None:
        raise no_question_in(given)
    return found


def answer_of_output(output: Any, of_client: Callable[[Any], str | None]) -> Answer:
    """Returns the answer in an output.

    The output may be a str, an Answer or a reply of a model client. Of a tuple, the first item is read. A
    dict, a dataclass or a named tuple must have the answer under a usual name, such as "answer". A
    pydantic model is also stored as the answer's ``value``. ``of_client``: returns the text of a reply of
    the client; None for any other object. Raises InvalidInput for any other output, and for a tuple that
    begins with a list, which may hold retrieved texts; the message advises to pass ``answer_of``.
    """
    while isinstance(output, tuple) and output:
        record = cast("Any", output)
        if hasattr(record, "_asdict"):
            output = record._asdict()
            break
        # Many applications return (answer, sources), so the first item is the answer.
        output = record[0]
        if isinstance(output, list):
            raise no_answer_in(type(record).__name__)
    if isinstance(output, Answer):
        return output
    text = of_client(output)
    return _answer_in(cast("Any", output)) if text is None else Answer(text)


def _answer_in(output: Any) -> Answer:
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
    found = look_up(entries, _ANSWER_KEYS, _text, text_of_several)
    if found is None:
        raise no_answer_in(type(output).__name__)
    return Answer(found)


def _of_model(output: BaseModel) -> Answer:
    """Returns the text under a usual name, such as "answer", in a pydantic model; if there is none, the
    whole model as JSON."""
    named = (getattr(output, key, None) for key in _ANSWER_KEYS if key in type(output).model_fields)
    text = next((each for each in named if isinstance(each, str)), None)
    return Answer(
        output.model_dump_json() if text is None else text, value=output.model_dump(mode="json")
    )


def _are_texts(given: Any) -> bool:
    listed = cast("list[Any]", given) if isinstance(given, list) else []
    return len(listed) > 1 and all(isinstance(each, str) for each in listed)


def _text(given: Any) -> str | None:
    return given if isinstance(given, str) else None
