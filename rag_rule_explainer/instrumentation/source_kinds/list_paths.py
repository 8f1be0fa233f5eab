"""This module finds the list in the result of a tool that contains exactly one list."""

from collections.abc import Sequence
from typing import Any, cast

from ..clients.fields import fields_of, is_listed
from ..clients.of_listing import Path, counts_results, is_silent, results_at
from .part_values import PLAIN

_DEEPEST = 3


def list_path(result: Any, depth: int = _DEEPEST) -> Path | None:
    """Returns the keys that lead to the only list in a result, such as ``("data", "items")``; an empty
    path if the result itself is the list. Returns None if there is no such list, or if its items are all
    numbers, truth values or None. Also returns None if the result has other fields that may depend on the
    items, except counts of them. ``depth``: the number of levels in which the list is searched for."""
    if is_listed(result):
        return () if has_items(cast("Sequence[Any]", result)) else None
    fields = fields_of(result)
    if fields is None or depth < 0:
        return None
    filled = [name for name, each in fields.items() if not is_silent(name, each)]
    holding = [each for each in filled if not isinstance(fields[each], int)]
    if len(holding) != 1 or not isinstance(holding[0], str):
        return None
    inside = list_path(fields[holding[0]], depth - 1)
    if inside is None:
        return None
    total = len(results_at(fields[holding[0]], inside))
    counting = all(counts_results(name, fields[name], total) for name in filled if name != holding[0])
    return (holding[0], *inside) if counting else None


def has_items(listed: Sequence[Any]) -> bool:
    """Returns True iff the elements of a list can be omitted one by one. They cannot if they are all
    numbers, truth values or None, or if only some of them are lists, as in ``(rows, total)``."""
    lists = sum(map(is_listed, listed))
    return lists in (0, len(listed)) and not all(isinstance(each, PLAIN) for each in listed)
