"""What JSON can say of values that come from anywhere."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any, cast

from pydantic import JsonValue

from .verdicts import Answer, Judgement


def as_json(value: Any, depth: int = 32) -> JsonValue:
    """The value as JSON can say it; anything else by its type's name, never by running its code."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if depth and isinstance(value, Mapping):
        return json_object(cast("Mapping[Any, Any]", value), depth)
    if depth and isinstance(value, (list, tuple, set, frozenset)):
        return [as_json(item, depth - 1) for item in cast("Iterable[Any]", value)]
    return f"<{type(value).__name__}>"


def json_object(mapping: Mapping[Any, Any], depth: int = 32) -> dict[str, JsonValue]:
    """The mapping as JSON can say it; see ``as_json``."""
    return {encodable(str(key)): as_json(item, depth - 1) for key, item in mapping.items()}


def encodable(text: str) -> str:
    """The text with lone surrogates, which no encoding can write, as replacement characters."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def recorded(answer: Answer) -> Answer:
    """The answer as an explanation keeps it: what JSON can say."""
    if answer.value is None and answer.usage is None and answer.text.isascii():
        return answer
    return replace(
        answer,
        text=encodable(answer.text),
        value=as_json(answer.value),
        usage=None if answer.usage is None else dict(answer.usage),
    )


def recorded_judgement(judgement: Judgement) -> Judgement:
    """The judgement with a reason that JSON can say."""
    if judgement.reason.isascii():
        return judgement
    return replace(judgement, reason=encodable(judgement.reason))
