"""This module splits responses of unknown clients that are a dict or an object with one list of
results."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...sources.given import Given
from .fields import fields_of, is_listed, listed_like, mapping_in, with_fields
from .protocol import Rows
from .reading import read_any
from .several import LISTS_OF_TEXTS, are_messages, is_passage, snake

_LISTS_OF_RESULTS = LISTS_OF_TEXTS | {"answers", "data", "entries", "found", "items", "records", "rows"}
"""Keys of lists of results. An empty list under such a key means that nothing was found."""
_OF_NO_DOCUMENT = frozenset(
    {
        *("api_version", "collection", "cursor", "engine", "id", "index", "kind", "lang", "language"),
        *("model", "namespace", "next", "next_cursor", "next_page_token", "object", "q", "query"),
        *("question", "request_id", "search", "search_query", "source", "status", "tool", "trace_id"),
        *("type", "version"),
    }
)
"""Keys of texts that do not depend on the results. A text under any other key may be a summary of all
results, so a replay that omits a result must not be shown it."""
_COUNTS = frozenset(
    {
        *("count", "found", "hit_count", "hits_count", "length", "n_hits", "nhits", "num_found"),
        *("num_hits", "num_results", "number_of_results", "result_count", "results_count", "returned"),
        *("retrieved", "total", "total_count", "total_found", "total_hits", "total_results"),
    }
)
"""Names of fields whose number is the number of results."""
_MAY_COUNT = re.compile(r"n|num|number|len|(?:n|num|number_of|total)_\w+|\w+_(?:count|total)")
"""Matches names of fields, such as "num_docs", whose number may count the results. It counts them if it
is equal to the number of results."""
_OF_THE_REQUEST = frozenset(
    {
        *("code", "elapsed", "elapsed_ms", "k", "limit", "max_results", "n_results", "offset", "page"),
        *("page_size", "per_page", "response_time", "size", "start", "status", "status_code", "time"),
        *("time_ms", "timed_out", "took", "took_ms", "top_k", "version"),
    }
)
"""Names of fields whose number does not depend on the results. A number under any other name may be the
score of a result, so a replay that omits this result must not be shown it."""

Path = tuple[str, ...]
"""The keys that lead from a response to the list of its results."""
IsCount = Callable[[Mapping[Any, Any], object, Sequence[Any], object], bool]
"""A function that returns True iff a field counts the results. It is called with the fields that have it,
its name, the results, and the name of the field that has them."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A ``Listing`` is a client that splits a dict or an object with one list of results, directly or
    inside another dict. The results are texts, or dicts or objects with a text.

    The other fields may be numbers that count the results, numbers that the search was given (such as a
    limit), and texts such as the query. If results are omitted, the numbers that count them are reduced.
    Chat messages, which have a role, are not results: all of them together are one document.
    """

    def rows(self, response: Any) -> Rows | None:
        """Returns a single row that has all results. Returns None if the response is not a dict or an
        object with exactly one list of results, or if it cannot be copied with fewer results."""
        path = path_of(response)
        if path is None:
            return None
        results = list(results_at(response, path))
        try:
            with_results(response, path, results)
        except Exception:  # an object of this class cannot be copied with fewer results
            return None
        return [results]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a copy of the response ``like`` with only the results in ``rows``."""
        return with_results(like, cast("Path", path_of(like)), rows[0])

    def read(self, item: Any) -> Given | None:
        """Returns the text, id and metadata of a result (a text, a dict or an object). If no single text
        can be read from the result, returns None or a ``Given`` whose text is None."""
        return read_any(item)


def path_of(response: Any, *, of_any_dicts: bool = False, depth: int = 3) -> Path | None:
    """Returns the keys that lead to the list of results. Returns None if the response is no dict or
    object with exactly one such list, or if one of its other fields may depend on the results.

    ``of_any_dicts``: True if every dict counts as a result, even one without a text under a usual key.
    ``depth``: the greatest number of dicts between the response and the list.
    """
    fields = fields_of(response)
    if fields is None or depth < 0:
        return None
    filled = [name for name, each in fields.items() if not is_silent(name, each)]
    if not filled:
        return _path_to_nothing(fields)
    name = filled[0]
    if len(filled) > 1 or not isinstance(name, str):
        return None
    if is_listed(fields[name]):
        return (name,) if _are_results(name, fields[name], of_any_dicts=of_any_dicts) else None
    inside = path_of(fields[name], of_any_dicts=of_any_dicts, depth=depth - 1)
    return None if inside is None else (name, *inside)


def results_at(response: Any, path: Path) -> Sequence[Any]:
    """Returns the list of results in the response. ``path``: the keys that lead to this list."""
    for name in path:
        response = (fields_of(response) or {})[name]
    return response


def _has_name_of_count(fields: Mapping[Any, Any], name: object, *_: object) -> bool:
    return is_a_count(name, fields[name])


def with_results(
    response: Any, path: Path, row: Sequence[Any], is_count: IsCount = _has_name_of_count
) -> Any:
    """Returns a copy of the response with only the results in ``row``. ``path``: the keys that lead to
    the list of results.

    Numbers that count the results are reduced by the number of omitted results. ``is_count``: says which
    numbers these are; by default, those with the name of a count.
    """
    if not path:
        return listed_like(row, response)
    fields, results = fields_of(response) or {}, results_at(response, path)
    counts = {
        name: max(0, each - len(results) + len(row))
        for name, each in fields.items()
        if is_count(fields, name, results, path[0])
    }
    inside = with_results(fields[path[0]], path[1:], row, is_count)
    return with_fields(response, **{**counts, path[0]: inside})


def may_describe_results(fields: Mapping[str, Any], key: str) -> bool:
    """Returns True iff a field other than ``key`` is a text, a list or a dict that may describe some of
    the results. A replay that omits results must not be shown this field."""
    others = ((name, each) for name, each in fields.items() if name != key and each)
    return any(not isinstance(each, (int, float)) and not is_silent(name, each) for name, each in others)


def has_text(each: object) -> bool:
    """Returns True iff ``each`` is a result: a dict, an object or a row with a text. A chat message is
    not a result."""
    if isinstance(each, str) or are_messages(each):
        return False
    given = read_any(each)
    if given is None or not isinstance(given.text, str):
        return False
    # A row whose columns have no names may be a list of ids. So it is a result only if one of its texts
    # is long.
    return not is_listed(each) or is_passage(given.text)


def _are_results(name: str, results: Sequence[Any], *, of_any_dicts: bool) -> bool:
    if all(isinstance(each, str) for each in results):
        return snake(name) in LISTS_OF_TEXTS or all(map(is_passage, results))
    if of_any_dicts and all(mapping_in(each) and not are_messages(each) for each in results):
        return True
    return all(map(has_text, results))


def _path_to_nothing(fields: Mapping[Any, Any], depth: int = 2) -> Path | None:
    for name, each in fields.items():
        if is_listed(each) and snake(name) in _LISTS_OF_RESULTS:
            return (name,)
        inside = _path_to_nothing(mapping_in(each), depth - 1) if depth else None
        if inside is not None:
            return (name, *inside)
    return None


def counts_results(name: object, each: object, total: int) -> bool:
    """Returns True iff the field ``name`` of a tool's result, with the value ``each``, says how many
    results there are. ``total``: the number of results."""
    named = snake(name)
    may_count = named not in _OF_THE_REQUEST and _MAY_COUNT.fullmatch(named) is not None
    is_number = isinstance(each, int) and not isinstance(each, bool)
    return is_a_count(name, each) or (is_number and each == total and may_count)


def is_a_count(name: object, each: object) -> bool:
    """Returns True iff ``each`` is a number, and a field named ``name`` always says how many results
    there are."""
    return snake(name) in _COUNTS and isinstance(each, int) and not isinstance(each, bool)


def is_silent(name: object, value: object) -> bool:
    """Returns True iff the value of a field with this name says nothing about single results, so that a
    replay that omits some results may be shown the field."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, (int, float)):
        return snake(name) in _COUNTS | _OF_THE_REQUEST
    if isinstance(value, str):
        return not value or snake(name) in _OF_NO_DOCUMENT
    if isinstance(value, Mapping):
        inside = cast("Mapping[Any, Any]", value)
        return all(is_silent(key, each) and not is_a_count(key, each) for key, each in inside.items())
    return is_listed(value) and not value


listing = Listing()
"""The client for dicts and objects with one list of results."""
