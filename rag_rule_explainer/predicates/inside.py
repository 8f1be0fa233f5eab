"""This module finds the predicates inside a combined or negated predicate, however deeply they are
nested."""

from collections.abc import Iterator
from typing import Any


def juries_in(predicate: Any) -> Iterator[Any]:
    """Yields every jury (a judge and how it is used) of the predicate and of all predicates inside it."""
    return (part.jury for part in judged_in(predicate))


def judged_in(predicate: Any) -> Iterator[Any]:
    """Yields each predicate that has a jury (a judge and how it is used), among ``predicate`` and all
    predicates inside it."""
    return (part for part in predicates_in(predicate) if getattr(part, "jury", None) is not None)


def sources_named_in(predicate: Any) -> Iterator[str]:
    """Yields the ids of sources that are named in the predicate or in a predicate inside it, as in
    ``cites("D2")``."""
    named = (getattr(part, "source", None) for part in predicates_in(predicate))
    return (name for name in named if isinstance(name, str))


def reads_only_value(predicate: Any) -> bool:
    """Returns True iff the predicate contains a function of the user's that reads only the ``value`` of
    an answer, and not its ``text``."""
    functions = (getattr(part, "function", None) for part in predicates_in(predicate))
    names = (getattr(getattr(each, "__code__", None), "co_names", ()) for each in functions)
    return any({"answer", "value"} <= set(each) and "text" not in each for each in names)


def predicates_in(predicate: Any) -> Iterator[Any]:
    """Yields the predicate itself, all predicates that are combined or negated in it, and those by which
    it judges arguments of tool calls."""
    yield predicate
    own = (*getattr(predicate, "parts", ()), *getattr(predicate, "on_arguments", ()))
    for part in (getattr(predicate, "inner", None), *own):
        if part is not None:
            yield from predicates_in(part)
