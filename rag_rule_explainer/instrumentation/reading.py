"""This module finds the question, the answer and all texts in applications' inputs and outputs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

T = TypeVar("T")


def look_up(given: Any, keys: Sequence[str], one: Callable[[Any], T | None]) -> T | None:
    """Returns ``one(given)`` if it is not None; else the same of a list's last item, or of a dict's
    entries under ``keys``, the first that is not None."""
    found = one(given)
    if found is not None:
        return found
    if isinstance(given, (list, tuple)) and given:
        # The last message; of a ("user", text) pair, the text.
        return look_up(cast("Sequence[Any]", given)[-1], keys, one)
    if isinstance(given, Mapping):
        entries = cast("Mapping[str, Any]", given)
        several = (look_up(entries[key], keys, one) for key in keys if key in entries)
        return next((each for each in several if each is not None), None)
    return None


def nested_texts(given: Any, text_of: Callable[[Any], str | None]) -> Iterator[str]:
    """Yields all texts in nested dicts and lists; ``text_of`` returns the text of an object, or None."""
    text = text_of(given)
    if text is not None:
        yield text
    elif isinstance(given, Mapping):
        for value in cast("Mapping[Any, Any]", given).values():
            yield from nested_texts(value, text_of)
    elif isinstance(given, (list, tuple)):
        for value in cast("Sequence[Any]", given):
            yield from nested_texts(value, text_of)


def plain_data(given: Any, plain_of: Callable[[Any], Any]) -> Any:
    """Returns nested dicts and lists as JSON-like data; ``plain_of`` converts each other object."""
    if isinstance(given, Mapping):
        entries = cast("Mapping[Any, Any]", given)
        return {key: plain_data(value, plain_of) for key, value in entries.items()}
    if isinstance(given, (list, tuple)):
        return [plain_data(item, plain_of) for item in cast("Sequence[Any]", given)]
    return plain_of(given)
