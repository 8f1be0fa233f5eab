"""This module reads JSON whose form is uncertain, such as the body of a reply."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from ..copies.copying import described

_NOT_BESIDE = frozenset({"role", "content", "output", "type", "id", "call_id", "tool_call_id", "status"})
"""Keys that are left out when a message is searched for data besides its text: they hold the text itself,
ids, or the kind of the message."""


def items_of_list(given: Any) -> list[Any]:
    """Returns a list unchanged, an empty list for None, and a list of one item for any other value."""
    return cast("list[Any]", given) if isinstance(given, list) else [] if given is None else [given]


def texts_within(given: Any, without: Collection[str]) -> Iterator[str]:
    """Yields every text in lists and mappings, at any depth. Leaves out the values under the keys in
    ``without``."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for key, value in cast("Mapping[str, Any]", given).items():
            if key not in without:
                yield from texts_within(value, without)
    elif isinstance(given, list):
        for value in cast("list[Any]", given):
            yield from texts_within(value, without)


def extras_of(message: Any) -> str:
    """Returns the parts of a request's message other than its text, such as tool calls without their ids,
    and pictures. Returns an empty text if there are none."""
    if not isinstance(message, Mapping):
        return ""
    entries = cast("Mapping[str, Any]", message)
    left = {key: each for key, each in entries.items() if key not in _NOT_BESIDE and each}
    calls: list[Any] = items_of_list(left.pop("tool_calls", None))
    called = [{key: each[key] for key in each if key != "id"} for each in calls]
    content = entries.get("content")
    parts = cast("list[Any]", content if isinstance(content, list) else [])
    others: list[Any] = [
        each for each in parts if isinstance(each, dict) and "text" not in cast("Any", each)
    ]
    return described([left, called, others]) if left or called or others else ""
