"""This module decides, by a lock, whether this process uses the database alone or together with others.

A *claim* is the right to make an answer. Other processes must see the claim in the database, so that they
do not make the same answer. A process that uses the database alone need not write its claims, which saves
time.

1. A process has a lock while it works: an exclusive lock if it is alone, else a shared lock. A process
that begins tries once to get the exclusive lock. After that it requests a shared lock until it gets one.
2. A process that is alone checks several times a second whether another process requests a lock. If so,
it stops granting claims in memory only. It commits a claim for each answer that it is making, and only
then gives up its lock. It then requests a shared lock itself.

While several processes work, each answer that is being made therefore has a claim in the database. If a
process is killed, its lock ends, and the answers that it was making are lost.
"""

import time
from collections.abc import Callable
from math import inf
from typing import Literal, TypeAlias

from .file_lock import Presence
from .rows import Wish
from .single_flight import Flights

Claimed: TypeAlias = Callable[[list[Wish]], object]
"""A function that commits claims for the answers that this process is making."""

LOOK = 0.25
"""The seconds between two checks whether another process requests a lock."""
PATIENCE = 30.0
"""The seconds to wait until a process that uses the database alone gives up its lock. A process that
takes longer is probably stopped or hangs, so work begins without a lock."""
_IDLE = 2.0
"""The seconds without work after which a process gives its lock back."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05


class Stay:
    """A ``Stay`` knows how this process uses the database: not at all ("away"), "alone", or "among"
    others.

    ``presence``: the lock; None if there is no such lock. Without a lock, no process counts as alone.
    ``claimed``: commits claims to the database. ``due``: the time of the next ``look``, by
    ``time.monotonic``.
    """

    def __init__(self, presence: Presence | None, flights: Flights, claimed: Claimed) -> None:
        self._presence = presence
        self._flights = flights
        self._claimed = claimed
        self._where: Literal["away", "alone", "among"] = "away"
        self._locked = False
        self._worked = 0.0
        self.due = inf

    def begin(self) -> None:
        """Takes a lock before work with the database, if this process has none. If another process
        uses the database alone, waits until that process has committed its claims."""
        if self._presence is None or self._where != "away":
            return
        if self._presence.try_alone():
            self._where, self._flights.alone = "alone", True
        else:
            self._join(self._presence)
        self.worked()

    def worked(self) -> None:
        """Notes that this process is using the database now."""
        if self._presence is not None:
            self._worked = time.monotonic()
            self.due = min(self.due, self._worked + LOOK)

    def look(self, now: float) -> None:
        """Must be called regularly. If another process requests a lock while this process is alone,
        commits the claims and shares the database with the other process. Gives the lock back after some
        time without work.

        Raises OSError and the errors of ``claimed``; the next call then tries again.
        """
        if self._presence is None or self._where == "away":
            self.due = inf
            return
        self.due = now + LOOK
        if self._where == "among" and not self._locked:
            self._locked = self._presence.try_among()
        if self._where == "alone" and self._presence.is_asked_for():
            # The claims are committed before the lock is given up. The other process then finds a claim
            # for each answer that this process is making.
            wishes = self._flights.closed()
            if wishes:
                self._claimed(wishes)
                self._flights.claimed(wishes, time.monotonic())
            self.leave()
            self._join(self._presence)
        elif now > self._worked + _IDLE and self._flights.are_over:
            # Without this lock, the next process that begins may be alone and does not have to wait.
            self._leave_unless_granted()

    def leave(self) -> None:
        """Gives the lock back. The caller must first make sure that each answer that is being made has
        a claim in the database."""
        if self._presence is not None:
            self._presence.leave()
        self._where = "away"

    def _leave_unless_granted(self) -> None:
        # A claim was granted in memory since the check, so this process keeps its lock.
        if self._flights.closed():
            self._flights.alone = self._where == "alone"
        else:
            self.leave()

    def _join(self, presence: Presence) -> None:
        until, pause = time.monotonic() + PATIENCE, _SHORTEST_PAUSE
        while not (locked := presence.try_among()) and time.monotonic() < until:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        # If the wait was in vain, work begins without a lock, and each ``look`` requests the lock again.
        self._where, self._locked = "among", locked
