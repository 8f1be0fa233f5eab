"""Rows that are drawn now and then by a thread beside the explanation."""

import threading
from collections.abc import Sequence
from contextvars import copy_context
from typing import Protocol

from .wording import Row


class Canvas(Protocol):
    """Where rows are drawn. Called by several threads, but never by two at once."""

    def draw(self, rows: Sequence[Row]) -> None:
        """Shows these, in place of those it showed before."""
        ...

    def keep(self, row: Row) -> None:
        """Shows the last row of a call for good."""
        ...

    def close(self) -> None:
        """Removes what is not kept. Must be possible after an error as well."""
        ...


class Animated:
    """Draws the newest rows at most every ``seconds``, however many are told, and also when none are.

    The explanation never waits for a drawing, but for the last one of a call. What goes wrong while
    drawing is raised by the next ``tell``.
    """

    def __init__(self, canvas: Canvas, seconds: float, *, keep: bool) -> None:
        self._canvas = canvas
        self._seconds = seconds
        self._keep = keep
        self._rows: dict[int, Row] = {}
        self._touching = threading.Lock()
        self._drawing = threading.Lock()
        self._ended = threading.Event()
        self._error: Exception | None = None
        # In a notebook, the context says which cell the drawing belongs to.
        context = copy_context()
        self._thread = threading.Thread(
            target=lambda: context.run(self._draw_on), name="rag-rule-progress", daemon=True
        )

    def start(self) -> None:
        """Draws from here on."""
        self._thread.start()

    def tell(self, row: Row) -> None:
        """Keeps the row for the next drawing. Raises what the last drawing raised."""
        if self._error is not None:
            raise self._error
        with self._touching:
            self._rows[row.report.call] = row

    def finish(self, row: Row) -> None:
        """Shows it for good, or removes it."""
        with self._touching:
            self._rows.pop(row.report.call, None)
        if self._error is not None:
            raise self._error
        if self._keep:
            with self._drawing:
                self._canvas.keep(row)

    def close(self) -> None:
        """Draws nothing more."""
        self._ended.set()
        try:
            with self._drawing:
                self._canvas.close()
        finally:
            if self._thread.is_alive():
                self._thread.join()

    def _draw_on(self) -> None:
        while not self._ended.is_set():
            try:
                self._draw()
            except Exception as error:
                self._error = error
                return
            self._ended.wait(self._seconds)

    def _draw(self) -> None:
        with self._drawing:
            with self._touching:
                rows = tuple(self._rows.values())
            if not self._ended.is_set():
                self._canvas.draw(rows)
