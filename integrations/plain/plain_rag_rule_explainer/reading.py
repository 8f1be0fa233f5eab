"""How to read the question out of an application's input, and the answer out of its output."""

from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, cast

from pydantic import BaseModel

from rag_rule_explainer import Answer, InvalidInput
from rag_rule_explainer.instrumentation import reading

from .wire import Streamed, plain, reply_in

_QUESTION_KEYS = ("question", "query", "input", "message", "messages", "content", "text", "prompt")
_ANSWER_KEYS = ("answer", "response", "output", "result", "content", "text", "message", "messages")
_OF_OPENAI = "openai."


def question_in(given: Any) -> str:
    """Returns a str, the last of several messages, or the entry of a dict that is one of these.

    Raises InvalidInput, naming ``question_of``, for anything else.
    """
    found = reading.look_up(given, _QUESTION_KEYS, _text)
    if found is None:
        raise InvalidInput(
            f"no question could be read out of an input of type {type(given).__name__}; "
            "pass question_of=, a function from the input to the question"
        )
    return found


def answer_in(output: Any) -> Answer:
    """Returns a str, an Answer, a reply of the OpenAI client, the first of a tuple, or the entry of a
    dict or of a dataclass that is one of these; a pydantic model is the answer's ``value`` as well.

    Raises InvalidInput, naming ``answer_of``, for anything else.
    """
    while isinstance(output, tuple) and output:
        # Applications return what they found beside the answer.
        output = cast("tuple[Any, ...]", output)[0]
    if isinstance(output, Answer):
        return output
    return _answer_in(cast("Any", output))


def _answer_in(output: Any) -> Answer:
    said = getattr(output, "content", None)
    if type(output).__module__.startswith(_OF_OPENAI) and isinstance(said, str):
        return Answer(said)  # the message of a reply
    if type(output).__module__.startswith(_OF_OPENAI):
        return Answer(reply_in(plain(output)).said.text)
    if isinstance(output, BaseModel):
        return Answer(output.model_dump_json(), value=output.model_dump(mode="json"))
    is_record = is_dataclass(output) and not isinstance(output, type)
    entries: Any = asdict(cast("Any", output)) if is_record else output
    found = reading.look_up(entries, _ANSWER_KEYS, _text)
    if found is None:
        raise InvalidInput(
            f"no answer could be read out of an output of type {type(output).__name__}; "
            "pass answer_of=, a function from the output to a str or an Answer"
        )
    return Answer(found)


def whole(pieces: Sequence[Any]) -> Any:
    """Returns what a stream of texts, or of the OpenAI client's chunks, comes to; else its last piece."""
    streamed = Streamed()
    texts = [each if isinstance(each, str) else _text_of(streamed, each) for each in pieces]
    return pieces[-1] if None in texts else "".join(filter(None, texts))


def _text_of(streamed: Streamed, chunk: Any) -> str | None:
    return streamed.take(chunk) if type(chunk).__module__.startswith(_OF_OPENAI) else None


def _text(given: Any) -> str | None:
    return given if isinstance(given, str) else None
