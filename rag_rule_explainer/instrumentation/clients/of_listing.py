"""This module splits responses of unknown clients that are a dict with one list of results, as an object
or as JSON text."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, cast

from ...errors import InvalidInput
from ...given import Given
from .protocol import Rows
from .reading import TEXT_KEYS, is_listed, listed_like, read_any

_LISTS_OF_TEXTS = frozenset(
    {
        *("chunks", "contexts", "docs", "documents", "hits", "matches", "paragraphs", "passages"),
        *("result", "results", "snippets", "texts"),
    }
)
"""Keys of lists of texts. A list of texts under another key may be tags or keywords of one document."""
_OF_NO_DOCUMENT = frozenset(
    {
        *("collection", "cursor", "index", "kind", "language", "model", "namespace", "next", "object"),
        *("next_cursor", "next_page_token", "q", "query", "question", "request_id", "search", "type"),
        *("search_query", "status", "tool"),
    }
)
"""Keys of texts that do not depend on the results. A text under any other key may be a summary of all
results, which a replay must not show."""
_COUNTS = frozenset(
    {
        *("count", "found", "hit_count", "hits_count", "length", "n_hits", "nhits", "num_hits"),
        *("num_results", "number_of_results", "result_count", "results_count", "returned", "retrieved"),
        *("total", "total_count", "total_found", "total_hits", "total_results"),
    }
)
"""Names of numbers that count the results."""
_OF_THE_REQUEST = frozenset(
    {
        *("elapsed", "elapsed_ms", "k", "limit", "max_results", "n_results", "offset", "page"),
        *("page_size", "per_page", "response_time", "size", "start", "status", "status_code", "time"),
        *("time_ms", "timed_out", "took", "took_ms", "top_k"),
    }
)
"""Names of numbers that say nothing of the results. Under another name there may be the score of a
result, which a replay without this result must not show."""
NOT_WRITTEN_AGAIN = (
    "a search returned JSON text that lists several results, and it cannot be written again with fewer "
    "of them. Have it return the list itself, or JSON as json.dumps writes it; or pass gate(search, "
    "items_of=ItemsOf(take_apart, put_together)) from rag_rule_explainer.instrumentation.clients. If it "
    "is one document, ItemsOf(lambda text: [text], lambda text, kept: kept[0] if kept else '') says so"
)


class _JsonForm(NamedTuple):
    """A ``_JsonForm`` describes the form of a JSON text, such as its spaces, so that another text can be
    written in the same form."""

    indent: int | None
    separators: tuple[str, str] | None
    ensure_ascii: bool

    def write(self, value: object) -> str:
        return json.dumps(
            value, indent=self.indent, separators=self.separators, ensure_ascii=self.ensure_ascii
        )


_FORMS = tuple(
    _JsonForm(indent, separators, ascii_only)
    for ascii_only, (indent, separators) in product(
        (False, True), ((2, None), (None, None), (None, (",", ":")), (4, None), (1, None), (3, None))
    )
)


@dataclass(frozen=True, slots=True)
class Listing:
    """This client splits a dict whose only list holds the results: dicts with a text under a usual key,
    or texts. The other fields may be numbers that count the results or belong to the request, and
    texts such as the query. What counts the results is reduced with them. Messages, which have a role,
    are no results: together they are one document."""

    def rows(self, response: Any) -> Rows | None:
        """Returns one row with the results; None if the response is not such a dict."""
        key = _key_of(response)
        return [list(response[key])] if key is not None and response[key] else None

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a copy of ``like`` with only these results."""
        return with_results(like, cast("str", _key_of(like)), rows[0])

    def read(self, item: Any) -> Given | None:
        """Returns the text, id and metadata of a result."""
        return read_any(item)


@dataclass(frozen=True, slots=True)
class JsonListing:
    """This client splits a JSON text: a list of results, or an object as ``Listing`` splits it. The text
    is written anew in the same form, with the same spaces and escapes."""

    def rows(self, response: Any) -> Rows | None:
        """Returns one row with the results; None if the text is no such JSON. Raises InvalidInput if it
        is written in a form that cannot be written again."""
        parsed = value_in_json(response)
        results = _results_in(parsed)
        if results is None:
            return None
        if _form_of(parsed, response) is None:
            raise InvalidInput(NOT_WRITTEN_AGAIN)
        return [list(results)]

    def response(self, rows: Rows, like: str) -> str:
        """Returns the text for only these results."""
        parsed = value_in_json(like)
        form = cast("_JsonForm", _form_of(parsed, like))
        own = form.write(list(rows[0]) if isinstance(parsed, list) else listing.response(rows, parsed))
        core = like.strip()
        before, after = like.split(core, 1)
        return f"{before}{own}{after}"

    def read(self, item: Any) -> Given | None:
        """Returns the text, id and metadata of a result."""
        return read_any(item)


def with_results(fields: Mapping[str, Any], key: str, row: Sequence[Any]) -> dict[str, Any]:
    """Returns a copy of the fields with only these results under ``key``. Numbers that count the results
    are reduced by the number of those left out."""
    less = len(fields[key]) - len(row)
    counts = {
        name: max(0, each - less)
        for name, each in fields.items()
        if _snake(name) in _COUNTS and isinstance(each, int) and not isinstance(each, bool)
    }
    return {**fields, **counts, key: listed_like(row, fields[key])}


def may_tell_of_results(fields: Mapping[str, Any], key: str) -> bool:
    """Returns True iff a field other than ``key`` holds a text, a list or a dict that may be about single
    results."""
    others = ((name, each) for name, each in fields.items() if name != key and each)
    return any(not isinstance(each, (int, float)) and not _is_silent(name, each) for name, each in others)


def value_in_json(text: object) -> object:
    """Returns the list or object that a text holds as JSON; None if it holds none."""
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _results_in(parsed: object) -> Sequence[Any] | None:
    if isinstance(parsed, list):
        results = cast("list[Any]", parsed)
        return results if all(map(_is_result, results)) else None
    key = _key_of(parsed)
    return None if key is None else cast("dict[str, Any]", parsed)[key]


def _form_of(parsed: object, text: str) -> _JsonForm | None:
    return next((form for form in _FORMS if form.write(parsed) == text.strip()), None)


def _key_of(response: object) -> str | None:
    """Returns the key of the results; None unless the response is a dict with results in which no other
    field may depend on them."""
    if not isinstance(response, dict):
        return None
    fields = cast("dict[Any, Any]", response)
    lists = [name for name, each in fields.items() if is_listed(each)]
    if len(lists) != 1 or not isinstance(lists[0], str):
        return None
    key, results = lists[0], fields[lists[0]]
    as_texts = key in _LISTS_OF_TEXTS and all(isinstance(each, str) for each in results)
    if not (as_texts or all(map(_is_result, results))) or (not results and key not in _LISTS_OF_TEXTS):
        return None
    others = (name for name, each in fields.items() if name != key and not _is_silent(name, each))
    return key if next(others, None) is None else None


def _is_result(each: object) -> bool:
    if not isinstance(each, Mapping):
        return False
    fields = cast("Mapping[str, Any]", each)
    return "role" not in fields and any(isinstance(fields.get(key), str) for key in TEXT_KEYS)


def _is_silent(name: object, value: object) -> bool:
    """Returns True iff the value of a field does not depend on single results."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, (int, float)):
        return _snake(name) in _COUNTS | _OF_THE_REQUEST
    return isinstance(value, str) and (not value or _snake(name) in _OF_NO_DOCUMENT)


def _snake(name: object) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(name)).lower()


listing = Listing()
"""The client for dicts with one list of results."""
json_listing = JsonListing()
"""The client for JSON texts with one list of results."""
