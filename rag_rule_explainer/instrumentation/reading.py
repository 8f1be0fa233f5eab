"""This module finds the question, the answer and all texts in applications' inputs and outputs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

T = TypeVar("T")
OfList = Callable[[Sequence[Any]], T | None]
"""A function that is given a list and returns the value to read from it, or None if it finds none."""
_ROLES = frozenset({"human", "user", "ai", "assistant", "system"})


def look_up(
    given: Any, keys: Sequence[str], one: Callable[[Any], T | None], of_list: OfList[T] | None = None
) -> T | None:
    """Searches an input or output for a value, such as the question, and returns the first value found,
    or None.

    ``one`` is called first, with the whole object. For a list, ``of_list`` is called next. If it finds
    nothing, the last item is searched in the same way, provided that it is the only item or a message;
    without ``of_list``, it is always searched. For a dict, the entries under ``keys`` are searched in
    this order.
    """
    found = one(given)
    if found is not None:
        return found
    if isinstance(given, (list, tuple)) and given:
        items = cast("Sequence[Any]", given)
        found = None if of_list is None else of_list(items)
        if found is None and (
            of_list is None or len(items) == 1 or _is_message(items) or _is_message(items[-1])
        ):
            # The last message is searched. Of a ("user", text) pair, this is the text.
            found = look_up(items[-1], keys, one, of_list)
        return found
    if isinstance(given, Mapping):
        entries = cast("Mapping[str, Any]", given)
        several = (look_up(entries[key], keys, one, of_list) for key in keys if key in entries)
        return next((each for each in several if each is not None), None)
    return None


def text_of_several(given: Sequence[Any]) -> str | None:
    """Returns the items of a list of texts, joined by line breaks. Returns None for any other list, and
    for a pair of a role and a text."""
    if _is_message(given) or not all(isinstance(each, str) for each in given):
        return None
    return "\n".join(given)


def _is_message(given: Any) -> bool:
    """Returns True iff this is a message: a pair of a role and a text, or something with a role or a
    type."""
    if isinstance(given, (list, tuple)):
        pair = cast("Sequence[Any]", given)
        is_pair = isinstance(given, tuple) and len(pair) == 2 and isinstance(pair[0], str)
        return is_pair and pair[0] in _ROLES
    if isinstance(given, Mapping):
        return "role" in given
    return hasattr(given, "role") or hasattr(given, "type")


def nested_texts(given: Any, text_of: Callable[[Any], str | None]) -> Iterator[str]:
    """Yields all texts in nested dicts and lists. ``text_of``: returns the text of an object, or None if
    the object has no text of its own."""
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
