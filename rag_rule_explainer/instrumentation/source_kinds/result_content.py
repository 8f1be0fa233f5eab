"""This module defines the content of a tool's result: the part that a model is shown, with what the
result has beside it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..requests.volatile import Steady
from ..result_field import ResultField
from .failed_calls import emptied_error


def _without_fields(result: Any, _: Sequence[ResultField]) -> Any:
    return result


class ResultContent(NamedTuple):
    """A ``ResultContent`` is the part of a tool's result that a model is shown (``content``). ``put``: a
    function that gets another content, and returns a copy of the result with that content. ``fields``:
    what the result has beside it; ``with_fields``: returns a copy of a result with only these fields."""

    content: Any
    put: Callable[[Any], Any]
    fields: Sequence[ResultField] = ()
    with_fields: Callable[[Any, Sequence[ResultField]], Any] = _without_fields


def as_content(result: Any) -> ResultContent:
    """Returns a ``ResultContent`` whose content is the whole result. It is used for results that a model
    is shown unchanged."""

    def put(content: Any) -> Any:
        return content

    return ResultContent(result, put)


ContentOf = Callable[[Any], ResultContent]
"""A function from the result of a tool, in the framework's own type, to its content."""


def content_of_error(error: Exception) -> ResultContent | None:
    """Returns the text of an error as the content of a result; None if the error cannot be copied without
    its text."""
    left = emptied_error(error)

    def put(text: Any) -> Exception | None:
        return error if text else left

    return None if left is None else ResultContent(str(error), put)


def with_constants(whole: ResultContent, tool: str, steady: Steady) -> ResultContent:
    """Returns the content with those fields marked as constant that the user has named (``ignore=``)."""
    named = (steady.is_ignored(each.path_of(tool)) for each in whole.fields)
    fields = [one._replace(stays=one.stays or so) for one, so in zip(whole.fields, named, strict=True)]
    return whole._replace(fields=tuple(fields))
