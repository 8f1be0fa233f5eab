"""The page of the reference about the JSON of a saved explanation."""

import json
from collections.abc import Iterator
from typing import Any

from tests.documentation.making.places import DOCS

FILE = "schema/explanation.json"


def definitions() -> dict[str, dict[str, Any]]:
    """Each object of the schema by its name, the explanation first."""
    schema = json.loads((DOCS / FILE).read_text(encoding="utf-8"))
    return {schema["title"]: schema, **schema["$defs"]}


def page() -> str:
    """The page, with a table for each object."""
    return (
        "# The JSON of an explanation\n\n`explanation.to_json()`, `rag-rules explain --json` and "
        f'`save("name.json")` write this. The [JSON Schema](../{FILE}) is what `rag-rules schema` '
        "prints, to check a file with.\n" + "".join(_tables())
    )


def _tables() -> Iterator[str]:
    for name, told in definitions().items():
        yield f"\n## `{name}`\n\n"
        if "properties" in told:
            yield "| field | type | required |\n|---|---|---|\n"
            for field, each in told["properties"].items():
                needed = "yes" if field in told.get("required", ()) else ""
                yield f"| `{field}` | {_type(each)} | {needed} |\n"
        else:
            yield f"{_type(told)}\n"


def _type(told: dict[str, Any]) -> str:
    if "$ref" in told:
        name = told["$ref"].rsplit("/", 1)[1]
        return f"[`{name}`](#{name.lower()})"
    if "anyOf" in told:
        return " or ".join(map(_type, told["anyOf"]))
    if "enum" in told or "const" in told:
        return ", ".join(f"`{each}`" for each in told.get("enum", [told.get("const")]))
    if told.get("type") == "array":
        return "list of " + _type(told.get("items") or {})
    return f"`{told.get('type', 'any')}`"
