"""This module finds the parts of a predicate, however deeply nested."""

from collections.abc import Iterator
from typing import Any


def juries_in(predicate: Any) -> Iterator[Any]:
    """Returns every jury in the predicate and its parts."""
    return (part.jury for part in judged_in(predicate))


def judged_in(predicate: Any) -> Iterator[Any]:
    """Returns every predicate with a jury: the predicate itself and its parts."""
    return (part for part in _parts_of(predicate) if getattr(part, "jury", None) is not None)


def sources_named_in(predicate: Any) -> Iterator[str]:
    """Returns the source ids that predicates such as ``cites`` and ``mentions_source`` name."""
    named = (getattr(part, "source", None) for part in _parts_of(predicate))
    return (name for name in named if isinstance(name, str))


def _parts_of(predicate: Any) -> Iterator[Any]:
    """Yields the predicate itself and all its nested parts."""
    yield predicate
    for part in (getattr(predicate, "inner", None), *getattr(predicate, "parts", ())):
        if part is not None:
            yield from _parts_of(part)
