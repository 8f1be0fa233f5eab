"""This module draws the rows of a progress bar in a thread of its own."""

import threading
from collections.abc import Sequence
from contextvars import copy_context
from typing import Protocol

from .wording import Row


class Canvas(Protocol):
    """A ``Canvas`` is a place where rows are drawn. Several threads call it, but never two at once."""

    def draw(self, rows: Sequence[Row]) -> None:
        """Shows the rows in place of those that it showed before."""
        ...

    def keep(self, row: Row) -> None:
        """Shows the last row of a call; later drawings and ``close`` leave it visible."""
        ...

    def close(self) -> None:
        """Removes every row that was not kept. It can be called after an error as well."""
        ...


class Animated:
    """This class draws the newest rows every ``seconds``, also when no new rows arrive.

    Only ``finish`` waits for a drawing. An error while drawing is raised by the next ``tell``.
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
        # In a notebook, the context determines in which cell the output appears.
        context = copy_context()
        self._thread = threading.Thread(
            target=lambda: context.run(self._draw_on), name="rag-rule-progress", daemon=True
        )

    def start(self) -> None:
        """Starts the thread that draws."""
        self._thread.start()

    def tell(self, row: Row) -> None:
        """Keeps the row for the next drawing. Raises the error of the last drawing, if it failed."""
        if self._error is not None:
            raise self._error
        with self._touching:
            self._rows[row.report.call] = row

    def finish(self, row: Row) -> None:
        """Shows the last row of a call permanently, or removes it if ``keep`` is False."""
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
