"""This module reports the progress of a session to listeners, such as a progress bar."""

from dataclasses import dataclass, field
from itertools import count

from ..probing.budget import Budget
from ..probing.containing import contained
from ..probing.judging import error_text
from ..probing.limits import LimitReached
from ..probing.pausing import Stopper
from ..progress.report import Progress, ProgressReport

_calls = count(1)
"""This counter numbers the calls of ``explain`` in this process, so that listeners can distinguish the
calls."""


@dataclass(slots=True, repr=False)
class ProgressReporter:
    """A ``ProgressReporter`` reports the progress of one session to its listeners. A listener that
    raises an error is not called again; a text in ``notes`` says so.

    ``upper_bound``: the number of all subsets. ``stopper``: stops the session if a listener raises
    KeyboardInterrupt.
    """

    listeners: tuple[Progress, ...]
    budget: Budget
    upper_bound: int
    notes: list[str]
    stopper: Stopper
    _call: int = field(default_factory=lambda: next(_calls))
    _probes: int = 0
    _waiting: int = 0
    _interrupted: bool = False

    def note(self, probes: int, waiting: int) -> None:
        """Stores the numbers for the next report. ``probes``: the number of probes made. ``waiting``: the
        number of subsets that a search has requested and that have no verdict yet."""
        self._probes, self._waiting = probes, waiting

    def report_interrupt(self) -> None:
        """Reports at once that the session was interrupted, since a replay in flight may take long."""
        self._interrupted = True
        self.report()

    def report(self, *, done: bool = False) -> None:
        """Reports the stored progress to every listener. ``done``: True if the session has ended."""
        for listener in self.listeners:
            try:
                with contained():
                    listener(self._report(done))
            except LimitReached as interrupt:
                if not done:  # if the session is done, there is nothing to stop
                    self.stopper.stop(str(interrupt))
            except Exception as error:  # a faulty progress bar must not end a search that was paid for
                self.listeners = tuple(each for each in self.listeners if each is not listener)
                self.notes.append(f"progress was no longer told: {error_text(error)}")

    def _report(self, done: bool) -> ProgressReport:
        budget = self.budget
        return ProgressReport(
            probes=self._probes,
            needed=min(self.upper_bound, self._probes + self._waiting),
            upper_bound=self.upper_bound,
            replays=budget.replays,
            failures=budget.failures,
            retries=budget.retries,
            reused=budget.reused,
            stored=budget.stored,
            tokens=budget.tokens,
            cost=budget.cost,
            seconds=budget.seconds,
            call=self._call,
            done=done,
            interrupted=self._interrupted,
        )
