"""This module knows which runs of each application are active, in all explanations together."""

import asyncio
import threading
import time
from collections.abc import Generator
from weakref import WeakKeyDictionary, WeakValueDictionary

import anyio

LONGEST_WAIT = 30.0
"""The largest number of seconds to wait for other runs to end."""


class Turns:
    """This class coordinates the runs of one application, in all explanations of it together. Each
    explanation has a ``OneAtATime`` object, which is called the *owner* of its runs. During an
    *exclusive* run, no other run may be active.

    A baseline may be the call of a user, who waits for the answer. So a baseline waits only for an
    exclusive run of another owner that has begun, because the application has an earlier state during
    that run. A baseline does not wait for an exclusive run that has not begun yet.

    ``lock``: a run in a thread holds this lock while no other run may be active.
    """

    def __init__(self, application: object) -> None:
        self._application = application  # kept alive, so that no new object gets its ``id()``
        self.lock = threading.RLock()
        self._counting = threading.Lock()
        self._active = self._waiting = 0
        self._exclusive: object | None = None
        self._is_under_way = False
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, anyio.Lock] = WeakKeyDictionary()

    def beginning(self, owner: object, *, may_block: bool = True) -> Generator[None, None, None]:
        """Registers a baseline of ``owner`` that begins. Yields whenever the baseline has to wait a
        moment for an exclusive run. No further exclusive run begins before the baseline.

        ``may_block``: False if the baseline must not wait. If the baseline has waited ``LONGEST_WAIT``
        seconds, it begins anyway.
        """
        until = time.monotonic() + (LONGEST_WAIT if may_block else 0)
        with self._counting:
            self._waiting += 1
        try:
            while self._is_others(owner) and time.monotonic() < until:
                yield
            with self._counting:
                self._active += 1
        finally:
            with self._counting:
                self._waiting -= 1

    def _is_others(self, owner: object) -> bool:
        with self._counting:
            return self._is_under_way and self._exclusive is not owner

    def enter(self, owner: object) -> bool:
        """Registers a replay of ``owner`` that begins, and returns True. Returns False if the replay has
        to wait for an exclusive run of a different owner."""
        with self._counting:
            if self._exclusive is not None and self._exclusive is not owner:
                return False
            self._active += 1
            return True

    def leave(self) -> None:
        """Registers that a run has ended."""
        with self._counting:
            self._active -= 1

    def claim(self, owner: object) -> bool:
        """Claims the next exclusive run for ``owner``, unless another owner has claimed it. After a
        claim, replays of other owners cannot begin until ``release``. Returns True iff ``owner`` has the
        claim and no run is active, so that it may begin its exclusive run now."""
        with self._counting:
            if self._exclusive is None:
                self._exclusive = owner
            may_begin = self._exclusive is owner and not (self._active or self._waiting)
            self._is_under_way = self._is_under_way or may_begin
            return may_begin

    def release(self, owner: object) -> None:
        """Ends the claim of ``owner``, so that runs of other owners can begin again. Has no effect if
        ``owner`` has no claim."""
        with self._counting:
            if self._exclusive is owner:
                self._exclusive, self._is_under_way = None, False

    def on_loop(self) -> anyio.Lock:
        """Returns the lock that a run on the current event loop holds while no other run on this loop may
        be active."""
        return self._by_loop.setdefault(asyncio.get_running_loop(), anyio.Lock())


_turns: WeakValueDictionary[int, Turns] = WeakValueDictionary()
_guard = threading.Lock()


def turns_of(application: object) -> Turns:
    """Returns the ``Turns`` of an application, which all explanations of it share."""
    with _guard:
        known = _turns.get(id(application))
        if known is None:
            known = _turns[id(application)] = Turns(application)
        return known
