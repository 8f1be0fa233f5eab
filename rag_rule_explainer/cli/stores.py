"""This module runs ``rag-rules store``, which lists, prunes and exports the content of a store.

Texts from a store are untrusted.
"""

import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ..printable import printable
from .screens import ScreenCommand, ScreenGroup
from .terminal import print_json, print_lines

if TYPE_CHECKING:
    from ..storing.maintenance import NamespaceInfo, StoreInfo

# The functions below import the package ``storing`` only when they run, so that other commands do not
# have to load SQLAlchemy.

store = typer.Typer(
    name="store", cls=ScreenGroup, help="Look at a store of paid answers, prune it, export it."
)

Url = Annotated[str, typer.Argument(metavar="URL", help="The path of a SQLite file, or postgresql://…")]
Namespace = Annotated[str | None, typer.Option(help="Only what is in this namespace.")]
Age = Annotated[float | None, typer.Option(min=0.0, help="Only what is older than so many days.")]
All = Annotated[bool, typer.Option("--all", help="Prune everything, of every namespace and age.")]


@store.command("info", cls=ScreenCommand)
def _info(url: Url) -> None:
    """Show what a store holds, by namespace."""
    from ..storing.maintenance import info

    print_lines(_lines(info(url)))


@store.command("prune", cls=ScreenCommand)
def _prune(
    url: Url,
    namespace: Namespace = None,
    older_than_days: Age = None,
    all: All = False,  # noqa: A002 -- the parameter has the name of the option
) -> None:
    """Delete answers and judgements. They were paid for: export them first."""
    from ..storing.maintenance import prune

    pruned = prune(url, namespace, older_than_days, everything=all)
    print_lines([f"pruned {_count(pruned.answers, 'answer')}, {_count(pruned.judgements, 'judgement')}"])


@store.command("export", cls=ScreenCommand)
def _export(url: Url, namespace: Namespace = None) -> None:
    """Print every answer and judgement as a line of JSON."""
    from ..storing.maintenance import export

    for record in export(url, namespace):
        # ``dumps`` writes ASCII and escapes control characters, so the output suits every encoding and
        # terminal.
        print_json(json.dumps(record))


def _lines(found: "StoreInfo") -> list[Text | str]:
    size = "" if found.size is None else f", {found.size:,} bytes"
    head = f"{printable(found.url)}: schema {found.schema}{size}"
    return (
        [head, *map(_line, found.namespaces)] if found.namespaces else [head, "  nothing is stored yet"]
    )


def _line(space: "NamespaceInfo") -> str:
    counts = (
        _count(space.answers, "answer"),
        f"to {_count(space.questions, 'question')}",
        f"and {_count(space.judgements, 'judgement')}",
        f"({_count(space.claims, 'answer')} being made)" if space.claims else "",
    )
    times = "" if space.oldest is None else f", {_day(space.oldest)} to {_day(space.newest)}"
    return f"  {printable(space.namespace)}: {' '.join(filter(None, counts))}{times}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _day(seconds: float | None) -> str:
    try:
        return datetime.fromtimestamp(seconds or 0.0, timezone.utc).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return "a time that is none"
