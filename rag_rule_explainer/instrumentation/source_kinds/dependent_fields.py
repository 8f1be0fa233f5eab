"""This module finds what the result of a tool says about several items of its list, so that it is not
known what the tool would have written without some of them."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...tool_calls import ToolCall
from ..clients.fields import is_listed, mapping_in
from ..clients.of_text import listing_in
from ..requests.volatile import Steady
from ..result_field import ResultField
from . import fields_beside, item_columns
from .cut_parts import CutParts, cut_parts_in
from .headings import is_independent
from .kinds import Omit
from .list_data import ListData
from .mcp_parts import McpBlocks
from .result_parts import EnclosedParts, ListedParts, ResultParts, RewrittenParts

HEADING = "heading"
_FIRST = re.compile(r"\b\d{1,6}\s?(?:-|–|to)\s?$")
"""Matches the first number of a range that ends with the number of items, as in "1-3 of 17"."""


class DependentField(NamedTuple):
    """A ``DependentField`` is a field of a tool's result that may be made of several items. ``field``:
    has its name. ``is_place``: True if it gives places in the list. ``is_in_items``: True if the items
    have it, and it is gone with the last of them. ``line``: the heading, if the field is one."""

    field: ResultField
    is_place: bool = False
    is_in_items: bool = False
    line: str = ""

    def is_changed(self, omitted: Sequence[int], parts: ResultParts, omit: Omit) -> bool:
        """Returns True iff it is not known what the field is without the parts with these indexes."""
        first = int(parts.has_heading)
        gone = [each for each in omitted if each >= first]
        if not gone or (self.is_place and omit == "blank"):
            return False
        is_left = len(gone) < len(parts.texts) - first
        return is_left if self.is_in_items else not (self.line and 0 in omitted)


def dependent_fields(
    parts: ResultParts, call: ToolCall, steady: Steady | None = None
) -> list[DependentField]:
    """Returns the fields of a result that may be made of several items of its list: fields of the items,
    fields beside the list, and the heading. Leaves out those that the user has named as constant
    (``ignore=``, which ``steady`` has). ``call``: the call that had the result."""
    data, steady = _data_in(parts), steady or Steady()
    if data is None or not parts.is_list:
        return []
    found = [*_found(data, call, steady)]
    return [
        each
        for each in found
        if not steady.is_ignored(each.field.path_of(call.name))
        and not (each.line and steady.is_ignored(each.line))
    ]


def _found(data: ListData, call: ToolCall, steady: Steady) -> Iterator[DependentField]:
    for name, is_place in item_columns.columns_made_of_items(data.items, call.name):
        yield DependentField(ResultField(name, None, is_shown=True), is_place, is_in_items=True)
    for name, value in fields_beside.fields_made_of_items(data, call.arguments, steady):
        yield DependentField(ResultField(name, value, is_shown=True))
    if data.heading and not is_independent(data.heading, data.items, call.name, call.arguments, steady):
        yield DependentField(ResultField(HEADING, None, is_shown=True), line=data.line)
    elif data.is_total and item_columns.sums_to(data.items, len(data.items)):
        yield DependentField(ResultField("total", None, is_shown=True), line=data.line)


def _data_in(parts: object) -> ListData | None:
    cut = cut_parts_in(parts)
    if cut is not None:
        return _data_of_text(cut)
    while parts is not None:
        if isinstance(parts, ListedParts):
            return ListData(parts.items)
        if isinstance(parts, EnclosedParts):
            return ListData(parts.inner.items, parts.whole, parts.path)
        if isinstance(parts, RewrittenParts):
            whole, path = listing_in(parts.text)
            return ListData(parts.inner.items, whole, path)
        if isinstance(parts, McpBlocks):
            return _data_of_blocks(parts)
        parts = getattr(parts, "inner", None)
    return None


def _data_of_blocks(parts: McpBlocks) -> ListData:
    fields = mapping_in(parts.structured)
    path = next(((key,) for key, each in fields.items() if is_listed(each)), None)
    return ListData(parts.texts) if path is None else ListData(parts.texts, fields, path)


def _data_of_text(cut: CutParts) -> ListData:
    start, end = cut.heading or (0, 0)
    line, at = cut.text[start:end], list[tuple[int, int]]()
    at += [(one - start, two - start) for one, two in cut.counts if start <= one < end]
    heading = line
    for one, two in sorted(at, reverse=True):
        heading = f"{_FIRST.sub(' ', heading[:one])} {heading[two:]}"
    around = cut.text[: cut.room[0]] + cut.text[cut.room[1] :]
    is_total = bool(cut.counts) and "total" in around.lower()
    items = cut.texts[int(cut.has_heading) :] if cut.data is None else cut.data.items
    whole, path = (None, ()) if cut.data is None else (cut.data.whole, cut.data.path)
    return ListData(items, whole, path, heading.strip(), line.strip(), is_total=is_total)
