"""This module defines the progress reports of an explanation."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """A ``ProgressReport`` holds the progress of one explanation and what it has spent so far.

    ``probes``: the distinct arrangements of kept sources that were judged. ``needed``: the probes known
    to be needed so far, including ``probes``; it may grow up to ``upper_bound``. ``replays``: the runs of
    the application, including ``retries``. ``failures``: the replays that failed after all retries.
    ``reused``: the answers taken from memory. ``stored``: the answers taken from the store. ``tokens``:
    the tokens of replays and judge. ``cost``: the price of the tokens; None if prices are unknown.
    ``seconds``: the time since the call began. ``call``: a number that all reports of one call share, and
    that is unique in the process. ``done``: True only in the last report of a call; if ``needed`` is
    larger than ``probes`` then, the search was stopped early. ``interrupted``: True after Ctrl-C: no
    further replay begins, and those in flight are waited for.
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

    @property
    def replays_per_second(self) -> float:
        """Returns the average number of replays per second since the call began."""
        return self.replays / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Returns the estimated seconds until all needed probes are done; None before the first probe."""
        pace = self.probes / self.seconds if self.seconds > 0 else 0.0
        return (self.needed - self.probes) / pace if pace else None


class Progress(Protocol):
    """A ``Progress`` is a function that is called with a report after every probe, after Ctrl-C, and at
    the end.

    The last report has ``done=True``, even if the search failed or was stopped. The calls block the
    explanation's event loop, so they must return soon. After a call raises, no more calls are made.
    """

    def __call__(self, report: ProgressReport, /) -> None:
        """Receives one report."""
        ...
