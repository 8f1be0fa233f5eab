"""This module reports the progress of an audit on a cluster. Only the process that began the audit
reports."""

import asyncio
from collections.abc import Iterable, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

from ...errors import StoreFailed
from ...progress.report import Progress, ProgressReport
from ..metering import SpentTogether
from ..questions import AuditedQuestion
from .ledger import Ledger

SECONDS_BETWEEN_REPORTS = 1.0
"""The number of seconds between two reports."""


@dataclass(slots=True)
class AuditReporter:
    """An ``AuditReporter`` shows in a progress bar how many questions are done, and the spending of all
    workers. ``questions``: all questions that will be asked; only their number is used."""

    progress: Progress | None
    ledger: Ledger
    questions: Iterable[object]
    done: int = 0
    failures: int = 0
    under_way: int = 0
    _began: float = field(default_factory=monotonic)
    _due: float = 0.0
    _before: SpentTogether | None = None
    _spent: SpentTogether = field(default_factory=lambda: SpentTogether(0, 0, 0.0))

    def count(self, question: AuditedQuestion) -> None:
        """Counts a question that has a result."""
        self.done += 1
        self.failures += question.outcome == "failed"

    async def report(self) -> None:
        """Makes a report if a second has passed since the last one."""
        if self.progress is None or monotonic() < self._due:
            return
        with suppress(StoreFailed):  # the next report then shows the spending
            self._spent = await asyncio.to_thread(self.ledger.spent)
        self._before = self._before or self._spent
        self._report(is_over=False)
        self._due = monotonic() + SECONDS_BETWEEN_REPORTS

    def close(self) -> None:
        """Makes the last report."""
        if self.progress is not None and self._before is not None:
            with suppress(StoreFailed):
                self._spent = self.ledger.spent()
            self._report(is_over=True)

    def _report(self, *, is_over: bool) -> None:
        before, spent = self._before or self._spent, self._spent
        known = len(self.questions) if isinstance(self.questions, Sized) else self.done + self.under_way
        needed = self.done if is_over else known
        if self.progress is not None:
            self.progress(
                ProgressReport(
                    probes=self.done,
                    needed=needed,
                    upper_bound=max(known, needed),
                    replays=spent.replays - before.replays,
                    failures=self.failures,
                    tokens=spent.tokens - before.tokens,
                    cost=spent.cost - before.cost or None,
                    seconds=monotonic() - self._began,
                    call=-1,
                    done=is_over,
                    unit="questions",
                )
            )
