"""This module finds all predicates that are combined in a predicate, however deeply they are nested."""

from collections.abc import Iterator
from typing import Any


def juries_in(predicate: Any) -> Iterator[Any]:
    """Returns every jury (a judge and how it is used) in the predicate and in the predicates combined
    in it."""
    return (part.jury for part in judged_in(predicate))


def judged_in(predicate: Any) -> Iterator[Any]:
    """Returns every predicate that has a jury: among the predicate itself and the predicates combined
    in it."""
    return (part for part in _parts_of(predicate) if getattr(part, "jury", None) is not None)


def sources_named_in(predicate: Any) -> Iterator[str]:
    """Returns the source ids that predicates such as ``cites`` and ``mentions_source`` name."""
    named = (getattr(part, "source", None) for part in _parts_of(predicate))
    return (name for name in named if isinstance(name, str))


def _parts_of(predicate: Any) -> Iterator[Any]:
    """Yields the predicate itself, and all predicates that are combined or negated in it."""
    yield predicate
    for part in (getattr(predicate, "inner", None), *getattr(predicate, "parts", ())):
        if part is not None:
            yield from _parts_of(part)
