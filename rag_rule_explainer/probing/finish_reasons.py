"""Where providers say why a reply ended: in its data, under a dozen names, nested or not."""

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
"""Of OpenAI's responses; others have a status as well, and mean something else."""
_DEEPEST = 3
_PLACES = frozenset({*_KEYS, *_BLOCKING, *_NESTED, "status"})


def reason_in(*places: object) -> str | None:
    """Returns the reason that a provider's data give for a reply's end: of several the worst, or None.

    ``places``: mappings or objects with attributes, with what is nested in them where providers nest it.
    """
    told = [each for place in places for each in _reasons(place, _DEEPEST) if each is not None]
    worst = max(told, key=ending_of, default=None)
    return None if worst is None or ending_of(worst) is Ending.UNSAID else written(worst)


def _reasons(place: object, depth: int) -> Iterator[object]:
    if place is None or _is_silent(place):
        return
    for key in _may_have(place, _KEYS):
        told = _entry(place, key)
        is_nested = isinstance(told, Mapping)
        yield _entry(cast("object", told), "reason") if is_nested else told
    for key in _may_have(place, _BLOCKING):
        told = _entry(place, key)
        if ending_of(told) is not Ending.UNSAID and canonical(told) != "blockedreasonunspecified":
            yield f"block_reason {written(told)}"
    status = _entry(place, "status")
    if isinstance(status, str) and canonical(status) in _STATUSES:
        yield status
    if depth > 0:
        yield from _nested_reasons(place, depth - 1)


def _is_silent(place: object) -> bool:
    """Returns True for a dict without any place for a reason, as most of what a reply holds is."""
    return isinstance(place, dict) and _PLACES.isdisjoint(cast("dict[object, object]", place))


def _may_have(place: object, keys: tuple[str, ...]) -> Sequence[str]:
    """Returns those that are not known to be missing: every reply is looked at, and has few of them."""
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
    # A dict is asked for first: to ask whether a thing is any Mapping takes longer.
    if isinstance(place, (dict, Mapping)):
        return cast("Mapping[str, object]", place).get(key)
    return None if place is None else getattr(place, key, None)
