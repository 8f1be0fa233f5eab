"""This module reads the list in a tool's result as data: its items, what stands beside them, and the line
before them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from ..clients.fields import fields_of, is_listed
from ..clients.of_listing import Path
from .part_values import read_json, text_block

_KEYED = re.compile(r"\s*(?P<key>[A-Za-z_][\w .-]{0,39}?)\s*:\s+(?P<value>.*\S)\s*")
"""Matches a line such as "rank: 2"."""
_NUMBER = re.compile(r"(?<![\w.,])[-+]?[$€£]?\d+(?:,\d{3})*(?:\.\d+)?")
_PLAIN_NUMBER = re.compile(r"[-+]?[$€£]?\s?\d+(?:,\d{3})*(?:\.\d+)?\s?(?:%|[A-Z]{3}|[$€£])?")
_LONGEST = 30
_DEEPEST = 3
_MOST = 40
"""The largest number of columns that are looked at."""


class ListData(NamedTuple):
    """A ``ListData`` is the list in a tool's result. ``items``: its items, as data or as texts.
    ``whole``: the dict or object that has the list, and ``path``: the keys that lead to the list in it;
    None if there is none. ``line``: the line before the items; ``heading``: the same without the numbers
    that count them. ``is_total``: True if a line with such a number calls it a total."""

    items: Sequence[Any]
    whole: Any = None
    path: Path = ()
    heading: str = ""
    line: str = ""
    is_total: bool = False


Columns = Mapping[str, Sequence[Any]]
"""The values of each field of the items, in the order of the items; None where an item has no value. The
fields inside of others have names such as "meta.rank"."""


def columns_of(items: Sequence[Any]) -> Columns:
    """Returns the fields that the items have in common: the fields of dicts and objects, the elements of
    rows, the keys of texts such as "rank: 2", or else the numbers in texts."""
    read = [_read(each) for each in items]
    if not all(isinstance(each, str) for each in read):
        return _transposed([_flat(each, "", 0) for each in read])
    texts = cast("Sequence[str]", read)
    keyed = [_keyed(each) for each in texts]
    if frozenset(keyed[0] if keyed else ()).intersection(*keyed):
        return _transposed(keyed)
    numbers = [_NUMBER.findall(each) for each in texts]
    if len({len(each) for each in numbers}) > 1:
        numbers = [each[:1] for each in numbers]
    return _transposed([{f"number {n}": x for n, x in enumerate(each, 1)} for each in numbers])


def number_in(value: Any) -> float | None:
    """Returns the number that a value is, or that it says, such as "$1,200.50" or "57%"; None if it is
    no number."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value) if abs(value) < 1e15 else None
    if isinstance(value, str) and len(value) < _LONGEST and _PLAIN_NUMBER.fullmatch(value.strip()):
        return float(re.sub(r"[^\d.+-]", "", value))
    return None


def _read(item: Any) -> Any:
    """Returns the data in an item: of a block of text, or of a text that is a JSON object."""
    block = text_block(item)
    text = item if block is None else block["text"]
    inner = read_json(text) if isinstance(text, str) and text.lstrip().startswith("{") else None
    return text if inner is None else inner


def _keyed(text: str) -> Mapping[str, Any]:
    lines = [_KEYED.fullmatch(each) for each in text.splitlines() if each.strip()]
    return {each["key"]: each["value"].strip("'\"") for each in lines if each} if all(lines) else {}


def _flat(item: Any, name: str, depth: int) -> Mapping[str, Any]:
    """Returns the plain values in an item, by their names."""
    found = dict[str, Any]()
    if is_listed(item) and depth == 0:
        entries = [(f"column {place}", each) for place, each in enumerate(item, start=1)]
    else:
        entries = [(str(key), each) for key, each in (fields_of(item) or {}).items()]
    for key, each in entries[:_MOST]:
        at = f"{name}.{key}" if name else key
        if isinstance(each, (str, int, float, bool)) or each is None:
            found[at] = each
        elif depth < _DEEPEST and not is_listed(each):
            found |= _flat(each, at, depth + 1)
    return found


def _transposed(rows: Sequence[Mapping[str, Any]]) -> Columns:
    names = dict.fromkeys(name for each in rows for name in each)
    return {name: [each.get(name) for each in rows] for name in [*names][:_MOST]}
