"""When nothing more is to be asked, and the waiting that ends then."""

import asyncio
from collections.abc import Callable

import anyio

from .budget import Budget
from .limits import LimitReached


class Stopper:
    """Knows whether anything more is to be asked. For one event loop.

    ``reason``: why not, in words; the first one that was given, empty while there is none.
    """

    def __init__(self, budget: Budget) -> None:
        self.reason = ""
        self._budget = budget
        self._stopped = asyncio.Event()
        self._followers: list[Callable[[str], object]] = []

    def stop(self, reason: str) -> None:
        """Nothing more is asked, nor tried again."""
        self.reason = self.reason or reason
        self._stopped.set()
        for follower in self._followers:
            follower(reason)

    def follow(self, follower: Callable[[str], object]) -> None:
        """Calls it with the reason of every stop, also of one that there was before."""
        self._followers.append(follower)
        if self.reason:
            follower(self.reason)

    def check(self) -> None:
        """Raises LimitReached after a stop."""
        if self.reason:
            raise LimitReached(self.reason)

    async def pause(self, seconds: float) -> None:
        """Waits before another try: so long, or until the time that the budget allows is up. Raises
        LimitReached where there is a stop meanwhile."""
        limit = self._budget.limits.seconds
        if limit is not None:
            seconds = min(seconds, max(0.0, limit - self._budget.seconds))
        with anyio.move_on_after(seconds):
            await self._stopped.wait()
        self.check()
