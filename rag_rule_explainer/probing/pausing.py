"""This module stops a search's replays, and ends the pauses before retries at a stop."""

import asyncio
from collections.abc import Callable

import anyio

from .budget import Budget
from .limits import LimitReached


class Stopper:
    """A Stopper says whether more replays may begin. For one event loop. ``reason``: the reason of the
    first stop, in words; empty before any stop."""

    def __init__(self, budget: Budget) -> None:
        self.reason = ""
        self._budget = budget
        self._stopped = asyncio.Event()
        self._followers: list[Callable[[str], object]] = []

    def stop(self, reason: str) -> None:
        """Stops: no replay or retry may begin any more."""
        self.reason = self.reason or reason
        self._stopped.set()
        for follower in self._followers:
            follower(reason)

    def follow(self, follower: Callable[[str], object]) -> None:
        """Calls ``follower`` with the reason of every later stop, and of an earlier one if there was
        one."""
        self._followers.append(follower)
        if self.reason:
            follower(self.reason)

    def check(self) -> None:
        """Raises LimitReached after a stop."""
        if self.reason:
            raise LimitReached(self.reason)

    async def pause(self, seconds: float) -> None:
        """Waits before a retry: for ``seconds``, but not past the time limit of the budget. Raises
        LimitReached if there is a stop meanwhile."""
        limit = self._budget.limits.seconds
        if limit is not None:
            seconds = min(seconds, max(0.0, limit - self._budget.seconds))
        with anyio.move_on_after(seconds):
            await self._stopped.wait()
        self.check()
