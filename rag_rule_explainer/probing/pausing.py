"""This module stops replays: after a stop, none begins, and the pauses before retries end."""

import asyncio
from collections.abc import Callable

import anyio

from .budget import Budget
from .limits import LimitReached


class Stopper:
    """A Stopper decides whether more replays may begin. It belongs to one event loop. ``reason``: why it
    was stopped for the first time; empty before that."""

    def __init__(self, budget: Budget) -> None:
        self.reason = ""
        self._budget = budget
        self._stopped = asyncio.Event()
        self._followers: list[Callable[[str], object]] = []

    def stop(self, reason: str) -> None:
        """Forbids that any further replay or retry begins, ends the current pauses, and tells the
        followers."""
        self.reason = self.reason or reason
        self._stopped.set()
        for follower in self._followers:
            follower(reason)

    def follow(self, follower: Callable[[str], object]) -> None:
        """Calls ``follower`` with the reason at every stop from now on. If there was a stop before, also
        calls it at once."""
        self._followers.append(follower)
        if self.reason:
            follower(self.reason)

    def check(self) -> None:
        """Raises LimitReached after a stop."""
        if self.reason:
            raise LimitReached(self.reason)

    async def pause(self, seconds: float) -> None:
        """Waits before a retry: for ``seconds``, but not beyond the time limit of the budget. Ends at
        once and raises LimitReached if there is a stop during the wait."""
        limit = self._budget.limits.seconds
        if limit is not None:
            seconds = min(seconds, max(0.0, limit - self._budget.seconds))
        with anyio.move_on_after(seconds):
            await self._stopped.wait()
        self.check()
