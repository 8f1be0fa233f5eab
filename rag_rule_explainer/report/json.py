"""This module lays the whole explanation out as JSON, from which it can be read again."""

import json
from collections.abc import Iterator

from ..explanation.explanation import Explanation
from .form import ReportForm


def json_lines(explanation: Explanation) -> Iterator[str]:
    """Yields the JSON line by line. It is ASCII, which can be written in every encoding; control
    characters are escaped."""
    yield from json.dumps(explanation.model_dump(mode="json"), indent=2).splitlines()


JSON = ReportForm("json", json_lines, holds="everything")
