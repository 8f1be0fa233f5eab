"""Predicates as they are written on a command line."""

from collections.abc import Callable

from ..errors import InvalidInput
from ..predicates import (
    Predicate,
    consistent_with,
    contains,
    equals,
    matches,
    negated,
    same_answer,
)

SYNTAX = "[not:]contains:TEXT | equals:TEXT | matches:REGEX | consistent-with:TEXT | same-answer"

_WITH_TEXT: dict[str, Callable[[str], Predicate]] = {
    "contains": contains,
    "equals": equals,
    "matches": matches,
    "consistent-with": consistent_with,
}


def parsed(written: str) -> Predicate:
    """The predicate that is written. Raises InvalidInput, with the syntax, for anything else."""
    if written.startswith("not:"):
        return negated(parsed(written.removeprefix("not:")))
    if written == "same-answer":
        return same_answer()
    name, colon, text = written.partition(":")
    if not colon or name not in _WITH_TEXT:
        raise InvalidInput(f"{written!r} is not a predicate; write {SYNTAX}")
    if not text:
        raise InvalidInput(f"{written!r} has no text after the colon; write {SYNTAX}")
    return _WITH_TEXT[name](text)
