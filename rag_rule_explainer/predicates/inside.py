"""Who has a say in a predicate, however deep inside."""

from collections.abc import Iterator
from typing import Any


def juries_in(predicate: Any) -> Iterator[Any]:
    """Every jury that may be asked, of the predicate itself and of what it combines."""
    return (part.jury for part in judged_in(predicate))


def judged_in(predicate: Any) -> Iterator[Any]:
    """Every predicate that has a jury, of itself and of what it combines."""
    if getattr(predicate, "jury", None) is not None:
        yield predicate
    for part in (getattr(predicate, "inner", None), *getattr(predicate, "parts", ())):
        if part is not None:
            yield from judged_in(part)
