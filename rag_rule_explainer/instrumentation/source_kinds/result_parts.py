"""This module splits the result of a tool into parts, and makes a result without some of them.

The parts of a list are its items. If a dict or an object has one list in it, the parts are the items of
this list. If a text contains a list, such as JSON, points or a Markdown table, the parts are the items of
this list too. Any other result is one part.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, cast

from ...errors import InvalidInput
from ..clients.fields import fields_of, is_listed, listed_like
from ..clients.of_listing import Path, is_a_count, results_at, with_results
from ..clients.of_text import json_listing, listing_in
from .fields_beside import counts_items
from .inner_parts import InnerParts
from .kinds import Omit
from .list_paths import has_items, list_path
from .mcp_parts import parts_of_mcp
from .part_values import blanked, emptied, read_json, text_block, text_of_part
from .written_lists import written_list


class ResultParts(Protocol):
    """A ``ResultParts`` divides the result of a tool into parts, each of which can be a source. It also
    makes the result without some of these parts."""

    @property
    def is_list(self) -> bool:
        """Returns True iff the parts are items of a list."""
        ...

    @property
    def has_heading(self) -> bool:
        """Returns True iff the first part is a line before the items."""
        ...

    @property
    def texts(self) -> Sequence[str]:
        """Returns the text of each part, in order."""
        ...

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the result without the parts with these indexes (from 0). If ``omit`` is "blank",
        returns the result with these parts blanked. If all parts are removed, returns an empty result of
        the same type."""
        ...


@dataclass(frozen=True, slots=True)
class ListedParts:
    """The parts of a ``ListedParts`` are the items of a list or a tuple."""

    items: Sequence[Any]
    is_list: bool = True
    has_heading: bool = False

    @property
    def texts(self) -> Sequence[str]:
        """Returns the text of each item."""
        return [text_of_part(each) for each in self.items]

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns a list or tuple of the same type, with the omitted items removed or blanked."""
        left = [
            blanked(each) if place in omitted else each
            for place, each in enumerate(self.items)
            if omit == "blank" or place not in omitted
        ]
        return listed_like(left, self.items)


@dataclass(frozen=True, slots=True)
class EnclosedParts(InnerParts):
    """The parts of an ``EnclosedParts`` are the items of a list inside a dict or an object. ``path``: the
    keys that lead to the list."""

    whole: Any
    path: Path

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the dict or object with the omitted items of its list removed or blanked."""
        if not omitted:
            return self.whole
        return with_results(self.whole, self.path, self.inner.without(omitted, omit), counts_items)


@dataclass(frozen=True, slots=True)
class RewrittenParts(InnerParts):
    """The parts of a ``RewrittenParts`` are the items of a list in a text, such as JSON inside a JSON
    string. If an item is omitted, the whole text is written again without this item."""

    text: str

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the text, written again with the omitted items removed or blanked."""
        if not omitted:
            return self.text
        return json_listing.response([self.inner.without(omitted, omit)], self.text)


@dataclass(frozen=True, slots=True)
class QuotedParts(InnerParts):
    """The parts of a ``QuotedParts`` are the parts of a text that the tool returned as a JSON string,
    with quotation marks and escapes. ``quote``: returns a text as a JSON string."""

    quote: Callable[[str], str]

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the JSON string with the omitted parts of its text removed or blanked."""
        return self.quote(self.inner.without(omitted, omit))


@dataclass(frozen=True, slots=True)
class OnePart:
    """The only part of a ``OnePart`` is the whole result."""

    value: Any
    is_list: bool = False
    has_heading: bool = False

    @property
    def texts(self) -> Sequence[str]:
        """Returns the text of the result."""
        return [text_of_part(self.value)]

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the result unchanged if it is not omitted. If it is omitted, returns an empty result of
        the same type, or, if ``omit`` is "blank", the result with empty texts."""
        if not omitted:
            return self.value
        return blanked(self.value) if omit == "blank" else emptied(self.value)


class _PartsInBlock(NamedTuple):
    """A ``_PartsInBlock`` is the content of a message that has only one block, with a text. Its parts are
    the parts of this text."""

    inner: ResultParts
    block: Mapping[str, Any]
    is_list: bool
    has_heading: bool

    @property
    def texts(self) -> Sequence[str]:
        return self.inner.texts

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        return [{**self.block, "text": self.inner.without(omitted, omit)}]


def parts_of_result(result: Any) -> ResultParts | None:
    """Returns the parts of a result; None if the result is empty, so that nothing can be omitted."""
    if isinstance(result, str):
        return _parts_of_text(result) if result.strip() else None
    if is_listed(result):
        items = cast("Sequence[Any]", result)
        if not items:
            return None
        block = text_block(items[0]) if len(items) == 1 else None
        if block is not None:
            inner = parts_of_result(block["text"])
            return (
                None if inner is None else _PartsInBlock(inner, block, inner.is_list, inner.has_heading)
            )
        return ListedParts(items) if has_items(items) else OnePart(items)
    if result is None or (not result and isinstance(result, (Mapping, set, frozenset, bytes))):
        return None
    return parts_of_mcp(result, parts_of_result) or _enclosed(result) or OnePart(result)


def _enclosed(result: Any) -> ResultParts | None:
    path = list_path(result)
    items = results_at(result, path) if path else ()
    if not path or not items:
        return None
    try:
        with_results(result, path, list(items))
    except Exception:  # an object of this class cannot be copied with another list
        return None
    return EnclosedParts(ListedParts(list(items)), result, path)


def _parts_of_text(text: str) -> ResultParts:
    return written_list(text) or _quoted(text) or _rewritten(text) or OnePart(text)


def _quoted(text: str) -> QuotedParts | None:
    inner = read_json(text) if text.startswith('"') else None
    if not isinstance(inner, str):
        return None
    ways = (partial(json.dumps, ensure_ascii=ascii_only) for ascii_only in (False, True))
    way = next((each for each in ways if each(inner) == text), None)
    parts = None if way is None else written_list(inner)
    return None if parts is None or way is None else QuotedParts(parts, way)


def _rewritten(text: str) -> ResultParts | None:
    try:
        rows = json_listing.rows(text)
    # The text has several lists, so it cannot be written again without some of the items.
    except InvalidInput:
        return None
    if rows is None or not rows[0]:
        return None
    whole, path = listing_in(text)
    named = (fields_of(results_at(whole, path[:place])) or {} for place in range(len(path)))
    counts = [
        counts_items(fields, name, rows[0], key)
        for fields, key in zip(named, path, strict=True)
        for name in fields
        if is_a_count(name, fields[name])
    ]
    # The text is written with lower counts, so each number with the name of a count has to be one.
    return RewrittenParts(ListedParts(list(rows[0])), text) if all(counts) else None
