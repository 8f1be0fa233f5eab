"""The names under which a store keeps what predicates say."""

from .combine import AllOf, AnyOf, Not
from .inside import juries_in
from .protocol import Predicate


def remembered_name(predicate: Predicate) -> str | None:
    """Returns what a store knows a predicate's judgements by; None for those that cost nothing, or have
    no name.

    A predicate of one's own has one as its attribute ``remembered_as``. What combines others has one if
    any of them has, and no judge in it is nameless: then it takes in what the others say of themselves.
    """
    if isinstance(predicate, Not):
        return remembered_name(predicate.inner)
    if isinstance(predicate, (AllOf, AnyOf)):
        if any(jury.name is None for jury in juries_in(predicate)):
            return None
        names = [remembered_name(part) for part in predicate.parts]
        told = [_outright(part, name) for part, name in zip(predicate.parts, names, strict=True)]
        joint = "all" if isinstance(predicate, AllOf) else "any"
        return f"{joint} of {told!r}" if any(names) else None
    name: object = getattr(predicate, "remembered_as", None)
    return name if isinstance(name, str) and name else None


def _outright(part: Predicate, name: str | None) -> str:
    negated_or_not = "not " if isinstance(part, Not) else ""
    return f"{negated_or_not}{name or repr(part)}"
