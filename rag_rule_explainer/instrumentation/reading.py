"""This module finds the question, the answer and all texts in applications' inputs and outputs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from ..errors import InvalidInput

T = TypeVar("T")
OfList = Callable[[Sequence[Any]], T | None]
"""A function that gets a list and returns the value that it reads from the list; None if it finds no
value."""
_ROLES = frozenset({"human", "user", "ai", "assistant", "system"})


def no_question_in(given: object, more: str = "") -> InvalidInput:
    """Returns the error for an input whose question cannot be read. ``more``: advice that is added at the
    end of the message."""
    return InvalidInput(
        f"no question could be read out of an input of type {type(given).__name__}; "
        f"pass question_of=, a function from the input to the question{more}"
    )


def no_answer_in(kind: str, more: str = "") -> InvalidInput:
    """Returns the error for an output, of a type with this name, whose answer cannot be read."""
    return InvalidInput(
        f"no answer could be read out of an output of type {kind}; "
        f"pass answer_of=, a function from the output to a str or an Answer{more}"
    )


def look_up(
    given: Any, keys: Sequence[str], one: Callable[[Any], T | None], of_list: OfList[T] | None = None
) -> T | None:
    """Searches an input or output for a value, such as the question. Returns the first value found, or
    None.

    Calls ``one`` with the whole object first. If ``one`` finds nothing, searches inside:

    - In a dict, the entries under ``keys`` are searched, in this order.
    - For a list, ``of_list`` is called if it is given. If it finds nothing, the last item is searched if
      it is the only item or a message, or if the list is a pair of a role and a text.
    - If ``of_list`` is not given, the last item of a list is always searched.
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
            # The last item of a pair such as ("user", text) is the text.
            found = look_up(items[-1], keys, one, of_list)
        return found
    if isinstance(given, Mapping):
        entries = cast("Mapping[str, Any]", given)
        several = (look_up(entries[key], keys, one, of_list) for key in keys if key in entries)
        return next((each for each in several if each is not None), None)
    return None


def look_up_answer(
    given: Any,
    keys: Sequence[str],
    less_sure: Sequence[str],
    look: Callable[[Any, Sequence[str]], T | None],
) -> T | None:
    """Searches an output for the answer, and returns it; None if there is none.

    ``look``: a function like ``look_up``, with an object and keys as parameters. In a dict, an entry
    under ``keys[0]`` is the answer. Without such an entry, the entry under another of the ``keys``, or
    under a key in ``less_sure`` (such as "generation" or "response"), is the answer. Raises InvalidInput
    if these entries have different texts.
    """
    found = look(given, keys)
    if not isinstance(given, Mapping):
        return found
    entries = cast("Mapping[str, Any]", given)
    sure = next((key for key in keys if key in entries and look(entries[key], keys) is not None), "")
    if sure == keys[0]:
        return found
    named = {key: look(entries[key], keys) for key in less_sure if key in entries}
    candidates = {key: each for key, each in {**named, sure: found}.items() if each is not None}
    said = {key: each for key, each in candidates.items() if _words_of(each)} or candidates
    if len({_words_of(each) for each in said.values()}) > 1:
        names = list(map(repr, said))
        raise InvalidInput(
            f"the output has several texts that may be the answer, under {', '.join(names)}; pass "
            f"answer_of=, a function from the output to a str or an Answer, such as "
            f"answer_of=lambda output: output[{names[0]}]"
        )
    return next(iter(said.values()), None)


def _words_of(found: Any) -> tuple[str, ...]:
    text = found if isinstance(found, str) else getattr(found, "text", "")
    return tuple(str(text).split())


def text_of_several(given: Sequence[Any]) -> str | None:
    """Returns the items of a list of texts, joined by line breaks. Returns None for any other list, and
    for a pair of a role and a text."""
    if _is_message(given) or not all(isinstance(each, str) for each in given):
        return None
    return "\n".join(given)


def _is_message(given: Any) -> bool:
    """Returns True iff this is a message: a pair of a role and a text, or a dict or object with a role or
    a type."""
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


def unread_in(output: Any, text: str) -> tuple[str, ...]:
    """Returns the keys of those entries of an output (a dict or a tuple) that have plain data and are not
    the answer. ``text``: the answer."""
    if isinstance(output, Mapping):
        entries = [(str(key), each) for key, each in cast("Mapping[Any, Any]", output).items()]
    elif isinstance(output, tuple):
        items = cast("tuple[Any, ...]", output)
        entries = [(f"item {place}", each) for place, each in enumerate(items)]
    else:
        return ()
    return tuple(name for name, each in entries if _is_plain(each) and each != text)


def _is_plain(entry: Any) -> bool:
    if isinstance(entry, dict):
        return all(map(_is_plain, cast("dict[Any, Any]", entry).values()))
    if isinstance(entry, list):
        return all(map(_is_plain, cast("list[Any]", entry)))
    return isinstance(entry, (str, int, float))
