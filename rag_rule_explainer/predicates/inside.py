"""Who has a say in a predicate, however deep inside."""

from collections.abc import Iterator
from typing import Any


def juries_in(predicate: Any) -> Iterator[Any]:
    """Every jury that may be asked, of the predicate itself and of what it combines."""
    jury = getattr(predicate, "jury", None)
    if jury is not None:
        yield jury
    for part in (getattr(predicate, "inner", None), *getattr(predicate, "parts", ())):
        if part is not None:
            yield from juries_in(part)
