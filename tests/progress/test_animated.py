import contextvars
import threading
from collections.abc import Sequence

import pytest

from rag_rule_explainer.progress.animated import Animated
from rag_rule_explainer.progress.wording import Row
from tests.progress.reports import RecordingCanvas, told

pytestmark = pytest.mark.waits

NEVER = 3600.0


def drawn_from(canvas: RecordingCanvas, seconds: float, *, keep: bool = True) -> Animated:
    shown = Animated(canvas, seconds, keep=keep)
    shown.start()
    return shown


def test_ten_thousand_reports_are_drawn_twice_at_most() -> None:
    canvas = RecordingCanvas()
    shown = drawn_from(canvas, NEVER)
    for probes in range(10_000):
        shown.show(Row(told(probes)))
    shown.finish(Row(told(10_000, done=True)))
    shown.close()
    assert len(canvas.drawn) <= 1
    assert [row.report.probes for row in canvas.kept] == [10_000]
    assert canvas.closed == 1


def test_the_newest_is_drawn_though_nothing_follows_it() -> None:
    canvas = RecordingCanvas()
    shown = drawn_from(canvas, 0.001)
    for probes in range(100):
        shown.show(Row(told(probes)))
    canvas.wait_for(probes=99)
    shown.close()


def test_nothing_is_drawn_once_it_is_closed() -> None:
    canvas = RecordingCanvas()
    shown = drawn_from(canvas, 0.001)
    shown.show(Row(told(1)))
    canvas.wait_for(probes=1)
    shown.close()
    drawn = len(canvas.drawn)
    shown.show(Row(told(2)))
    assert len(canvas.drawn) == drawn
    assert "rag-rule-progress" not in {thread.name for thread in threading.enumerate()}


def test_it_is_drawn_in_the_context_that_it_was_asked_for_in() -> None:
    cell = contextvars.ContextVar("cell", default="none")
    seen: list[str] = []

    class Canvas(RecordingCanvas):
        def draw(self, rows: Sequence[Row]) -> None:
            seen.append(cell.get())
            super().draw(rows)

    canvas = Canvas()
    token = cell.set("this")
    try:
        shown = drawn_from(canvas, NEVER)
    finally:
        cell.reset(token)
    with canvas.changed:
        assert canvas.changed.wait_for(lambda: canvas.drawn, timeout=120)
    shown.close()
    assert seen == ["this"]


def test_what_is_not_kept_is_gone() -> None:
    canvas = RecordingCanvas()
    shown = drawn_from(canvas, NEVER, keep=False)
    shown.show(Row(told(1)))
    shown.finish(Row(told(2, done=True)))
    shown.close()
    assert canvas.kept == []


def test_each_call_has_its_row_until_it_is_finished() -> None:
    canvas = RecordingCanvas()
    shown = drawn_from(canvas, 0.001)
    shown.show(Row(told(1, call=1)))
    shown.show(Row(told(2, call=2)))
    shown.finish(Row(told(3, call=1, done=True)))
    shown.show(Row(told(4, call=2)))
    canvas.wait_for(probes=4)
    shown.close()
    assert [row.report.call for row in canvas.drawn[-1]] == [2]


def test_what_goes_wrong_while_drawing_is_raised_where_it_is_told() -> None:
    canvas = RecordingCanvas(failing_from=1)
    shown = drawn_from(canvas, NEVER)
    for thread in threading.enumerate():
        if thread.name == "rag-rule-progress":  # it ends with the error
            thread.join(timeout=120)
    with pytest.raises(BrokenPipeError):
        shown.show(Row(told(1)))
    with pytest.raises(BrokenPipeError):
        shown.finish(Row(told(1, done=True)))
    shown.close()
    assert canvas.closed == 1
