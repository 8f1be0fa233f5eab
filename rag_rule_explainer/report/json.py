"""This module writes the whole explanation as JSON, from which ``load`` can read it again."""

import json

from ..explanation.explanation import Explanation
from .form import ReportForm


def as_json_text(explanation: Explanation) -> str:
    """Returns the explanation as JSON. The JSON is ASCII, so it can be written in every encoding. Control
    characters are escaped."""
    return f"{json.dumps(explanation.model_dump(mode='json'), indent=2)}\n"


JSON = ReportForm("json", as_json_text, (".json",), "application/json")
