"""This module finds the finish reason in a provider's data. Each provider has its own name for the field
with this reason, and the field may be nested in other fields."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from .wholeness import Ending, canonical, ending_of, written

_KEYS = (
    "finish_reason",
    "stop_reason",
    "stopReason",
    "done_reason",
    "finishReason",
    "completionReason",
    "amazon-bedrock-guardrailAction",
)
_NESTED = (
    "incomplete_details",
    "response",
    "delta",
    "messageStop",
    "choices",
    "candidates",
    "prompt_feedback",
    "promptFeedback",
)
_BLOCKING = ("block_reason", "blockReason")
_STATUSES = frozenset({"completed", "incomplete", "failed", "cancelled", "inprogress", "queued"})
"""The values of ``status`` in OpenAI's responses, which say whether a response is whole. Other values are
ignored, since ``status`` means other things in other providers' data."""
_DEEPEST = 3
_PLACES = frozenset({*_KEYS, *_BLOCKING, *_NESTED, "status"})


def reason_in(*places: object) -> str | None:
    """Returns the finish reason in a provider's data; None if there is none. If there are several,
    returns the worst one: a reason such as "length" takes precedence over "stop".

    ``places``: objects of the provider's data, such as a response and its metadata: mappings, or objects
    with attributes. Nested fields in which providers put finish reasons are searched too.
    """
    reasons = [each for place in places for each in _reasons(place, _DEEPEST) if each is not None]
    worst = max(reasons, key=ending_of, default=None)
    return None if worst is None or ending_of(worst) is Ending.UNSAID else written(worst)


def _reasons(place: object, depth: int) -> Iterator[object]:
    if place is None or _is_silent(place):
        return
    for key in _may_have(place, _KEYS):
        reason = _entry(place, key)
        is_nested = isinstance(reason, Mapping)
        yield _entry(cast("object", reason), "reason") if is_nested else reason
    for key in _may_have(place, _BLOCKING):
        reason = _entry(place, key)
        if ending_of(reason) is not Ending.UNSAID and canonical(reason) != "blockedreasonunspecified":
            yield f"block_reason {written(reason)}"
    status = _entry(place, "status")
    if isinstance(status, str) and canonical(status) in _STATUSES:
        yield status
    if depth > 0:
        yield from _nested_reasons(place, depth - 1)


def _is_silent(place: object) -> bool:
    """Returns True for a dict without any key that may lead to a finish reason. Most dicts have none, so
    this quick check saves time."""
    return isinstance(place, dict) and _PLACES.isdisjoint(cast("dict[object, object]", place))


def _may_have(place: object, keys: tuple[str, ...]) -> Sequence[str]:
    """Returns those of ``keys`` that may exist in ``place``. For a dict, these are the keys that the dict
    has; for any other object, all of ``keys``. This check saves time, because most dicts have only a few
    of the keys."""
    if isinstance(place, dict):
        held = cast("dict[object, object]", place)
        return [key for key in keys if key in held]
    return keys


def _nested_reasons(place: object, depth: int) -> Iterator[object]:
    for key in _may_have(place, _NESTED):
        inner = _entry(place, key)
        if key == "incomplete_details":
            yield _entry(inner, "reason")
        for each in cast("list[object]", inner) if isinstance(inner, list) else [inner]:
            if each is not None and not isinstance(each, (str, bytes, int, float)):
                yield from _reasons(each, depth)


def _entry(place: object, key: str) -> object:
    # Most places are dicts. They are checked for first, since isinstance() with Mapping is slow.
    if isinstance(place, (dict, Mapping)):
        return cast("Mapping[str, object]", place).get(key)
    return None if place is None else getattr(place, key, None)
