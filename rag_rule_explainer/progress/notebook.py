"""This module shows progress in notebooks, as HTML without scripts, which it updates in place."""

import sys
from collections.abc import Sequence
from html import escape
from importlib import import_module
from typing import Any

from .wording import WAITING, Row, Tone, WordedPart

NOTEBOOK_SECONDS = 0.2
"""The number of seconds between two updates."""

_MOST_ROWS = 20

# These styles are readable on light and on dark pages: greys are half transparent, text inherits its
# colour, and coloured text has a background of its own.
_FRAME = "max-width:60em;font-size:90%;line-height:1.5;font-variant-numeric:tabular-nums"
_TRACK = "height:.5em;border-radius:.25em;overflow:hidden;background:rgba(128,128,128,.3)"
_UNDER_WAY, _DONE = "#3b82d0", "#2e9d57"
_BADGE = "padding:0 .4em;border-radius:.3em;color:#fff;background:"
_STYLES = {Tone.NOTABLE: f"{_BADGE}#7a5200", Tone.BAD: f"{_BADGE}#b3261e"}


def in_notebook() -> bool:
    """Returns True iff the process is a Jupyter kernel. Does not import IPython, which takes long."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class NotebookCanvas:
    """A ``NotebookCanvas`` shows rows in one output of a notebook cell, and updates this output in
    place."""

    def __init__(self) -> None:
        # IPython is imported by name, because it is not a dependency of the package; every notebook has
        # it.
        self._display: Any = import_module("IPython.display").display
        self._handle: Any = None
        self._shown = ""
        self._rows: Sequence[Row] = ()
        self._kept: list[Row] = []

    def draw(self, rows: Sequence[Row]) -> None:
        """Shows the rows, below those given to ``keep``."""
        self._rows = rows
        self._show((*self._kept, *rows), waiting=not rows)

    def keep(self, row: Row) -> None:
        """Keeps the row visible, above the rows of all later drawings."""
        self._kept.append(row)

    def close(self) -> None:
        """Removes all rows except those given to ``keep``."""
        if self._handle is not None or self._kept:
            self._show(self._kept, waiting=False)

    def _show(self, rows: Sequence[Row], *, waiting: bool) -> None:
        html = bars_as_html(rows, waiting=waiting)
        if html == self._shown:
            return
        self._shown = html
        # Front ends that cannot show HTML show this text instead.
        text = "\n".join([*(row.line() for row in rows), *[WAITING] * waiting])
        bundle = {"text/html": html, "text/plain": text}
        if self._handle is None:
            self._handle = self._display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


def bars_as_html(rows: Sequence[Row], *, waiting: bool = False) -> str:
    """Returns one HTML element with the newest rows. If there are too many rows, the element begins with
    the number of rows that it leaves out. ``waiting``: True if the element also says that the explanation
    waits for a probe."""
    hidden = len(rows) - _MOST_ROWS
    shown = [_note(f"{hidden} earlier")] if hidden > 0 else []
    shown += [_row(row) for row in rows[-_MOST_ROWS:]]
    if waiting:
        shown.append(_note(WAITING))
    return f'<div style="{_FRAME}">{"".join(shown)}</div>'


def _row(row: Row) -> str:
    report, headline = row.report, row.headline()
    colour = _DONE if report.done and report.probes == report.needed else _UNDER_WAY
    figures = " · ".join([f"<strong>{escape(headline)}</strong>", *map(_part, row.parts())])
    return (
        '<div style="margin:.3em 0">'
        '<div role="progressbar" aria-label="probes" aria-valuemin="0"'
        f' aria-valuenow="{report.probes:d}" aria-valuemax="{max(report.needed, 1):d}"'
        f' aria-valuetext="{escape(headline)}" style="{_TRACK}">'
        f'<div style="height:100%;width:{row.share:.1%};background:{colour}"></div></div>'
        f"<div>{figures}</div></div>"
    )


def _part(part: WordedPart) -> str:
    style = _STYLES.get(part.tone)
    return f'<span style="{style}">{escape(part.text)}</span>' if style else escape(part.text)


def _note(text: str) -> str:
    return f'<div style="opacity:.75">{escape(text)}</div>'
