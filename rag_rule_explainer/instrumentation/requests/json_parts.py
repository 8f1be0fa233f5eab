"""This module reads JSON whose form is uncertain, such as the body of a reply."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast


def items_of_list(given: Any) -> list[Any]:
    """Returns a list unchanged, an empty list for None, and a list of one item for any other value."""
    return cast("list[Any]", given) if isinstance(given, list) else [] if given is None else [given]


def texts_within(given: Any, without: Collection[str]) -> Iterator[str]:
    """Yields every text in lists and mappings, at any depth. Leaves out the values under the keys in
    ``without``."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for key, value in cast("Mapping[str, Any]", given).items():
            if key not in without:
                yield from texts_within(value, without)
    elif isinstance(given, list):
        for value in cast("list[Any]", given):
            yield from texts_within(value, without)
