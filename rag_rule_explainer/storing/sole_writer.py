"""This module decides, by a lock, whether this process uses the database alone or together with others.

A *claim* is the right to make an answer. A claim is written to the database so that other processes see
it and do not make the same answer. A process that uses the database alone need not write its claims,
which saves time.

1. A process has a lock while it works: an exclusive lock if it is alone, else a shared lock. When it
begins, it tries once to get the exclusive lock. If this fails, it requests a shared lock until it gets
one.

2. A process that is alone checks several times a second whether another process requests a lock. If so,
it stops granting claims in memory only, and writes a claim for each answer that it is making. Only then
does it give up its lock, and requests a shared lock itself.

So whenever several processes work, each answer that is being made has a claim in the database. If a
process is killed, the system ends its lock, and other processes make its unfinished answers.
"""

import time
from collections.abc import Callable
from math import inf
from typing import Literal, TypeAlias

from .file_lock import Presence
from .rows import Wish
from .single_flight import Flights

Claimed: TypeAlias = Callable[[list[Wish]], object]
"""A function that gets claims (rights to make an answer) of this process, writes them to the database and
commits them."""

LOOK = 0.25
"""The seconds between two checks for a process that requests a lock."""
PATIENCE = 30.0
"""The maximum number of seconds to wait until a process that uses the database alone gives up its lock. A
process that needs longer is probably stopped or hangs, so work then begins without a lock."""
_IDLE = 2.0
"""The seconds without work after which a process gives its lock back, so that others need not wait."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05


class Stay:
    """A ``Stay`` knows how this process uses the database: not at all ("away"), "alone", or "among"
    others.

    ``presence``: the lock; None if there is no such lock, and then no process is regarded as alone.
    ``flights``: the answers that this process is making. ``claimed``: writes claims (rights to make an
    answer) to the database. ``due``: the time, by ``time.monotonic``, at which ``look`` must next be
    called.
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
        """Takes the lock that shows which processes use the database, if this process does not have it.
        Must be called before each work with the database.

        Another process that has the database for itself keeps its claims (rights to make an answer) in
        memory. This method then waits until that process has written its claims to the database and given
        up its lock.
        """
        if self._presence is None or self._where != "away":
            return
        if self._presence.try_alone():
            self._where, self._flights.alone = "alone", True
        else:
            self._join(self._presence)
        self.worked()

    def worked(self) -> None:
        """Records that this process uses the database now, so that it keeps its lock for a while."""
        if self._presence is not None:
            self._worked = time.monotonic()
            self.due = min(self.due, self._worked + LOOK)

    def look(self, now: float) -> None:
        """Answers the requests of other processes for a lock: if this process is alone and another one
        requests a lock, writes its claims (rights to make an answer) to the database and takes a shared
        lock. After some time without work, gives the lock back. Must be called whenever it is ``due``.
        ``now``: the time by ``time.monotonic``.

        Raises OSError and the errors of ``claimed``; the next call then tries again.
        """
        if self._presence is None or self._where == "away":
            self.due = inf
            return
        self.due = now + LOOK
        if self._where == "among" and not self._locked:
            self._locked = self._presence.try_among()
        if self._where == "alone" and self._presence.is_asked_for():
            # The claims are committed before the lock is given up, so that the other process finds a
            # claim for each answer that this process is making.
            wishes = self._flights.closed()
            if wishes:
                self._claimed(wishes)
                self._flights.claimed(wishes, time.monotonic())
            self.leave()
            self._join(self._presence)
        elif now > self._worked + _IDLE and self._flights.are_over:
            # There was no work for a while, so the lock is given back. The next process that begins can
            # then use the database alone, and does not have to wait.
            self._leave_unless_granted()

    def leave(self) -> None:
        """Gives the lock back. Before that, the caller must make sure that each answer that this process
        is making has a claim (the right to make an answer) in the database."""
        if self._presence is not None:
            self._presence.leave()
        self._where = "away"

    def _leave_unless_granted(self) -> None:
        # If a claim was granted in memory after ``are_over`` was checked, this process keeps its lock,
        # because other processes cannot see that claim.
        if self._flights.closed():
            self._flights.alone = self._where == "alone"
        else:
            self.leave()

    def _join(self, presence: Presence) -> None:
        until, pause = time.monotonic() + PATIENCE, _SHORTEST_PAUSE
        while not (locked := presence.try_among()) and time.monotonic() < until:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        # If this process got no lock within ``PATIENCE`` seconds, it works without one, and each ``look``
        # requests the lock again.
        self._where, self._locked = "among", locked
