"""This module finds the JSON in an answer.

Usually the JSON of an answer is its ``value``. If the value is a str, JSON is searched for first in this
str, and then in the text of the answer; if neither contains JSON, the str itself is taken, as a JSON
string. If the value is None, or JSON cannot represent it, JSON is searched for only in the text of the
answer. A text contains JSON if all of it is JSON, or else one of its fenced blocks; the first such block
is used. JSON is defined by RFC 8259, without NaN. Text that is nested deeper than 200 levels, or has a
number of more than 4,300 digits, does not count as JSON.
"""

import json
import re
from functools import lru_cache
from typing import Any, cast

from ..errors import InvalidInput
from ..printable import type_said
from ..verdicts import Answer, Case, Judgement, Verdict
from .values import not_read

_FENCED = re.compile(r"```([\w.+-]*)[ \t]*\r?\n(.*?)```", re.DOTALL)
_LABELS = frozenset(("", "json", "json5", "jsonc"))
NO_JSON = Judgement(Verdict.BREAKS, "the answer is no JSON")


def json_in(answer: Answer) -> str | None:
    """Returns the JSON of an answer as a text; None if the answer has no JSON."""
    if isinstance(answer.value, str) and answer.value != answer.text:
        return _written_in(answer.value) or _written_in(answer.text) or said_in_json(answer.value)
    if answer.value is not None and not isinstance(answer.value, str):
        said = said_in_json(answer.value)
        if said is not None:
            return said
    return _written_in(answer.text)


def json_judged(case: Case) -> str | None:
    """Returns the JSON of a case's answer as a text; None if the answer has no JSON.

    Raises InvalidInput if neither this answer nor the baseline has JSON, although the application's
    output has entries beside the answer. The condition is then probably about one of these entries.
    """
    said = json_in(case.answer)
    if said is None and case.answer.unread and json_in(case.baseline) is None:
        raise InvalidInput(not_read(case.answer.unread))
    return said


def said_in_json(value: Any) -> str | None:
    """Returns the value as a JSON text; None if JSON cannot represent it."""
    from pydantic_core import (
        to_json,  # imported late, so that importing the package loads almost nothing
    )

    try:
        said = to_json(value, fallback=_of_numpy).decode()
    except Exception:
        return None  # a serializer of a user's class may raise any error
    return said if _is_json(said) else None


def _of_numpy(value: Any) -> Any:
    """Returns a number or an array of NumPy as Python's own types. Raises TypeError for any other
    object."""
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"JSON cannot represent {type_said(value)}")


@lru_cache(maxsize=512)
def _written_in(text: str) -> str | None:
    whole = text.strip()
    blocks = _FENCED.finditer(whole)
    fenced = (found[2].strip() for found in blocks if found[1].casefold() in _LABELS)
    return next((each for each in (whole, *fenced) if _is_json(each)), None)


def _is_json(text: str) -> bool:
    try:
        parsed_json(text)
    except (ValueError, TypeError):  # a TypeError means that the text has a lone surrogate
        return False
    return True


def parsed_json(text: str) -> Any:
    """Returns the parsed JSON. Raises ValueError for malformed JSON, and TypeError for a text with a lone
    surrogate (half of a UTF-16 pair)."""
    from pydantic_core import from_json

    return from_json(text, allow_inf_nan=False)


def same_json(first: Any, second: Any) -> bool:
    """Returns True iff two parsed values are equal in the sense of JSON: 5 equals 5.0, but true is not
    1."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, dict) and isinstance(second, dict):
        left, right = cast("dict[str, Any]", first), cast("dict[str, Any]", second)
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(first, list) and isinstance(second, list):
        left, right = cast("list[Any]", first), cast("list[Any]", second)
        return len(left) == len(right) and all(map(same_json, left, right))
    return first == second


def as_answer(value: Any) -> Answer:
    """Returns a parsed JSON value as an Answer, so that a predicate can judge it. A str becomes the text;
    any other value becomes ``Answer.value``, with its JSON as the text."""
    return Answer(value) if isinstance(value, str) else Answer(json_of(value), value)


def json_of(value: Any) -> str:
    """Returns the JSON text of a parsed value."""
    return json.dumps(value, ensure_ascii=False)
