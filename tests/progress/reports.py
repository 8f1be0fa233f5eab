"""Reports to show, and a place that remembers what it was asked to show."""

import threading
from collections.abc import Sequence
from typing import Any

from rag_rule_explainer import ProgressReport
from rag_rule_explainer.progress.wording import Row

HALF_WAY = ProgressReport(probes=137, needed=258, upper_bound=1024, replays=140, seconds=3.4)


def told(probes: int, **more: Any) -> ProgressReport:
    """So many of 1,024 probes, as many replays, a tenth of a second each."""
    fields: dict[str, Any] = {
        "needed": 1024,
        "upper_bound": 1024,
        "replays": probes,
        "seconds": probes / 10,
        **more,
    }
    return ProgressReport(probes, **fields)


class RecordingCanvas:
    """Remembers its drawings; raises in every drawing from ``failing_from`` on."""

    def __init__(self, failing_from: int | None = None) -> None:
        self.failing_from = failing_from
        self.drawn: list[Sequence[Row]] = []
        self.kept: list[Row] = []
        self.closed = 0
        self.changed = threading.Condition()

    def draw(self, rows: Sequence[Row]) -> None:
        with self.changed:
            self.drawn.append(rows)
            self.changed.notify_all()
        if self.failing_from is not None and len(self.drawn) >= self.failing_from:
            raise BrokenPipeError("nobody looks")

    def keep(self, row: Row) -> None:
        self.kept.append(row)

    def close(self) -> None:
        self.closed += 1

    def wait_for(self, probes: int) -> None:
        """Until a row with so many probes was drawn."""
        with self.changed:
            assert self.changed.wait_for(
                lambda: any(row.report.probes == probes for rows in self.drawn for row in rows),
                timeout=120,
            )
