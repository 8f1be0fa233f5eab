"""This module makes the JSON Schema of saved explanations from the pydantic model ``Explanation``."""

import json

from ..explanation.explanation import SCHEMA_VERSION, Explanation


def explanation_schema() -> str:
    """Returns the JSON Schema (draft 2020-12) of a saved explanation, as text that ends in a newline."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:rag-rule-explainer:explanation:{SCHEMA_VERSION}",
        **Explanation.model_json_schema(mode="validation"),
    }
    return f"{json.dumps(schema, indent=1, sort_keys=True)}\n"
