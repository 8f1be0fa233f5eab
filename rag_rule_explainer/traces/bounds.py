"""This module limits how much of a trace is read, because traces are untrusted."""

import json
from typing import Any

from pydantic_core import from_json

DEEPEST = 100
"""The maximum depth of nested lists and objects in one record (such as a span) of a trace file."""
MOST_VALUES = 500_000
"""The maximum number of values in one record (such as a span) of a trace file."""
LONGEST_RECORD = 32 << 20
"""The maximum number of characters of all texts in one record (such as a span) of a trace file."""
LARGEST_TRACE = 128 << 20
"""The maximum number of characters of all records (such as spans) of one trace."""
MOST_SPANS = 100_000
"""The maximum number of spans of one trace."""
MOST_FILES = 10_000
"""The maximum number of files that are read from a folder."""
_LONGEST_TEXT = 16 << 20


def as_data(value: Any) -> Any:
    """Returns the data in a text that is a JSON object or list; any other value unchanged.

    Tracers write structured values as texts. A text that is too long, or nested too deeply, stays a text.
    """
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        return value
    begun = value[:64].lstrip()
    if not begun.startswith(("{", "[", '"')):
        return value
    try:
        return decoded_json(value)
    except ValueError:
        return value


def decoded_json(written: str | bytes) -> Any:
    """Returns the data in a text of JSON. The text may contain halves of surrogate pairs, as texts do
    that were cut within an emoji. Raises ValueError if the text is no JSON, or nested too deeply."""
    try:
        return from_json(written)
    except ValueError:
        half = b"\\ud" if isinstance(written, bytes) else "\\ud"
        if half not in written.lower():  # pyright: ignore[reportOperatorIssue] -- both are texts, or both are bytes
            raise
    try:
        return json.loads(written)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def as_structure(value: Any) -> Any:
    """Returns the list or the object in a text that is JSON; any other value unchanged. Unlike
    ``as_data``, this function returns a text in quotes unchanged, because users may put quotes around
    their question."""
    found = as_data(value)
    return value if isinstance(found, str) else found
