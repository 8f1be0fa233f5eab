"""This module makes the names under which a store keeps the judgements of predicates."""

from .combine import AllOf, AnyOf, Not
from .inside import juries_in
from .protocol import Predicate


def remembered_name(predicate: Predicate) -> str | None:
    """Returns the name under which a store keeps a predicate's judgements; None if they are not stored.

    Only judgements that cost something, such as a call of a model, have names. For a user's own
    predicate, ``remembered_as`` is the name. The name of a combination consists of the names of its
    parts; parts that cost nothing need no name. If a part has a judge without a name, the combination has
    no name either.
    """
    if isinstance(predicate, Not):
        return remembered_name(predicate.inner)
    if isinstance(predicate, (AllOf, AnyOf)):
        if any(jury.name is None for jury in juries_in(predicate)):
            return None
        names = [remembered_name(part) for part in predicate.parts]
        terms = [_outright(part, name) for part, name in zip(predicate.parts, names, strict=True)]
        joint = "all" if isinstance(predicate, AllOf) else "any"
        return f"{joint} of {terms!r}" if any(names) else None
    name: object = getattr(predicate, "remembered_as", None)
    return name if isinstance(name, str) and name else None


def _outright(part: Predicate, name: str | None) -> str:
    negated_or_not = "not " if isinstance(part, Not) else ""
    return f"{negated_or_not}{name or repr(part)}"
