"""This module finds the question, the answer and all texts in applications' inputs and outputs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

T = TypeVar("T")
OfList = Callable[[Sequence[Any]], T | None]
"""A function that returns the value of a list, or None if it cannot tell."""
_ROLES = frozenset({"human", "user", "ai", "assistant", "system"})


def look_up(
    given: Any, keys: Sequence[str], one: Callable[[Any], T | None], of_list: OfList[T] | None = None
) -> T | None:
    """Returns the first value that is not None: ``one(given)``; of a list, ``of_list(given)``, by default
    the value of its last item; of a dict, the values of its entries under ``keys``."""
    found = one(given)
    if found is not None:
        return found
    if isinstance(given, (list, tuple)) and given:
        items = cast("Sequence[Any]", given)
        found = None if of_list is None else of_list(items)
        if found is None and (
            of_list is None or len(items) == 1 or _is_message(items) or _is_message(items[-1])
        ):
            # The last message; of a ("user", text) pair, the text.
            found = look_up(items[-1], keys, one, of_list)
        return found
    if isinstance(given, Mapping):
        entries = cast("Mapping[str, Any]", given)
        several = (look_up(entries[key], keys, one, of_list) for key in keys if key in entries)
        return next((each for each in several if each is not None), None)
    return None


def text_of_several(given: Sequence[Any]) -> str | None:
    """Returns the texts of a list of texts, one a line; None for any other list, and for a pair of a role
    and a text."""
    if _is_message(given) or not all(isinstance(each, str) for each in given):
        return None
    return "\n".join(given)


def _is_message(given: Any) -> bool:
    """Returns whether this is a message: a pair of a role and a text, or something with a role."""
    if isinstance(given, (list, tuple)):
        pair = cast("Sequence[Any]", given)
        return isinstance(given, tuple) and len(pair) == 2 and pair[0] in _ROLES
    if isinstance(given, Mapping):
        return "role" in given
    return hasattr(given, "role") or hasattr(given, "type")


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
