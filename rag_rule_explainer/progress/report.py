"""How an explanation tells how far it is."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """How far an explanation is, and what it has spent.

    ``probes``: distinct arrangements judged. ``needed``: how many are known to be needed so far, those
    included; more may come to be, up to ``upper_bound``. ``replays``: runs of the application, of which
    ``retries``; ``failures``: those that failed for good. ``reused``: answers from memory; ``stored``:
    from the store. ``tokens``: of replays and judge; ``cost``: of these, where prices are known.
    ``seconds``: since the call. ``call``: the same in all reports of one call, and in no other's in this
    process. ``done``: the last of them; what is ``needed`` beyond ``probes`` then was given up.
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

    @property
    def replays_per_second(self) -> float:
        """Since the call."""
        return self.replays / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """For what is known to be needed, at the pace so far; None before there is one."""
        pace = self.probes / self.seconds if self.seconds > 0 else 0.0
        return (self.needed - self.probes) / pace if pace else None


class Progress(Protocol):
    """Is told after every probe, and once more, with ``done``, when probing has ended in whatever way.

    It is called on the explanation's event loop, so it must return soon. One that raises is told no more.
    """

    def __call__(self, report: ProgressReport, /) -> None:
        """Takes in one report."""
        ...
