"""This module reads the question from the input of an application, and the answer from its output."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from .bounds import as_data, as_structure
from .messages import content_text, message_in, messages_in
from .spans import TracedMessage

_QUESTIONS = (
    *(
        "question",
        "query",
        "user_msg",
        "user_input",
        "input",
        "message",
        "query_str",
        "str_or_query_bundle",
    ),
    *("query_bundle", "messages", "text", "prompt", "inputs", "start_event", "kwargs", "args"),
)
_HISTORIES = ("chat_history", "history", "messages")
_ANSWERS = ("answer",)
_LESS_SURE = (
    *("output", "result", "response", "generation", "final_answer", "final_response", "output_text"),
)
_SELDOM = ("messages", "message", "content", "text", "raw", "outputs", "generations", "blocks")
_DEEPEST = 6
_OBJECT = re.compile(r"\s*<[\w. ]*(?:object|generator)[^>]*>\s*|[A-Z]\w+\((?:\w+=.*|\)\s*)", re.DOTALL)
"""Matches a text that may be the ``repr`` of an object, such as "<Answer object at 0x7f3a>" or
"Answer(text='yes')". Tracers write it if they cannot write the object as data."""
_ID = re.compile(
    r"(?:^|_)(?:id|uuid|lang|language|locale|user|session|thread|tenant)$|[a-z](?:Id|ID|Lang|Session)$"
)
"""Matches the names of arguments that are no questions, such as "user_id" or "language"."""
_STOPPED = re.compile(r"StopEvent\(result=(?P<quote>['\"])(?P<said>[^\\]*?)(?P=quote)\)")


def traced_question(given: Any, depth: int = 0, *, alone: bool = True) -> str | None:
    """Returns the question in an input: a text, the last message of a user, or the entry under a usual
    key, such as "question". Returns None if there is none. ``alone``: True if the only entry of a dict
    may be the question whatever its key is, except for keys such as "user_id". ``depth``: how deeply
    ``given`` is nested in the value that is read."""
    given = as_structure(given)
    if isinstance(given, str):
        return (given.strip() and not _is_object(given) and given) or None
    if isinstance(given, (list, tuple)) and depth <= _DEEPEST:
        said = [text for role, text in messages_in(given) if role == "user"]
        items = cast("Sequence[Any]", given)
        # OpenTelemetry writes the whole input of a chain as the text of one message, so the input in this
        # text is read.
        return traced_question((said or items)[-1], depth + 1) if said or len(items) == 1 else None
    if not isinstance(given, Mapping) or depth > _DEEPEST:
        return None
    message = message_in(given)
    if message is not None:
        return message[1] if message[0] == "user" else None
    fields = cast("Mapping[str, Any]", given)
    found = (
        # The input of a traced function has its arguments under "args" and "kwargs". If there are any
        # "args", the question may be one of them. So the only entry of "kwargs" then counts as the
        # question only if its key is a usual one, such as "question".
        traced_question(fields[key], depth + 1, alone=key != "kwargs" or not fields.get("args"))
        for key in _QUESTIONS
        if fields.get(key) is not None
    )
    question = next((each for each in found if each), None)
    if question is not None or not alone or len(fields) != 1:
        return question
    ((key, value),) = fields.items()
    return value if isinstance(value, str) and value.strip() and not _ID.search(key) else None


def several_inputs(given: Any) -> bool:
    """Returns True iff an input holds several inputs of an application, such as a list of questions."""
    given = as_structure(given)
    if isinstance(given, Mapping) and len(cast("Mapping[str, Any]", given)) == 1:
        (given,) = cast("Mapping[str, Any]", given).values()
    if not isinstance(given, list) or messages_in(cast("Any", given)):
        return False
    items = cast("list[Any]", given)
    asked = [traced_question(each) for each in items if isinstance(each, (str, Mapping))]
    return len(items) > 1 and len(asked) == len(items) and all(asked)


def history_in(given: Any) -> tuple[TracedMessage, ...]:
    """Returns the messages of a conversation that an input holds before its question."""
    given = _alone(as_data(given))
    if isinstance(given, Mapping):
        fields = cast("Mapping[str, Any]", given)
        several = (messages_in(fields.get(key)) for key in _HISTORIES if key in fields)
        said = next((each for each in several if each), ())
        if "messages" not in fields or any(fields.get(key) for key in _HISTORIES[:2]):
            return said
    else:
        said = messages_in(given)
    last = max((place for place, (role, _) in enumerate(said) if role == "user"), default=0)
    return said[:last]


def _alone(given: Any) -> Any:
    """Returns the JSON object in the text of an input's only message; any other input unchanged."""
    said = messages_in(given)
    inside = as_data(said[0][1]) if len(said) == 1 else None
    return cast("Any", inside) if isinstance(inside, Mapping) else given


def traced_answer(given: Any, depth: int = 0) -> str | None:
    """Returns the answer in an output: a text, the last message that no user wrote, or the entry under a
    usual key, such as "answer". Returns None if there is none, or if two entries may be it.

    If the output is a text, the whole text is the answer, even if it is JSON. ``depth``: how deeply
    ``given`` is nested in the value that is read.
    """
    if isinstance(given, str):
        return _said(given)
    if isinstance(given, (list, tuple)) and depth <= _DEEPEST:
        return _in_list(cast("Sequence[Any]", given), depth)
    if not isinstance(given, Mapping) or depth > _DEEPEST:
        return None
    message = message_in(given)
    if message is not None:
        return message[1] or None
    fields = cast("Mapping[str, Any]", given)
    for keys in (_ANSWERS, _LESS_SURE, _SELDOM):
        found = {traced_answer(fields[key], depth + 1) for key in keys if fields.get(key) is not None}
        said = found - {None}
        if said:
            return said.pop() if len(said) == 1 else None
    return None


def _said(text: str) -> str | None:
    stopped = _STOPPED.fullmatch(text)
    if stopped is not None:
        return stopped["said"]
    return None if _is_object(text) or not text.strip() else text


def _is_object(text: str) -> bool:
    if _OBJECT.fullmatch(text) is None:
        return False
    # A whole ``repr`` ends with a closing bracket. If a ``repr`` was cut, it has more opening than
    # closing brackets.
    return text.rstrip().endswith((">", ")")) or text.count("(") > text.count(")")


def _in_list(items: Sequence[Any], depth: int) -> str | None:
    said = [text for role, text in messages_in(items) if role in {"assistant", "tool"}]
    if said:
        return said[-1] or None
    if len(items) == 1:
        return traced_answer(items[0], depth + 1)
    if items and all(isinstance(each, str) for each in items):
        # These texts are the pieces of a streamed answer.
        return "".join(items)
    return content_text(items) or None
