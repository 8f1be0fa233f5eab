"""This module writes a list that a reader can search by typing. The page of the list holds its entries as
data, and a script in the page searches these data. If the browser runs no scripts, the page shows the
first entries only."""

import json
from collections.abc import Sequence
from typing import Any, cast

from markupsafe import Markup

from ...printable import encodable
from ...report.html.markup import as_one, joined_markup, raw
from .pages import SCRIPT, and_more

_STATIC = 100
"""The maximum number of entries that the table of a page shows. The page also holds all entries as data,
in which its script searches."""
_SHORT = 20


def found_by_typing(
    rows: Sequence[Sequence[Any]],
    columns: Sequence[str],
    filters: Sequence[tuple[Any, ...]],
    folder: str,
) -> Markup:
    """Returns a table of the first rows, and all rows as data for the script of the page.

    ``rows``: the cells of each row. The last cell is the name of the row's own page, a file in
    ``folder``. ``columns``: the headings. ``filters``: for each filter its label, the number of a column
    and, if the filter has one, the value that the column must have.
    """
    buttons = joined_markup(
        Markup('<option value="{}">{}</option>').format(json.dumps(each[1:]), each[0]) for each in filters
    )
    kinds = [_kind(column, rows) for column in range(len(columns))]
    heads = joined_markup(
        Markup('<th class="{}">{}</th>').format(*each) for each in zip(kinds, columns, strict=True)
    )
    body = joined_markup(_row(row, folder, kinds) for row in rows[:_STATIC])
    return Markup(
        '<div class="find" hidden><label>Find <input type="search" autocomplete="off" spellcheck="false">'
        '</label><label>Show <select><option value="">All</option>{}</select></label>'
        '<span role="status"></span></div>'
        '<div class="wide"><table class="audited" data-folder="{}"><thead><tr>{}</tr></thead>'
        '<tbody>{}</tbody></table></div><div class="more">{}</div>'
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


def _kind(column: int, rows: Sequence[Sequence[Any]]) -> str:
    """Returns the CSS class of a column: "words" for the first column and for long texts, which may be
    broken into lines; "figure" for all other columns."""
    longest = max((len(str(row[column])) for row in rows), default=0)
    return "words" if not column or longest > _SHORT else "figure"


def _row(row: Sequence[Any], folder: str, kinds: Sequence[str]) -> Markup:
    *cells, file = row
    first = Markup('<td class="words"><a href="{}/{}">{}</a></td>').format(
        folder, file, as_one(str(cells[0]))
    )
    rest = zip(kinds[1:], map(_said, cells[1:]), strict=True)
    return Markup("<tr>{}{}</tr>").format(
        first, joined_markup(Markup('<td class="{}">{}</td>').format(*each) for each in rest)
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
