"""This module draws the rows of a progress bar in a separate thread, so that explanations do not wait for
the drawing."""

import threading
from collections.abc import Sequence
from contextvars import copy_context
from typing import Protocol

from .wording import Row


class Canvas(Protocol):
    """A ``Canvas`` is a place where the rows of a progress bar are drawn, such as a terminal. Several
    threads use it, but never two at the same time."""

    def draw(self, rows: Sequence[Row]) -> None:
        """Shows these rows instead of the rows of the previous call."""
        ...

    def keep(self, row: Row) -> None:
        """Shows the last row of an explanation, which stays visible after later drawings and after
        ``close``."""
        ...

    def close(self) -> None:
        """Removes all rows except those given to ``keep``. This method can also be called after an
        error."""
        ...


class Animated:
    """An ``Animated`` draws the newest rows on a canvas every ``seconds`` seconds, even if no new rows
    arrive. ``keep``: whether the last row of an explanation stays visible.

    Only ``finish`` and ``close`` wait for a drawing. If a drawing raises an error, the next ``show`` or
    ``finish`` raises it.
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
        # In a notebook, the context variables determine in which cell the output appears, so the thread
        # gets a copy of them.
        context = copy_context()
        self._thread = threading.Thread(
            target=lambda: context.run(self._draw_on), name="rag-rule-progress", daemon=True
        )

    def start(self) -> None:
        """Starts the thread that draws."""
        self._thread.start()

    def show(self, row: Row) -> None:
        """Takes the row for the next drawing. Raises the error of a drawing that failed."""
        if self._error is not None:
            raise self._error
        with self._touching:
            self._rows[row.report.call] = row

    def finish(self, row: Row) -> None:
        """Takes the last row of an explanation. If ``keep`` is True, draws the row at once, and it stays
        visible. Otherwise the next drawing leaves the row out. Raises the error of a drawing that
        failed."""
        with self._touching:
            self._rows.pop(row.report.call, None)
        if self._error is not None:
            raise self._error
        if self._keep:
            with self._drawing:
                self._canvas.keep(row)

    def close(self) -> None:
        """Stops drawing, closes the canvas and waits for the thread to end."""
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
