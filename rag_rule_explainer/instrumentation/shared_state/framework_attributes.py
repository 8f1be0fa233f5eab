"""This module finds attributes of the frameworks' objects that have changed since these objects were
read."""

from collections.abc import Iterator

from .held import Held
from .holdings import Holdings


def of_frameworks(holdings: Holdings, name: str) -> Iterator[Held]:
    """Yields each framework's object that has an attribute of this name, perhaps with a leading
    underscore. Also yields each framework's object that is, or is inside, a value of this name."""
    for held in holdings.all:
        if held.values and (
            {name, f"_{name}"} & held.values.keys()
            or any(each.name == name for each in (held, *holdings.above(held)))
        ):
            yield held


def is_otherwise(held: Held) -> bool:
    """Returns True iff an attribute of this framework's object now has a different value than when
    ``held`` was made. Attributes that were None are ignored, because a framework may compute such a value
    later and keep it. Attributes that were fractional numbers, lists, dicts or sets are ignored too."""
    return any(
        _has_another(held.thing, name, was)
        for name, was in held.values.items()
        if was is not None and not isinstance(was, (float, list, dict, set))
    )


def _has_another(thing: object, name: str, was: object) -> bool:
    try:
        now = getattr(thing, name)
        return now is not None and now is not was and bool(now != was)
    except Exception:  # an object may raise any error when it is read
        return False
