"""This module defines the options for the form of a result, such as JSON, and for the file into which it
is written."""

from pathlib import Path
from typing import Annotated

import typer

from ..report import FORMS
from .options import place


def file_to_write(written: str) -> Path | None:
    """Returns the file for a result; None for "-", which means stdout."""
    return None if written == "-" else place(written)


FormatOption = Annotated[
    str | None,
    typer.Option("--format", metavar="FORM", help=f"Print it as one of: {', '.join(FORMS)}."),
]
ShortFormatOption = Annotated[
    str | None, typer.Option("--format", metavar="FORM", help="Print it as one of: text, markdown, json.")
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        parser=file_to_write,
        help="Write it into this file instead; without --format, in the form that its name ends in.",
    ),
]
LegendOption = Annotated[bool, typer.Option("--legend", help="Say at the end how to read it.")]
SavedFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="What explain wrote, as JSON or as an HTML report.")
]
