"""This module writes a list that a reader searches by typing. A script does this from data in the page;
without it, the page has the first entries."""

import json
from collections.abc import Sequence
from typing import Any, cast

from markupsafe import Markup

from ...jsonable import encodable
from ...report.html.markup import as_one, joined_markup, raw
from .pages import SCRIPT, and_more

_STATIC = 100
"""The number of entries that are in the page itself."""


def found_by_typing(
    rows: Sequence[Sequence[Any]],
    columns: Sequence[str],
    filters: Sequence[tuple[Any, ...]],
    folder: str,
) -> Markup:
    """Returns a table of the first rows, and all rows as data for the script. The last cell of a row is
    the file of its page."""
    buttons = joined_markup(
        Markup('<option value="{}">{}</option>').format(json.dumps(each[1:]), each[0]) for each in filters
    )
    heads = joined_markup(Markup("<th>{}</th>").format(each) for each in columns)
    body = joined_markup(_row(row, folder) for row in rows[:_STATIC])
    return Markup(
        '<div class="find" hidden><label>Find <input type="search" autocomplete="off" spellcheck="false">'
        '</label><label>Show <select><option value="">All</option>{}</select></label>'
        '<span role="status"></span></div>'
        '<div class="wide"><table class="audited" data-folder="{}"><thead><tr>{}</tr></thead>'
        '<tbody>{}</tbody></table></div><p class="more">{}</p>'
        '<script type="application/json" id="rows">{}</script><script src="{}"></script>'
    ).format(
        buttons,
        folder,
        heads,
        body,
        and_more(len(rows) - _STATIC, f"{folder}.csv"),
        embedded(rows),
        SCRIPT,
    )


def _row(row: Sequence[Any], folder: str) -> Markup:
    *cells, file = row
    first = Markup('<td><a href="{}/{}">{}</a></td>').format(folder, file, as_one(str(cells[0])))
    return Markup("<tr>{}{}</tr>").format(
        first, joined_markup(Markup("<td>{}</td>").format(_said(each)) for each in cells[1:])
    )


def _said(cell: Any) -> Markup:
    return as_one(f"{cell:,}" if isinstance(cell, int) else str(cell))


def embedded(value: Any) -> Markup:
    """Returns a value as JSON for a ``script`` element. It contains no ``<``, so no HTML parser finds the
    end of the element inside it."""
    text = json.dumps(_plain(value), separators=(",", ":"))
    return raw(text.replace("<", "\\u003c"))


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in cast("Sequence[Any]", value)]
    return value
