"""This module defines the progress reports of an explanation."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """A ``ProgressReport`` holds the progress of one explanation and what it has spent so far.

    ``probes``: the number of subsets of the sources (with their order) whose answer was judged.
    ``needed``: the number of probes known to be needed so far, including ``probes``; it may grow, at most
    to ``upper_bound``. ``replays``: the runs of the application, including ``retries``. ``failures``: the
    replays that failed after all retries. ``reused``: the answers taken from memory, because an earlier
    replay of this call gave them. ``stored``: the answers taken from the store.

    ``tokens``: the tokens of replays and judge. ``cost``: the price of the tokens; None if prices are
    unknown. ``seconds``: the time since the call for the explanation.

    ``call``: the number of this call. All reports of this call have the same number, and no other call in
    this process has it. ``done``: True only in the last report of a call. If ``needed`` is then larger
    than ``probes``, the search was stopped early. ``interrupted``: True after Ctrl-C. No further replay
    begins then, but the running ones are awaited. ``unit``: the name of what ``probes``, ``needed`` and
    ``upper_bound`` count: "probes", or "questions" in the reports of an audit.
    """

    probes: int
    needed: int
    upper_bound: int
    replays: int
    failures: int = 0
    retries: int = 0
    reused: int = 0
    stored: int = 0
    tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    call: int = 0
    done: bool = False
    interrupted: bool = False
    unit: str = "probes"

    @property
    def replays_per_second(self) -> float:
        """Returns the average number of replays per second since the call began."""
        return self.replays / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Returns the estimated seconds until all probes that are known to be needed are done; None
        before the first probe."""
        pace = self.probes / self.seconds if self.seconds > 0 else 0.0
        return (self.needed - self.probes) / pace if pace else None


class Progress(Protocol):
    """A ``Progress`` is a function that gets a report after every probe of an explanation, after Ctrl-C,
    and at the end.

    The last report has ``done=True``, even if the search failed or was stopped. The function must return
    soon, because it blocks the explanation's event loop. If it raises an error, it is not called again.
    """

    def __call__(self, report: ProgressReport, /) -> None:
        """Receives one report."""
        ...
