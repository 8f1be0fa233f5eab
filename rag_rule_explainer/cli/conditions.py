"""Predicates as they are written on a command line."""

from collections.abc import Callable

from ..errors import InvalidInput
from ..predicates import (
    Predicate,
    cites,
    consistent_with,
    contains,
    equals,
    json_path,
    matches,
    mentions_source,
    negated,
    one_of,
    refuses,
    same_answer,
)

SYNTAX = (
    "[not:]contains:TEXT | equals:TEXT | matches:REGEX | one-of:TEXT|TEXT | consistent-with:TEXT | "
    "same-answer[:OVERLAP] | refuses | cites[:ID] | mentions:ID | json-path:PATH[=JSON or TEXT]"
)


def _same_answer(overlap: str) -> Predicate:
    try:
        return same_answer(overlap=float(overlap))
    except ValueError as error:  # InvalidInput is one
        raise InvalidInput(
            f"the overlap {overlap!r} is no share of words, such as 0.8; write {SYNTAX}"
        ) from error


def _one_of(texts: str) -> Predicate:
    return one_of([text.strip() for text in texts.split("|")])


def _json_path(written: str) -> Predicate:
    """PATH, or PATH=VALUE: a path may hold a = itself, so the shortest one that is a path is taken."""
    for place, character in enumerate(written):
        if character == "=" and _is_path(written[:place]):
            return json_path(written[:place], equals=_value(written[place + 1 :]))
    return json_path(written)


def _is_path(written: str) -> bool:
    try:
        json_path(written)
    except InvalidInput:
        return False
    return True


def _value(written: str) -> object:
    from pydantic_core import from_json

    try:
        return from_json(written, allow_inf_nan=False)
    except ValueError:
        return written


_ALONE: dict[str, Callable[[], Predicate]] = {
    "cites": cites,
    "refuses": refuses,
    "same-answer": same_answer,
}
_WITH_TEXT: dict[str, Callable[[str], Predicate]] = {
    "cites": cites,
    "consistent-with": consistent_with,
    "contains": contains,
    "equals": equals,
    "json-path": _json_path,
    "matches": matches,
    "mentions": mentions_source,
    "one-of": _one_of,
    "same-answer": _same_answer,
}


def parsed(written: str) -> Predicate:
    """The predicate that is written. Raises InvalidInput, with the syntax, for anything else."""
    if written.startswith("not:"):
        return negated(parsed(written.removeprefix("not:")))
    if written in _ALONE:
        return _ALONE[written]()
    name, colon, text = written.partition(":")
    if not colon or name not in _WITH_TEXT:
        raise InvalidInput(f"{written!r} is not a predicate; write {SYNTAX}")
    if not text:
        raise InvalidInput(f"{written!r} has no text after the colon; write {SYNTAX}")
    return _WITH_TEXT[name](text)
