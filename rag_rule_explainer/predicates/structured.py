"""The JSON of an answer.

Looked at is ``Answer.value`` as JSON says it; where that is None, a string (as a store keeps objects) or
nothing JSON can say, the JSON that the text is, or that stands in its first fenced block that is JSON.
JSON is what RFC 8259 says: NaN is none. What nests deeper than 200 levels, or has a number of more than
4,300 digits, is taken for none.
"""

import json
import re
from functools import lru_cache
from typing import Any, cast

from ..verdicts import Answer, Judgement, Verdict

_FENCED = re.compile(r"```([\w.+-]*)[ \t]*\r?\n(.*?)```", re.DOTALL)
_LABELS = frozenset(("", "json", "json5", "jsonc"))
NO_JSON = Judgement(Verdict.BREAKS, "the answer is no JSON")


def json_in(answer: Answer) -> str | None:
    """Returns the JSON of an answer; None where there is none."""
    if answer.value is not None and not isinstance(answer.value, str):
        said = said_in_json(answer.value)
        if said is not None:
            return said
    return _written_in(answer.text)


def said_in_json(value: Any) -> str | None:
    """Returns the value as JSON says it; None where it cannot."""
    from pydantic_core import to_json  # late, because importing the package loads next to nothing

    try:
        said = to_json(value).decode()
    except Exception:
        return None  # a serializer of the value's own may raise anything
    return said if _is_json(said) else None


@lru_cache(maxsize=512)
def _written_in(text: str) -> str | None:
    whole = text.strip()
    blocks = _FENCED.finditer(whole)
    fenced = (found[2].strip() for found in blocks if found[1].casefold() in _LABELS)
    return next((each for each in (whole, *fenced) if _is_json(each)), None)


def _is_json(text: str) -> bool:
    try:
        parsed_json(text)
    except (ValueError, TypeError):  # TypeError: a lone surrogate
        return False
    return True


def parsed_json(text: str) -> Any:
    """Returns what the JSON says. Raises ValueError, or TypeError for a lone surrogate."""
    from pydantic_core import from_json

    return from_json(text, allow_inf_nan=False)


def same_json(first: Any, second: Any) -> bool:
    """Equal as JSON: 5 is 5.0, but true is not 1."""
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
    """Returns a value as if it were an answer."""
    return Answer(value) if isinstance(value, str) else Answer(json_of(value), value)


def json_of(value: Any) -> str:
    """Returns a parsed value as it is written."""
    return json.dumps(value, ensure_ascii=False)
