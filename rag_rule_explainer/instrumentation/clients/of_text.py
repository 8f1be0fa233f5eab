"""This module splits texts that contain a list of results, as JSON or in another known format."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...errors import InvalidInput
from ...sources.given import Given
from .fields import has_usual_text, is_listed, mapping_in
from .of_listing import Path, has_text, path_of, results_at, with_results
from .protocol import Rows
from .reading import read_any
from .several import are_messages, is_passage, lists_results
from .written import WrittenValue, written_in

NOT_WRITTEN_AGAIN = (
    "a search returned JSON text that lists several results, and it cannot be written again with fewer "
    "of them. Have it return the list itself, or JSON as json.dumps writes it, with nothing beside the "
    "list that tells of its results; or pass gate(search, items_of=ItemsOf(take_apart, put_together)) "
    "from rag_rule_explainer.instrumentation.clients. If it is one document, gate(search, text_of=str) "
    "says so"
)
_LABEL = re.compile(r"\W*(?:[^\W\d]+\W*){0,5}")
"""Matches at most five words without a number. Such words before a list of results do not depend on
single results, so every replay may be shown them."""
_OF_RESULTS = re.compile(r"\b(?:documents|found|hits|matches|passages|results|sources)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JsonListing:
    """This client splits a text into search results. The text contains a list of results, or a dict that
    contains such a list and that the client ``Listing`` can split.

    The text may be JSON, lines of JSON, a Markdown code block with JSON, JSON inside a JSON string, or
    the ``repr`` of a list. The text that a replay gets has the same format as the original one, with the
    same spaces and escapes.
    """

    def rows(self, response: Any) -> Rows | None:
        """Returns a single row that has all results; None if the text has none of these formats. Raises
        InvalidInput if the text lists results but cannot be written again with fewer results."""
        written = written_in(response)
        if written is None:
            return None
        results = _results_in(written)
        if results is not None and written.write is not None and _is_label(written):
            return [list(results)]
        if written.alone and (results if results is not None else lists_results(written.value)):
            raise InvalidInput(NOT_WRITTEN_AGAIN)
        return None

    def response(self, rows: Rows, like: str) -> str:
        """Returns a text in the format of the original text ``like`` with only the results in
        ``rows``."""
        written = cast("WrittenValue", written_in(like))
        value, row = written.value, list(rows[0])
        if is_listed(value):
            return written.text_for(tuple(row) if isinstance(value, tuple) else row)
        path = path_of(value, of_any_dicts=written.alone)
        return written.text_for(with_results(value, path or (), row))

    def read(self, item: Any) -> Given | None:
        """Returns the text, id and metadata of a result; never None. If the result has no text under a
        usual key, its text is the whole result as JSON."""
        given = read_any(item)
        if given is not None and isinstance(given.text, str):
            return given
        return Given(json.dumps(item, ensure_ascii=False), None, {})


def listing_in(text: str) -> tuple[Any, Path]:
    """Returns the value in a text that ``JsonListing`` can split, and the keys that lead to its list; an
    empty path if the value is the list."""
    written = cast("WrittenValue", written_in(text))
    path = None if is_listed(written.value) else path_of(written.value, of_any_dicts=written.alone)
    return written.value, path or ()


def reads_several(text: str) -> bool:
    """Returns True iff the JSON in the text seems to contain several results. If there are words around
    the JSON, it may be only an example in a document; then only dicts with a text count as results."""
    written = written_in(text)
    if written is None:
        return False
    results = _results_in(written)
    if results is not None:
        return len(results) > 1
    return lists_results(written.value) and (written.alone or _has_texts(written.value))


def _has_texts(value: Any, depth: int = 3) -> bool:
    inside = value if is_listed(value) else mapping_in(value).values()
    if is_listed(value) and sum(_is_result(each, alone=False) for each in inside) > 1:
        return True
    return depth > 0 and any(_has_texts(each, depth - 1) for each in inside)


def _results_in(written: WrittenValue) -> Sequence[Any] | None:
    value = written.value
    if not is_listed(value):
        path = path_of(value, of_any_dicts=written.alone)
        return None if path is None else results_at(value, path)
    listed = cast("Sequence[Any]", value)
    return listed if all(_is_result(each, alone=written.alone) for each in listed) else None


def _is_result(each: Any, *, alone: bool) -> bool:
    """Returns True iff ``each``, an item of a list, may be a result. ``alone``: False if there are words
    around the list. The list may then be only an example in a document, so a result must have a text
    under a usual key."""
    if isinstance(each, str):
        return alone or is_passage(each)
    if are_messages(each):
        return False
    return bool(alone and mapping_in(each)) or (
        has_text(each) and (alone or has_usual_text(mapping_in(each)))
    )


def _is_label(written: WrittenValue) -> bool:
    before, after = written.before.replace("```json", ""), written.after.strip()
    named = bool(written.value) or written.alone or "```" in after or _OF_RESULTS.search(before)
    return bool(named) and _LABEL.fullmatch(before) is not None and after in {"", "```"}


json_listing = JsonListing()
"""The client for texts that contain one list of results."""
