"""This module runs ``rag-rules schema``, which prints the JSON Schema of saved explanations."""

from pathlib import Path
from typing import Annotated

import typer

from ..report.json_schema import explanation_schema
from ..report.saving import write_whole
from .terminal import print_json

SchemaFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write it into this file, not to stdout.")
]


def print_schema(out: SchemaFile = None) -> None:
    """Print the JSON Schema of saved explanations, as --json and save() write."""
    schema = explanation_schema()
    if out is None:
        print_json(schema.removesuffix("\n"))
    else:
        write_whole(out, schema)
