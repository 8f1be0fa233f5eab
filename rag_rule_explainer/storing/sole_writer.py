"""How the writer's thread comes to a database, stays there alone or among others, and leaves.

Who is alone at a database needs no claims that others can see:

1. Whoever works on it holds a lock on being there: an exclusive one (alone), or a shared one (among
   others). A newcomer tries the exclusive one once, then asks for a shared one until it is given.
2. Who is alone looks for newcomers a few times a second. Where there is one, it grants nothing any more
   that is not a claim in the database, commits a claim for everything it has granted so far, and only
   then gives up its lock; it comes back as a newcomer itself.

So nobody works beside answers in the making that have no claim. Locks die with their processes: of one
that is killed before its claims are committed, nothing is in the making either.
"""

import time
from collections.abc import Callable
from math import inf
from typing import Literal, TypeAlias

from .file_lock import Presence
from .rows import Wish
from .single_flight import Flights

Claimed: TypeAlias = Callable[[list[Wish]], object]
"""Commits claims to answers that are being made already, and returns then."""

LOOK = 0.25
"""Seconds after which who is there looks for newcomers again."""
PATIENCE = 30.0
"""Seconds for which a newcomer waits for who is alone, and must be stopped or worse after that long."""
_IDLE = 2.0
"""Seconds after which who makes nothing leaves."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05


class Stay:
    """Where this process is: away, alone, or among others. While it is away, it does nothing there.

    ``presence``: None where it is always among others. ``due``: when to look, by the writer's clock.
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
        """Comes in, if it is away: alone where nobody is there, else once who was has made its claims."""
        if self._presence is None or self._where != "away":
            return
        if self._presence.try_alone():
            self._where, self._flights.alone = "alone", True
        else:
            self._join(self._presence)
        self.worked()

    def worked(self) -> None:
        """Says that there was something to do."""
        if self._presence is not None:
            self._worked = time.monotonic()
            self.due = min(self.due, self._worked + LOOK)

    def look(self, now: float) -> None:
        """Makes room for a newcomer, or leaves where nothing was done for a while.

        Raises what ``claimed`` raises, and OSError; then the next look tries again.
        """
        if self._presence is None or self._where == "away":
            self.due = inf
            return
        self.due = now + LOOK
        if self._where == "among" and not self._locked:
            self._locked = self._presence.try_among()
        if self._where == "alone" and self._presence.is_asked_for():
            # In this order: who comes in is to find a claim to everything that is being made.
            wishes = self._flights.closed()
            if wishes:
                self._claimed(wishes)
                self._flights.claimed(wishes, time.monotonic())
            self.leave()
            self._join(self._presence)
        elif now > self._worked + _IDLE and self._flights.are_over:
            # So that the next one to come may be alone, and waits for nobody.
            self._leave_unless_granted()

    def leave(self) -> None:
        """Gives the lock back. What is being made has claims, or is nobody's any more."""
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
        # Without a lock, it is asked for again at every look.
        self._where, self._locked = "among", locked
