"""Requests of which one field is another one, for any field of a recorded request."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

DAY, OTHER_DAY = "2026-11-29", "2026-11-30"
UUID, OTHER_UUID = "6f1c3a1e-5b7d-4c8e-9a2b-1d3e5f7a9b0c", "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"


def changed(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the value with one change, for each change of each part of it. Each has a name."""
    if isinstance(value, bool):
        yield f"{where} the other", not value
    elif isinstance(value, (int, float)):
        yield f"{where} + 1", value + 1
    elif isinstance(value, str):
        yield from ((f"{where} {how}", each) for how, each in _of_text(value))
    elif isinstance(value, Mapping):
        yield from _of_mapping(cast("Mapping[str, Any]", value), where)
    elif isinstance(value, Sequence):
        yield from _of_list(cast("Sequence[Any]", value), where)


def _of_text(text: str) -> Iterator[tuple[str, str]]:
    yield "with white space", f"{text} "
    yield "with a line end", text.replace(" ", "\n", 1) if " " in text else f"{text}\n"
    yield "with a word", f"{text}x"
    if text == "success":
        yield "of an error", "error"
    for was, other in ((DAY, OTHER_DAY), (UUID, OTHER_UUID)):
        if was in text:
            yield f"with {other}", text.replace(was, other)


def _of_mapping(fields: Mapping[str, Any], where: str) -> Iterator[tuple[str, Any]]:
    for key, value in fields.items():
        yield f"{where} without {key}", {name: each for name, each in fields.items() if name != key}
        for name, each in changed(value, f"{where}.{key}"):
            yield name, {**fields, key: each}
    yield f"{where} with cache_control", {**fields, "cache_control": {"type": "ephemeral"}}
    if isinstance(fields.get("text"), str):
        # Two parts with the same text in all are another request.
        text = fields["text"]
        yield f"{where} cut in two", [{**fields, "text": text[:3]}, {**fields, "text": text[3:]}]


def _of_list(items: Sequence[Any], where: str) -> Iterator[tuple[str, Any]]:
    for place, value in enumerate(items):
        before, after = list(items[:place]), list(items[place + 1 :])
        yield f"{where} without {place}", [*before, *after]
        yield f"{where} with {place} twice", [*before, value, value, *after]
        if after:
            yield f"{where} with {place} later", [*before, after[0], value, *after[1:]]
        for name, each in changed(value, f"{where}[{place}]"):
            yield name, [*before, *(each if name.endswith("cut in two") else [each]), *after]


def with_swapped(value: Any, one: str, two: str) -> Any:
    """The value with ``two`` where ``one`` was, and the other way round."""
    if isinstance(value, str):
        return {one: two, two: one}.get(value, value)
    if isinstance(value, Mapping):
        return {key: with_swapped(each, one, two) for key, each in cast("Any", value).items()}
    if isinstance(value, list):
        return [with_swapped(each, one, two) for each in cast("list[Any]", value)]
    return value
