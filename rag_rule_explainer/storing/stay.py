"""How the writer's thread comes to a database, stays there alone or among others, and leaves."""

import time
from collections.abc import Callable
from typing import Literal, TypeAlias

from sqlalchemy import Connection

from .flights import Flights
from .presence import Presence
from .rows import Wish

Claimed: TypeAlias = Callable[[list[Wish]], object]
"""Commits claims to answers that are being made already, and returns then."""

LOOK = 0.25
"""Seconds after which who is there looks for newcomers again."""
PATIENCE = 30.0
"""Seconds for which a newcomer waits for who is alone, and must be dead or worse after that long."""
_IDLE = 2.0
"""Seconds after which who makes nothing leaves."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05


class Stay:
    """Where this process is: away, alone, or among others. While it is away, it does nothing there."""

    def __init__(self, presence: Presence, flights: Flights) -> None:
        self._presence = presence
        self._flights = flights
        self._where: Literal["away", "alone", "among"] = "away"
        self._locked = False
        self._worked = time.monotonic()

    @property
    def is_away(self) -> bool:
        """True iff nothing may be done before it begins again."""
        return self._where == "away"

    def begin(self, connection: Connection, claimed: Claimed) -> None:
        """Comes in, alone where nobody is there; waits until who was alone has made its claims."""
        if self._presence.try_alone(connection):
            self._where, self._locked, self._flights.alone = "alone", True, True
        else:
            self._join(connection)
            # Granted while it was alone at a connection that broke since.
            self._claim(claimed)
        self.worked()

    def worked(self) -> None:
        """Says that there was something to do."""
        self._worked = time.monotonic()

    def look(self, connection: Connection, claimed: Claimed) -> None:
        """Makes room for a newcomer. Where that fails, it waits, and the next look tries again."""
        if self._where == "alone" and self._presence.is_asked_for(connection):
            # In this order: who comes in is to find a claim to everything that is being made.
            self._claim(claimed)
            self.leave(connection)
            self._join(connection)
        elif self._where == "among" and not self._locked:
            self._locked = self._presence.try_among(connection)

    def leave_if_idle(self, connection: Connection) -> None:
        """Leaves where nothing was done for a while: the next one to come may be alone."""
        if self._where == "away" or not self._flights.are_over:
            return
        if time.monotonic() < self._worked + _IDLE:
            return
        if self._flights.closed():  # something was granted just now
            self._flights.alone = self._where == "alone"
        else:
            self.leave(connection)

    def leave(self, connection: Connection) -> None:
        """Gives the lock back. What is being made has claims, or is nobody's any more."""
        self._presence.leave(connection)
        self._where = "away"

    def interrupted(self) -> None:
        """The connection is gone, and the lock with it where it was the connection's."""
        if self._presence.lost():
            self._flights.closed()
            self._where = "away"

    def _claim(self, claimed: Claimed) -> None:
        wishes = self._flights.closed()
        if wishes:
            claimed(wishes)
            self._flights.claimed(wishes, time.monotonic())

    def _join(self, connection: Connection) -> None:
        until, pause = time.monotonic() + PATIENCE, _SHORTEST_PAUSE
        while not (locked := self._presence.try_among(connection)) and time.monotonic() < until:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        # Without a lock, it is asked for again at every look.
        self._where, self._locked = "among", locked
