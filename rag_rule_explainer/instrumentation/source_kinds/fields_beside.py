"""This module judges the fields that the result of a tool has beside a list: whether they count the items
of the list, are independent of them, or may be made of them.

A field is only independent if something shows it: it repeats an argument of the call, it is a success
marker with the value that success has, or its name says that it describes the request or the page. Any
other field may be made of the items, as "urgent" and "total" may be.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from ..clients.fields import fields_of, is_listed
from ..clients.of_listing import Path, results_at
from ..clients.several import snake
from ..requests.volatile import Steady
from .headings import choices_in
from .item_columns import sums_to
from .list_data import ListData

_COUNTS = re.compile(
    r"n|num|number|len|length|count|total|found|returned|retrieved|"
    r"(?:n|num|number_of|total)_?(?P<after>\w+)|(?P<before>\w+)_(?:count|total)"
)
"""Names of fields that count the items if they are equal to the number of items, and name no other thing
than the items."""
_COUNTED = frozenset(
    {
        *(
            "count",
            "doc",
            "docs",
            "document",
            "documents",
            "element",
            "elements",
            "entry",
            "entries",
            "found",
        ),
        *("hit", "hits", "item", "items", "match", "matches", "object", "objects", "record", "records"),
        *("result", "results", "row", "rows", "total"),
    }
)
"""The words for things of any kind, in the names of counts."""
_OF_ALL_PAGES = re.compile(
    r"total|(?:total|num|n)_?(?:count|found|hits|items|matches|records|results|rows)|(?:item|result)s?_total"
)
"""Names of fields that count the items of all pages of a list."""
_PAGING = re.compile(
    r"(?:current_|per_)?page|page_(?:number|size|index)|limit|offset|per_page|has_(?:more|next|next_page)|"
    r"(?:next|previous|prev)(?:_(?:cursor|page|page_token|token|link|url))?|cursor|top_k|max_results|skip"
)
"""Names of fields that say which page of a list was asked for, or where others are."""
_CURSORS = re.compile(
    r"(?:end_|start_)?cursor|(?:next|previous|prev)(?:_(?:cursor|page|page_token|token|link|url))?"
)
_REQUEST = re.compile(
    r"q|(?:search_|original_)?query|question|search|search_query|search_term|model|engine|object|tool|"
    r"api_version|version|namespace|collection|index|(?:current_|per_)?page|page_(?:number|size|index)|"
    r"limit|max_results|offset|skip|k|top_k|elapsed\w*|took\w*|time_ms|response_time|duration_ms|latency\w*|"
    r"(?:from_)?cache[d]?|timed_out|dry_run"
)
"""Names of fields that describe the request, and say nothing about what was found."""
_KINDS = frozenset({"type", "kind", "source", "lang", "language"})
_KIND_WORDS = frozenset(
    {"array", "collection", "list", "page", "paged", "result", "results", "search", "success", "table"}
)
"""The words of values of ``_KINDS`` that say what has the list."""
_SUCCESS = frozenset({"ok", "success", "succeeded", "successful", "is_success"})
_FAILURES = re.compile(
    r"(?:is_|has_)?errors?|failed|timed_out|has_(?:more|next|next_page)|more|truncated|incomplete_results"
)
"""Names of truth values that are False where nothing failed and nothing is left out, also for fewer
items."""
_OF_SUCCESS = frozenset({"ok", "success", "succeeded", "successful", "200", "200 ok"})
_STATUS = frozenset({"status", "code", "status_code", "http_status", "error_code", "return_code"})
_EMPTY = re.compile(
    r"errors?|error_\w+|warnings?|messages?|details?|meta|metadata|filters?|facets|aggregations|links?|"
    r"suggestions?|answer|images|follow_up_questions|params|arguments|options|sort|order_by|as_of|folder"
)
"""Names of fields that are empty where a search has nothing to say beside what it found."""


def counts_items(fields: Mapping[Any, Any], name: object, items: Sequence[Any], key: object = "") -> bool:
    """Returns True iff a field says how many items there are, or how many there are on all pages. Nothing
    else than the number of items may explain its value. ``fields``: the fields beside the list, or around
    it; ``key``: the name of the field that has the list."""
    value, named, total = fields[name], snake(name), len(items)
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    if value == total:
        found = _COUNTS.fullmatch(named)
        noun = "" if found is None else found["after"] or found["before"] or ""
        is_of_items = found is not None and (not noun or _is_of_items(noun, key))
        return is_of_items and not ("total" in named and sums_to(items, value))
    if value < total or not _OF_ALL_PAGES.fullmatch(named) or sums_to(items, value):
        return False
    siblings = {snake(each) for each in fields if each != name}
    return named != "total" or any(_PAGING.fullmatch(each) for each in siblings)


def fields_made_of_items(data: ListData, arguments: object, steady: Steady) -> Iterator[tuple[str, Any]]:
    """Yields the name and the value of each field beside the list that may be made of its items. The
    fields inside of others have names such as "meta.urgent". ``arguments``: of the call; ``steady``:
    recognises ids of requests."""
    judge = _Judge(data, arguments, steady)
    for depth in range(len(data.path)):
        around = ".".join(data.path[:depth])
        yield from judge.doubted(
            fields_of(results_at(data.whole, data.path[:depth])) or {}, around, data.path[depth]
        )


def counted_at(result: Any, path: Path) -> list[Path]:
    """Returns the path of keys to each number that counts the items of the list at ``path``."""
    found, items = list[Path](), results_at(result, path)
    for place in range(len(path)):
        fields: Mapping[Any, Any] = fields_of(results_at(result, path[:place])) or {}
        counting = (name for name in fields if counts_items(fields, name, items, path[place]))
        found += ((*path[:place], name) for name in counting)
    return found


def _is_of_items(noun: str, key: object) -> bool:
    stem, named = noun.rstrip("s"), snake(key).rstrip("s")
    return noun in _COUNTED or (len(stem) > 2 and (stem in named or named.endswith(stem)))


class _Judge:
    """A ``_Judge`` tells which fields beside one list may be made of its items."""

    def __init__(self, data: ListData, arguments: object, steady: Steady) -> None:
        self._items, self._steady = data.items, steady
        self._given = dict(_leaves(arguments, ""))
        chosen = {each for some in choices_in(arguments) for each in some}
        given = {str(each) for each in self._given.values()} - chosen
        self._texts = {each.strip().lower() for each in given}
        self._held = {str(each) for item in data.items for _, each in _leaves(item, "") if each}

    def doubted(self, fields: Mapping[Any, Any], around: str, key: object) -> Iterator[tuple[str, Any]]:
        """Yields the names and values of the doubted fields. ``around``: the name of the field that has
        these fields; ``key``: the name of the one with the list; "" if none of them has it."""
        for name, value in fields.items():
            at = f"{around}.{name}" if around else str(name)
            if name == key or counts_items(fields, name, self._items, key):
                continue
            if isinstance(value, Mapping) and value:
                yield from self.doubted(cast("Mapping[Any, Any]", value), at, "")
            elif not self._is_independent(snake(name), value, fields):
                yield at, value

    def _is_independent(self, named: str, value: Any, fields: Mapping[Any, Any]) -> bool:
        if value is None or (not value and not isinstance(value, (bool, int, float))):
            known = (_EMPTY, _REQUEST, _PAGING, _CURSORS)
            return named in self._given or any(each.fullmatch(named) for each in known)
        if isinstance(value, bool):
            return self._is_sure_flag(named, value, fields)
        if named in _STATUS:
            return _is_of_success(value)
        return self._repeats_an_argument(named, value) or self._is_of_the_request(named, value)

    def _is_of_the_request(self, named: str, value: Any) -> bool:
        """Returns True iff a text or a number describes the request: by its name, or as an id."""
        if _CURSORS.fullmatch(named):
            return str(value) not in self._held
        if named in _KINDS:
            return {*re.findall(r"[^\W_]+", str(value).lower())} <= _KIND_WORDS
        is_named = _REQUEST.fullmatch(named) is not None
        if isinstance(value, str):
            is_id = self._steady(value) in {"<uuid>", "<call>"} and value not in self._held
            return is_id or is_named
        return is_named and isinstance(value, (int, float)) and not sums_to(self._items, value)

    def _is_sure_flag(self, named: str, value: bool, fields: Mapping[Any, Any]) -> bool:
        if self._given.get(named) is value:
            return True
        if named in {"has_more", "has_next", "has_next_page", "more"} and value:
            return any(_CURSORS.fullmatch(snake(each)) and fields[each] for each in fields)
        if _FAILURES.fullmatch(named):
            return not value
        return (named in _SUCCESS and value) or _REQUEST.fullmatch(named) is not None

    def _repeats_an_argument(self, named: str, value: Any) -> bool:
        if isinstance(value, str):
            return value.strip().lower() in self._texts
        return self._given.get(named) == value


def _is_of_success(value: Any) -> bool:
    if isinstance(value, (int, float)):
        return value == 0 or 200 <= value < 300
    return str(value).strip().lower() in _OF_SUCCESS


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yields the plain values in a value, each with the name of its field."""
    if isinstance(value, Mapping):
        for key, each in cast("Mapping[Any, Any]", value).items():
            yield from _leaves(each, snake(key))
    elif is_listed(value):
        for each in cast("Collection[Any]", value):
            yield from _leaves(each, name)
    elif isinstance(value, (str, int, float)):
        yield name, value
    else:
        for key, each in (fields_of(value) or {}).items():
            if isinstance(each, (str, int, float)):
                yield snake(key), each
