"""This module lets a process use a database alone or beside others, by a lock that shows its presence.

A process that is alone at a database needs no claims that others can see:

1. A process holds a lock while it works: exclusive if it is alone, or shared beside others. A newcomer
tries the exclusive lock once, then requests a shared one until it gets it. 2. A process that is alone
checks for newcomers several times a second. If there is one, it stops granting claims without the
database, commits a claim for each answer that it makes, and only then gives up its lock. It continues as
a newcomer itself.

So every answer in the making has a claim while several processes work. Locks end with their processes,
and so do the answers that a killed process was making.
"""

import time
from collections.abc import Callable
from math import inf
from typing import Literal, TypeAlias

from .file_lock import Presence
from .rows import Wish
from .single_flight import Flights

Claimed: TypeAlias = Callable[[list[Wish]], object]
"""A function that commits claims to answers that are being made, and then returns."""

LOOK = 0.25
"""The seconds between two checks for newcomers."""
PATIENCE = 30.0
"""The seconds for which a newcomer waits; a process that is alone for longer must be stopped or stuck."""
_IDLE = 2.0
"""The seconds without work after which a process leaves."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05


class Stay:
    """A Stay is the state of this process at the database: away, alone, or among others. Away, it does no
    work.

    ``presence``: None means always among others. ``due``: the time of the next ``look``, by
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
        """Enters if the process is away: alone if no other is there, else once a lone process has
        committed its claims."""
        if self._presence is None or self._where != "away":
            return
        if self._presence.try_alone():
            self._where, self._flights.alone = "alone", True
        else:
            self._join(self._presence)
        self.worked()

    def worked(self) -> None:
        """Records the time of the latest work."""
        if self._presence is not None:
            self._worked = time.monotonic()
            self.due = min(self.due, self._worked + LOOK)

    def look(self, now: float) -> None:
        """Lets a newcomer in, or leaves after some time without work. Raises OSError and the errors of
        ``claimed``; then the next call tries again."""
        if self._presence is None or self._where == "away":
            self.due = inf
            return
        self.due = now + LOOK
        if self._where == "among" and not self._locked:
            self._locked = self._presence.try_among()
        if self._where == "alone" and self._presence.is_asked_for():
            # This order guarantees that a newcomer finds a claim to each answer in the making.
            wishes = self._flights.closed()
            if wishes:
                self._claimed(wishes)
                self._flights.claimed(wishes, time.monotonic())
            self.leave()
            self._join(self._presence)
        elif now > self._worked + _IDLE and self._flights.are_over:
            # After this process has left, the next one may be alone and need not wait.
            self._leave_unless_granted()

    def leave(self) -> None:
        """Gives the lock back. The caller has made sure that all answers in the making have claims."""
        if self._presence is not None:
            self._presence.leave()
        self._where = "away"

    def _leave_unless_granted(self) -> None:
        if self._flights.closed():  # just now
            self._flights.alone = self._where == "alone"
        else:
            self.leave()

    def _join(self, presence: Presence) -> None:
        until, pause = time.monotonic() + PATIENCE, _SHORTEST_PAUSE
        while not (locked := presence.try_among()) and time.monotonic() < until:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        # Without a lock, each look requests it again.
        self._where, self._locked = "among", locked
