"""How an explanation tells how far it is."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """Distinct arrangements judged so far, of at most ``upper_bound``; replays; replays that failed."""

    probes: int
    upper_bound: int
    replays: int
    failures: int


class Progress(Protocol):
    """Is told after every probe; called on the explanation's event loop, so it must return soon."""

    def __call__(self, report: ProgressReport, /) -> None:
        """Takes in one report."""
        ...


def together(first: Progress | None, second: Progress | None) -> Progress | None:
    """Both told, where there are two."""
    if first is None or second is None:
        return first or second

    def both(report: ProgressReport) -> None:
        first(report)
        second(report)

    return both
