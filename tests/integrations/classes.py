"""What can be called on the classes of a framework, before and after they were intercepted."""

from collections.abc import Iterator, Sequence
from typing import Any

Entries = dict[tuple[type, str], Any]


def loaded(root: type) -> Iterator[type]:
    yield root
    for each in type.__subclasses__(root):
        yield from loaded(each)


def entries(roots: Sequence[type]) -> Entries:
    """All that can be called on what is intercepted, down to the classes of the shape itself."""
    return {
        (owner, name): entry
        for root in roots
        for owner in loaded(root)
        for name, entry in list(vars(owner).items())
        if callable(entry) or isinstance(entry, (classmethod, staticmethod))
    }


def changed(before: Entries, roots: Sequence[type]) -> list[tuple[type, str]]:
    """What is not as it was. Classes first imported meanwhile are judged by what their parents have."""
    after = entries(roots)
    known = {owner for owner, _ in before}
    return [
        *(key for key in before if after.get(key) is not before[key]),
        *(key for key in after if key not in before and key[0] in known),
    ]
