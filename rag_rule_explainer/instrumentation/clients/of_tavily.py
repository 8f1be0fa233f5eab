"""This module splits responses of Tavily. They hold results, and may hold an answer that Tavily wrote
from the results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...sources.given import Given
from .fields import is_listed, with_fields
from .protocol import Rows
from .reading import read_fields

_TEXTS = ("raw_content", "content")
_ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Tavily:
    """This client splits the responses of ``search``, ``extract`` and ``crawl``. An item is a result,
    which is a dict.

    An answer that Tavily wrote itself (``include_answer``) depends on all results. It is therefore a
    separate source, with the id ``answer``. Images belong to no single result, so they are never omitted.
    """

    def rows(self, response: Any) -> Rows | None:
        """Returns a single row that has all results. If Tavily wrote an answer itself, the answer is the
        last item of the row. Returns None if the response was not returned by Tavily."""
        if not isinstance(response, dict):
            return None
        fields = cast("dict[str, Any]", response)
        results: object = fields.get("results")
        if not is_listed(results) or not all(map(_is_result, cast("Sequence[object]", results))):
            return None
        if not results and "response_time" not in fields:
            return None
        answer = [{_ANSWER: fields[_ANSWER]}] if fields.get(_ANSWER) else []
        return [[*cast("Sequence[object]", results), *answer]]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a copy of the response ``like`` with only the results in ``rows``. An answer that
        Tavily wrote itself is one of the items; if it is not in ``rows``, ``answer`` is None in the
        copy."""
        results = [each for each in rows[0] if _is_result(each)]
        answers = [each[_ANSWER] for each in rows[0] if not _is_result(each)]
        own = {_ANSWER: answers[0] if answers else None} if like.get(_ANSWER) or answers else {}
        return with_fields(like, results=results, **own)

    def read(self, item: Any) -> Given | None:
        """Returns the text of a result: the full text of the page if the response has it, otherwise the
        passage that the search found. The text is None if the response has neither."""
        if not _is_result(item):
            return Given(item[_ANSWER], _ANSWER, {})
        key = next((key for key in _TEXTS if isinstance(item.get(key), str) and item[key]), None)
        return read_fields(item, text=key)


def _is_result(each: object) -> bool:
    if not isinstance(each, Mapping):
        return False
    fields = cast("Mapping[str, Any]", each)
    return "url" in fields and any(key in fields for key in _TEXTS)


tavily = Tavily()
"""The client for responses of Tavily."""
