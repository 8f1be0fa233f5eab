"""Who has a say in a predicate, however deep inside."""

from collections.abc import Iterator
from typing import Any


def juries_in(predicate: Any) -> Iterator[Any]:
    """Returns every jury that may be asked, of the predicate itself and of what it combines."""
    return (part.jury for part in judged_in(predicate))


def judged_in(predicate: Any) -> Iterator[Any]:
    """Returns every predicate that has a jury, of itself and of what it combines."""
    return (part for part in _parts_of(predicate) if getattr(part, "jury", None) is not None)


def sources_named_in(predicate: Any) -> Iterator[str]:
    """Returns the id of every source that it is about, as ``cites`` and ``mentions_source`` are."""
    named = (getattr(part, "source", None) for part in _parts_of(predicate))
    return (name for name in named if isinstance(name, str))


def _parts_of(predicate: Any) -> Iterator[Any]:
    """It, and what it combines, however deep inside."""
    yield predicate
    for part in (getattr(predicate, "inner", None), *getattr(predicate, "parts", ())):
        if part is not None:
            yield from _parts_of(part)
