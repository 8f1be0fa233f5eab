"""This module splits the result of a tool into parts, and makes a result without some of them.

A list has its items as parts; so have a dict and an object with one list of results, and texts that
contain a list: JSON, what Python prints of one, and lines that begin with a dash or a number, as in YAML
and Markdown. Any other result is one part.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, cast

from ...errors import InvalidInput
from ..clients.of_listing import listing
from ..clients.of_text import json_listing
from ..clients.protocol import Client
from .kinds import Omit
from .mcp_parts import parts_of_mcp
from .part_texts import PLAIN, blanked, emptied, text_block, text_of_part, value_of_json

_MARK = re.compile(r"(?:[-*•]|\d{1,4}[.)])[ \t]+(?=\S)")


class ResultParts(Protocol):
    """A ``ResultParts`` holds the parts of one result."""

    @property
    def is_list(self) -> bool:
        """Returns True iff the parts are items of a list."""
        ...

    @property
    def texts(self) -> Sequence[str]:
        """Returns the text of each part, in order."""
        ...

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the result without the parts at these places (counted from 0), or, with "blank", with
        these parts blanked. A result without any part is empty, and has the type of the whole."""
        ...


@dataclass(frozen=True, slots=True)
class ListedParts:
    """The parts in a ``ListedParts`` are the items of a list or a tuple."""

    items: Sequence[Any]
    is_list: bool = True

    @property
    def texts(self) -> Sequence[str]:
        """Returns the text of each item."""
        return [text_of_part(each) for each in self.items]

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns a list, or a tuple, of the same type with the other items."""
        left = [
            blanked(each) if place in omitted else each
            for place, each in enumerate(self.items)
            if omit == "blank" or place not in omitted
        ]
        return tuple(left) if isinstance(self.items, tuple) else left


@dataclass(frozen=True, slots=True)
class WrittenParts:
    """The parts in a ``WrittenParts`` are the items of a JSON list. ``text``: the JSON; ``spans``: where
    its items begin and end."""

    text: str
    values: Sequence[Any]
    spans: Sequence[tuple[int, int]]
    is_list: bool = True

    @property
    def texts(self) -> Sequence[str]:
        """Returns the text of each item."""
        return [text_of_part(each) for each in self.values]

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the JSON with the other items, written and separated as before."""
        written = [
            json.dumps(blanked(value), ensure_ascii=False)
            if place in omitted
            else self.text[slice(*self.spans[place])]
            for place, value in enumerate(self.values)
            if omit == "blank" or place not in omitted
        ]
        if not written:
            return "[]"
        (start, end), *others = self.spans
        between = self.text[end : others[0][0]] if others else ""
        return self.text[:start] + between.join(written) + self.text[self.spans[-1][1] :]


@dataclass(frozen=True, slots=True)
class EnclosedParts:
    """The parts in an ``EnclosedParts`` are the items of a list inside another object, which a client can
    take apart."""

    client: Client
    items: Sequence[Any]
    like: Any
    is_list: bool = True

    @property
    def texts(self) -> Sequence[str]:
        """Returns the text of each item."""
        return [text_of_part(each) for each in self.items]

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns what encloses the list, with the other items in it."""
        if not omitted:
            return self.like
        left = ListedParts(list(self.items)).without(omitted, omit)
        return self.client.response([left], self.like)


@dataclass(frozen=True, slots=True)
class LinedParts:
    """The parts in a ``LinedParts`` are the points of a list in a text, each with the lines that are
    indented below it. ``points``: their text as it stands there."""

    points: Sequence[str]
    is_list: bool = True

    @property
    def texts(self) -> Sequence[str]:
        """Returns the text of each point, without the mark before it."""
        return [_MARK.sub("", each, count=1).strip() for each in self.points]

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the text with the other points; of a blanked one, only its mark is left."""
        kept = ((place, each) for place, each in enumerate(self.points))
        if omit == "blank":
            return "".join(f"{each.split()[0]}\n" if place in omitted else each for place, each in kept)
        return "".join(each for place, each in kept if place not in omitted)


@dataclass(frozen=True, slots=True)
class OnePart:
    """The only part in a ``OnePart`` is the whole result."""

    value: Any
    is_list: bool = False

    @property
    def texts(self) -> Sequence[str]:
        """Returns the text of the result."""
        return [text_of_part(self.value)]

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        """Returns the result itself, or an empty or a blanked one of its type."""
        if not omitted:
            return self.value
        return blanked(self.value) if omit == "blank" else emptied(self.value)


class _PartsInBlock(NamedTuple):
    """The parts in a ``_PartsInBlock`` are those of the text in the only block of a message's content."""

    inner: ResultParts
    block: Mapping[str, Any]
    is_list: bool

    @property
    def texts(self) -> Sequence[str]:
        return self.inner.texts

    def without(self, omitted: Collection[int], omit: Omit) -> Any:
        return [{**self.block, "text": self.inner.without(omitted, omit)}]


def parts_of_result(result: Any) -> ResultParts | None:
    """Returns the parts of a result; None if it is empty, so that nothing of it can be omitted."""
    if isinstance(result, str):
        return _parts_of_text(result) if result.strip() else None
    if type(result) in {list, tuple}:
        items = cast("Sequence[Any]", result)
        if not items:
            return None
        block = text_block(items[0]) if len(items) == 1 else None
        if block is not None:
            inner = parts_of_result(block["text"])
            return None if inner is None else _PartsInBlock(inner, block, inner.is_list)
        return OnePart(items) if all(isinstance(each, PLAIN) for each in items) else ListedParts(items)
    if result is None or (not result and isinstance(result, (Mapping, set, frozenset, bytes))):
        return None
    return parts_of_mcp(result, parts_of_result) or _enclosed(listing, result) or OnePart(result)


def _enclosed(client: Client, result: Any) -> ResultParts | None:
    try:
        rows = client.rows(result)
    except InvalidInput:  # it lists several results, and cannot be written with fewer of them
        return None
    return EnclosedParts(client, rows[0], result) if rows is not None and rows[0] else None


def _parts_of_text(text: str) -> ResultParts:
    values: Any = value_of_json(text) if text.lstrip().startswith("[") else None
    if not isinstance(values, list):
        return _enclosed(json_listing, text) or _points(text) or OnePart(text)
    listed, spans = cast("list[Any]", values), list[tuple[int, int]]()
    if all(isinstance(each, PLAIN) for each in listed):
        return OnePart(text)
    place, decoder = text.index("[") + 1, json.JSONDecoder()
    for _ in listed:
        while text[place] in " \t\n\r,":
            place += 1
        _, end = decoder.raw_decode(text, place)
        spans.append((place, end))
        place = end
    return WrittenParts(text, listed, spans)


def _points(text: str) -> ResultParts | None:
    lines = text.splitlines(keepends=True)
    marks = [_MARK.match(each) for each in lines]
    beginning = [place for place, mark in enumerate(marks) if mark is not None]
    others = (line for line, mark in zip(lines, marks, strict=True) if mark is None)
    if (
        len(beginning) < 2
        or beginning[0]
        or any(each.strip() and not each[0].isspace() for each in others)
    ):
        return None
    ends = [*beginning[1:], len(lines)]
    return LinedParts(["".join(lines[n:end]) for n, end in zip(beginning, ends, strict=True)])
